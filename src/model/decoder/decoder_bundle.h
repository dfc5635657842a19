// One `.laya` file with a decoder and its tokenizer: what prediction opens, so that rooms above
// need not know the file format. The counterpart of ModelBundle.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/core/backend.h"
#include "model/decoder/decoder.h"

namespace laya::model {

/// Owns the mapped file and the decoder that views it. Move-only; moving keeps every pointer valid.
/// Const members: any thread.
class DecoderBundle {
 public:
  /// Maps `path` and opens the decoder on `backend`. Errors: Io, Version, Corrupt,
  /// Unsupported (as format::ModelFile::open and load_decoder say), BadArgument where the file
  /// holds no tokenizer.
  static Result<DecoderBundle> open(const std::string& path, const Backend& backend);

  DecoderBundle(DecoderBundle&&) noexcept;
  DecoderBundle& operator=(DecoderBundle&&) noexcept;
  ~DecoderBundle();

  const Decoder& decoder() const;
  /// Bytes of the blob "tokenizer" (text::SubwordTokenizer::parse reads it).
  std::span<const std::byte> tokenizer() const;
  /// "name" of the metadata; empty without one.
  std::string_view name() const;

 private:
  struct Parts;
  explicit DecoderBundle(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace laya::model
