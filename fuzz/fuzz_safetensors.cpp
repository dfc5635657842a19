// The safetensors reader on any bytes; and, with the same bytes, the JSON that lies beside such
// files: the index of shards and the quantisation of config.json.
#include <string>
#include <string_view>

#include "check_tensors.h"
#include "format/mlx_tensors.h"
#include "format/safetensors_file.h"

using laya::format::SafetensorsFile;
using laya::format::SourceTensor;
using laya::format::SourceType;
using laya::fuzz::require;

namespace {

/// A triple of 4 bits in groups of 64 and of 8 bits in groups of 32 at once: which, config.json
/// says.
std::vector<SourceTensor> triple(std::span<const std::byte> storage) {
  std::vector<SourceTensor> tensors(3);
  tensors[0] = {"a.biases", SourceType::F16, {1, 4}, storage.first(8), 0, 0, {}, {}, {}};
  tensors[1] = {"a.scales", SourceType::F16, {1, 4}, storage.first(8), 0, 0, {}, {}, {}};
  tensors[2] = {"a.weight", SourceType::U32, {1, 32}, storage, 0, 0, {}, {}, {}};
  return tensors;
}

void try_json(std::string_view text) {
  if (const auto index = laya::format::parse_shard_index(text, "input")) {
    for (const auto& [tensor, file] : *index) {
      require(!file.empty() && file.find('/') == std::string::npos && file != "..");
    }
  } else {
    require(index.error().message.starts_with("input: "));
  }
  const auto is_mlx = laya::format::is_mlx_config(text, "input");
  const std::vector<std::byte> storage(128, std::byte{0x5A});
  const auto joined = laya::format::join_mlx_tensors(triple(storage), text, "input");
  if (joined) {
    laya::fuzz::check_tensors(*joined, storage);
    require(joined->size() == (is_mlx && *is_mlx ? 1u : 3u));
  } else {
    require(joined.error().message.starts_with("input: "));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto file = SafetensorsFile::parse(bytes, "input");
  if (file) {
    laya::fuzz::check_tensors(file->tensors(), bytes);
    for (const auto& tensor : file->tensors()) {
      require(file->find_tensor(tensor.name) == &tensor);
    }
  } else {
    require(file.error().message.starts_with("input: "));
  }
  try_json({reinterpret_cast<const char*>(data), size});
  return 0;
}
