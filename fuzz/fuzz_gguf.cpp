// The GGUF reader on any bytes.
#include "check_tensors.h"
#include "format/gguf_file.h"

using laya::format::GgufFile;
using laya::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto file = GgufFile::parse(bytes, "input");
  if (!file) {
    require(file.error().message.starts_with("input: "));
    return 0;
  }
  laya::fuzz::check_tensors(file->tensors(), bytes);
  for (const auto& tensor : file->tensors()) {
    require(file->find_tensor(tensor.name) == &tensor);
  }
  std::size_t sum = 0;  // what is read is used, so that the reading stays
  for (const auto& value : file->metadata()) {
    require(file->find(value.key) == &value && laya::fuzz::is_inside(value.bytes, bytes));
    if (const auto text = file->text(value.key)) sum += std::ranges::count(*text, 'x');
    if (const auto number = file->number(value.key)) sum += *number > 0;
    if (const auto truth = file->boolean(value.key)) sum += *truth;
    if (const auto integer = file->integer(value.key, 1, 1000)) {
      require(*integer >= 1 && *integer <= 1000);
    }
    if (const auto texts = file->texts(value.key)) {
      require(texts->size() == value.count);
      for (const std::string_view text : *texts) sum += std::ranges::count(text, 'x');
    }
    if (const auto integers = file->integers(value.key)) require(integers->size() == value.count);
    if (const auto numbers = file->numbers(value.key)) require(numbers->size() == value.count);
  }
  require(sum <= 2 * size + 64);
  return 0;
}
