// For tests: a decoder with random weights over a tokenizer of a few hundred pieces, so that words
// are one token or several, and Chinese is there. What it says is noise, but the same noise
// everywhere.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "model/backends/cpu.h"
#include "model/bench/random_decoder.h"
#include "model/decoder/decoder_loading.h"
#include "model/decoder/test_decoders.h"
#include "text/subword_tokenizer.h"

namespace laya::predict {

/// Sentencepiece with byte fallback: bytes, characters, the beginnings of some words, two Chinese
/// words.
inline text::SubwordTokenizer small_tokenizer() {
  text::SubwordParts parts;
  parts.options.kind = text::SubwordKind::Sentencepiece;
  const auto add = [&](std::string token, float score, text::PieceRole role) {
    if (std::find(parts.tokens.begin(), parts.tokens.end(), token) == parts.tokens.end()) {
      parts.tokens.push_back(std::move(token));
      parts.scores.push_back(score);
      parts.roles.push_back(role);
    }
  };
  add("<bos>", 0, text::PieceRole::Control);
  parts.options.bos = 0;
  parts.options.add_bos = true;
  add("<eos>", 0, text::PieceRole::Control);
  parts.options.eos = 1;
  for (int byte = 0; byte < 256; ++byte) {
    constexpr char kHex[] = "0123456789ABCDEF";
    add(std::string("<0x") + kHex[byte / 16] + kHex[byte % 16] + ">", 0, text::PieceRole::Byte);
  }
  const std::string space = "\xe2\x96\x81";
  add(space, -50, text::PieceRole::Normal);
  for (char letter = 'a'; letter <= 'z'; ++letter) {
    add(std::string(1, letter), -40, text::PieceRole::Normal);
  }
  for (const char* one : {".",  ",",  "'",  "!",  "?",  "我", "们", "明", "天", "去",
                          "吃", "饭", "好", "的", "见", "，", "。", "I",  "S",  "T"}) {
    add(one, -40, text::PieceRole::Normal);
  }
  // Beginnings of words; longer ones first. "tom" + "orrow" is two tokens on purpose.
  for (const char* word :
       {"see", "you", "tom", "the", "to", "thank", "very", "much", "at", "for"}) {
    std::string piece = space;
    float score = -30;
    for (const char* letter = word; *letter != 0; ++letter) {
      piece += *letter;
      add(piece, score, text::PieceRole::Normal);
      score += 1;
    }
  }
  for (const char* rest : {"or", "orr", "orro", "orrow", "in", "ing"}) {
    add(rest, -20, text::PieceRole::Normal);
  }
  add("我们", -10, text::PieceRole::Normal);
  add("明天", -10, text::PieceRole::Normal);
  auto made = text::SubwordTokenizer::from_parts(parts);
  if (!made) {
    ADD_FAILURE() << made.error().message;
    std::abort();
  }
  return std::move(*made);
}

/// A random decoder of `rows` tokens, in a folder of its own.
class SmallDecoder {
 public:
  explicit SmallDecoder(std::size_t rows, model::DecoderFamily family = model::DecoderFamily::Llama,
                        std::uint64_t seed = 1) {
    model::DecoderConfig config = model::tiny_decoder_config(family);
    config.vocabulary_size = static_cast<std::uint32_t>(rows);
    config.max_context = 1024;
    const std::string path = folder_.file("decoder.laya");
    const Status written = model::write_random_decoder(path, family, config, model::kFloat, seed);
    EXPECT_TRUE(written) << written.error().message;
    file_ = std::make_unique<format::ModelFile>(std::move(*format::ModelFile::open(path)));
    decoder_ = std::move(*model::load_decoder(*file_, model::cpu_backend()));
  }
  const model::Decoder& get() const { return *decoder_; }
  /// One more over the same file, which must stay.
  std::unique_ptr<const model::Decoder> load() const {
    return std::move(*model::load_decoder(*file_, model::cpu_backend()));
  }

 private:
  base::TestFolder folder_;
  std::unique_ptr<format::ModelFile> file_;
  std::unique_ptr<model::Decoder> decoder_;
};

}  // namespace laya::predict
