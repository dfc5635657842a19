// What a torch.save pickle says about its tensors, found without running it: a small interpreter of
// the opcodes and names that a state_dict uses. It has no way to call anything. Source: the opcode
// table of Python's pickletools; torch/serialization.py for the persistent ids.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "format/source_tensor.h"

namespace laya::format {

/// One tensor, as described; nothing has been compared with the storage yet.
struct PickledTensor {
  std::string name;  ///< keys of the dictionaries that lead to it, joined by dots
  SourceType type;
  std::string_view storage;        ///< name of its storage ("0", "1", …)
  std::uint64_t storage_elements;  ///< how many the storage is said to hold
  std::uint64_t offset;            ///< of the first element in the storage
  std::vector<std::uint64_t> shape;
  std::vector<std::uint64_t> strides;  ///< as many as dimensions
};

/// Tensors of the dictionary at the top and of dictionaries in it (4 deep), in their order. Views
/// into `bytes`. Errors: Unsupported (an opcode, a name, an argument that no state_dict needs; says
/// at which byte), Corrupt (a broken pickle), TooLarge (more than a state_dict can be).
Result<std::vector<PickledTensor>> read_pickled_tensors(std::span<const std::byte> bytes,
                                                        std::string_view name_for_errors);

}  // namespace laya::format
