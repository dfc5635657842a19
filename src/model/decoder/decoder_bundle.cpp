#include "model/decoder/decoder_bundle.h"

#include <utility>

#include "format/metadata.h"
#include "format/model_file.h"
#include "model/decoder/decoder_loading.h"

namespace laya::model {
namespace {

constexpr std::string_view kTokenizerBlob = "tokenizer";

}  // namespace

struct DecoderBundle::Parts {
  explicit Parts(format::ModelFile opened) : file(std::move(opened)) {}

  format::ModelFile file;  // first: the others view it
  std::unique_ptr<Decoder> decoder;
  std::span<const std::byte> tokenizer;
  std::string name;
};

DecoderBundle::DecoderBundle(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
DecoderBundle::DecoderBundle(DecoderBundle&&) noexcept = default;
DecoderBundle& DecoderBundle::operator=(DecoderBundle&&) noexcept = default;
DecoderBundle::~DecoderBundle() = default;

Result<DecoderBundle> DecoderBundle::open(const std::string& path, const Backend& backend) {
  auto file = format::ModelFile::open(path);
  if (!file) {
    return file.error();
  }
  auto parts = std::make_unique<Parts>(std::move(*file));
  auto decoder = load_decoder(parts->file, backend);
  if (!decoder) {
    return decoder.error();
  }
  parts->decoder = std::move(*decoder);
  if (!parts->file.has(kTokenizerBlob)) {
    return Error{ErrorCode::BadArgument,
                 path + ": holds no tokenizer; convert the model again with its tokenizer"};
  }
  auto blob = parts->file.blob(kTokenizerBlob);
  if (!blob) {
    return blob.error();
  }
  parts->tokenizer = *blob;
  if (const auto metadata = format::metadata(parts->file); metadata) {
    const auto name = metadata->find("name");
    if (name != metadata->end() && name->is_string()) {
      parts->name = name->get<std::string>();
    }
  }
  return DecoderBundle(std::move(parts));
}

const Decoder& DecoderBundle::decoder() const { return *parts_->decoder; }
std::span<const std::byte> DecoderBundle::tokenizer() const { return parts_->tokenizer; }
std::string_view DecoderBundle::name() const { return parts_->name; }

}  // namespace laya::model
