// The PyTorch reader on any bytes: as the archive, and as the pickle inside a sound archive with
// two storages (past the zip, which most mutations break).
#include <string>

#include "check_tensors.h"
#include "format/pickled_tensors.h"
#include "format/test_checkpoints.h"
#include "format/torch_file.h"

using laya::format::TorchFile;
using laya::fuzz::require;

namespace {

void check(std::span<const std::byte> bytes) {
  const auto file = TorchFile::parse(bytes, "input");
  if (!file) {
    require(file.error().message.starts_with("input: "));
    return;
  }
  std::size_t elements = 0;
  for (const auto& tensor : file->tensors()) {
    require(file->find_tensor(tensor.name) == &tensor);
    elements += tensor.elements();
  }
  if (elements < 1u << 20) {  // tensors may share a storage: many names can mean much reading
    laya::fuzz::check_tensors(file->tensors(), bytes);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  check(bytes);
  const std::pair<std::string, std::string> entries[] = {
      {"a/data.pkl", std::string(reinterpret_cast<const char*>(data), size)},
      {"a/data/0", std::string(24, 'x')},
      {"a/data/1", std::string(8, 'y')},
  };
  const std::string archive = laya::format::zip_bytes(entries);
  check(std::as_bytes(std::span(archive)));
  return 0;
}
