// Reads PyTorch checkpoints (torch.save of a state_dict, zip form: torch ≥ 1.6) without running any
// of the code that a pickle can hold: an interpreter of the few opcodes, and of the few names
// (tensor rebuilding, storages, OrderedDict), that a state_dict needs. Everything else is refused
// with the one-line remedy: convert it to safetensors where it came from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/mapped_file.h"
#include "base/result.h"
#include "format/source_tensor.h"

namespace laya::format {

inline constexpr std::uint64_t kMaxPickleBytes = 16u << 20;

/// An open file. Move-only; moving keeps every view valid. Const members are thread-safe.
class TorchFile {
 public:
  /// Tensors of the dictionary that the file holds; those of dictionaries in it (checkpoints with
  /// "model", "optimizer", …) get the outer key and a dot before their name. Other values (numbers,
  /// texts) are passed over. Errors: Io, TooLarge, Unsupported (the pre-zip form, a compressed or
  /// encrypted entry, another opcode or global, a tensor that is not contiguous; with the remedy),
  /// Corrupt.
  static Result<TorchFile> open(const std::string& path);
  static Result<TorchFile> parse(std::span<const std::byte> bytes, std::string name_for_errors);

  const std::string& path() const { return name_; }
  /// Sorted by name. Two may share bytes (tied weights).
  std::span<const SourceTensor> tensors() const { return tensors_; }
  const SourceTensor* find_tensor(std::string_view name) const;

 private:
  TorchFile() = default;
  Status read(std::span<const std::byte> bytes);

  std::string name_;
  base::MappedFile file_;
  std::vector<SourceTensor> tensors_;
};

}  // namespace laya::format
