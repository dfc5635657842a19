// The `.laya` reader on any bytes: it answers with an error or with a file whose every promise
// holds.
#include <algorithm>
#include <string>

#include "format/metadata.h"
#include "format/model_file.h"
#include "format/sample_model.h"
#include "fuzz_target.h"

using laya::format::EntryKind;
using laya::format::Forgery;
using laya::format::ModelFile;
using laya::format::Verify;
using laya::fuzz::require;

namespace {

void check(const ModelFile& file, std::span<const std::byte> bytes) {
  std::uint64_t sum = 0;
  for (const auto& entry : file.entries()) {
    require(entry.offset % 64 == 0 && entry.offset <= bytes.size() &&
            entry.size <= bytes.size() - entry.offset);
    require(file.find(entry.name) == &entry);
    for (const std::byte byte : file.bytes_of(entry)) {  // reads every byte that was promised
      sum += static_cast<std::uint64_t>(byte);
    }
    if (entry.kind == EntryKind::Tensor) {
      const auto tensor = file.tensor(entry.name);
      require(tensor.has_value() && tensor->data.size() == entry.size);
      require(laya::format::tensor_bytes(tensor->layout).value() == entry.size);
      require(!file.blob(entry.name));
    } else {
      require(file.blob(entry.name).has_value() && !file.tensor(entry.name));
    }
    sum += file.intact(entry) ? 1 : 0;
  }
  require(laya::format::metadata(file).has_value());
  require(sum + 1 != 0 || bytes.empty());  // uses the sum, so that the loop stays
}

void parse(const Forgery& input) {
  for (const Verify verify : {Verify::Structure, Verify::Full}) {
    const auto file = ModelFile::parse(input.bytes(), verify, "input");
    if (file) {
      check(*file, input.bytes());
    } else {
      require(file.error().message.starts_with("input: "));
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Forgery input(std::as_bytes(std::span(data, size)));
  parse(input);
  input.seal();  // past the checksums, to the checks behind them
  parse(input);
  if (size < sizeof(laya::format::FileHeader)) {
    return 0;
  }
  laya::format::FileHeader header = input.header();  // and past the sizes, which most mutations break
  header.file_size = size;
  header.directory_size = size - std::min<std::uint64_t>(header.directory_offset, size);
  input.set_header(header);
  input.seal();
  parse(input);
  return 0;
}
