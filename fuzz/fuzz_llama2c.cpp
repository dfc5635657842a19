// The reader of llama2.c checkpoints on any bytes.
#include "check_tensors.h"
#include "format/llama2c_file.h"

using laya::format::Llama2cFile;
using laya::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto file = Llama2cFile::parse(bytes, "input");
  if (!file) {
    require(file.error().message.starts_with("input: "));
    return 0;
  }
  laya::fuzz::check_tensors(file->tensors(), bytes);
  const auto& config = file->config();
  const auto* embedding = file->find_tensor("tok_embeddings.weight");
  require(embedding != nullptr && embedding->rows() == config.vocabulary_size &&
          embedding->columns() == config.dim);
  require((file->find_tensor("output.weight") == nullptr) == config.tied_head);
  require(file->tensors().size() == 2 + 9 * std::size_t{config.layers} + !config.tied_head);
  return 0;
}
