// Reads safetensors files, mmapped. Source: the format's description in huggingface/safetensors
// (u64 header size, JSON header, one gapless buffer).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/mapped_file.h"
#include "base/result.h"
#include "format/source_tensor.h"

namespace laya::format {

inline constexpr std::uint64_t kMaxSafetensorsHeaderBytes =
    100'000'000;  ///< the format's own limit

/// An open file. Move-only; moving keeps every view valid. Const members are thread-safe.
class SafetensorsFile {
 public:
  /// Maps and checks `path`: header, every dtype, shape and place; no byte of the buffer may be
  /// claimed twice or by nobody. Errors: Io, TooLarge, Unsupported (a dtype, named), Corrupt.
  static Result<SafetensorsFile> open(const std::string& path);
  /// The same over bytes in memory, which must outlive the object.
  static Result<SafetensorsFile> parse(std::span<const std::byte> bytes,
                                       std::string name_for_errors);

  const std::string& path() const { return name_; }
  /// Sorted by name.
  std::span<const SourceTensor> tensors() const { return tensors_; }
  const SourceTensor* find_tensor(std::string_view name) const;
  /// "__metadata__": text to text.
  const std::map<std::string, std::string>& metadata() const { return metadata_; }

 private:
  SafetensorsFile() = default;
  Status read(std::span<const std::byte> bytes);

  std::string name_;
  base::MappedFile file_;  ///< empty when parse() was given foreign bytes
  std::vector<SourceTensor> tensors_;
  std::map<std::string, std::string> metadata_;
};

/// The shards of a "….index.json" (safetensors or PyTorch): tensor name ▶ file name, a plain name
/// in the same folder. Errors Corrupt: not such JSON, a name with a path in it.
Result<std::map<std::string, std::string>> parse_shard_index(std::string_view json,
                                                             std::string_view name_for_errors);

}  // namespace laya::format
