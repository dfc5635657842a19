// The directory of a zip archive whose entries are stored, not compressed, as torch.save writes it:
// so that each entry is a view into the mapped file. (libzip and minizip give streams, not places:
// every weight would be copied.) Nothing is ever unpacked. Source: PKWARE APPNOTE 6.3,
// sections 4.3.7, 4.3.12 – 4.3.16, 4.5.3 (zip64).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace laya::format {

inline constexpr std::uint64_t kMaxZipEntries = 1u << 20;

struct ZipEntry {
  std::string_view name;
  std::span<const std::byte> data;
};

/// All entries, sorted by name; views into `bytes`. Errors: Unsupported (a compressed or encrypted
/// entry, several disks), Corrupt (no zip, anything that does not fit, a name twice).
Result<std::vector<ZipEntry>> read_stored_zip(std::span<const std::byte> bytes,
                                              std::string_view name_for_errors);

}  // namespace laya::format
