// A tiny hand-made n-gram table for tests: eight units of both languages, order 3.
#pragma once

#include <cstring>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "model/ngram/ngram.h"
#include "model/ngram/ngram_layout.h"

namespace laya::model {

/// Units: 6 "," 7 "们" 8 "我" 9 "he" 10 "hello" 11 "the", and the rare 12 "hero" 13 "they". Code c
/// of every table stands for
/// -(255 - c) / 16; codes of back-off weights too.
class NgramTestTable {
 public:
  static constexpr WordId kComma = 6, kMen = 7, kWo = 8, kHe = 9, kHello = 10, kThe = 11,
                          kHero = 12, kThey = 13;

  NgramTestTable() {
    header.magic = kNgramMagic;
    header.version = kNgramVersion;
    header.order = 3;
    header.unit_count = 14;
    header.han_begin = 7;
    header.word_begin = 9;
    header.common_count = 12;
    header.display_count = 1;
    header.entries = {12, 6, 2, 0, 0, 0};
    header.contexts = {12, 2, 0, 0, 0, 0};
    for (auto* tables : {&header.prob_table, &header.backoff_table}) {
      for (auto& table : *tables) {
        for (std::size_t c = 0; c < 256; ++c) {
          table[c] = -static_cast<float>(255 - c) / 16.0f;
        }
      }
    }
    put_header();
    const std::vector<std::string> keys = {",", "们", "我", "he", "hello", "the", "hero", "they"};
    std::vector<std::uint32_t> offsets{0};
    std::string text;
    for (const std::string& key : keys) {
      text += key;
      offsets.push_back(static_cast<std::uint32_t>(text.size()));
    }
    put("ngram.lexicon_offsets", offsets);
    put("ngram.lexicon_text", std::vector<char>(text.begin(), text.end()));
    put<std::uint32_t>("ngram.display_ids", {kHello});
    put<std::uint32_t>("ngram.display_offsets", {0, 5});
    put<char>("ngram.display_text", {'H', 'e', 'l', 'l', 'o'});
    put<float>("ngram.unigram",
               {-4, -30, -2, -5, -6, -7, -2.5f, -5, -3, -3.5f, -6, -2.25f, -1, -0.5f});
    // <s> ▶ 我 he the; 我 ▶ 们 the; the ▶ he
    put<std::uint32_t>("ngram.1.begin", {0, 0, 3, 3, 3, 3, 3, 3, 3, 5, 5, 5, 6});
    put<std::uint8_t>("ngram.1.backoff",
                      {255, 239, 255, 255, 255, 255, 255, 255, 223, 255, 255, 247});
    put<std::uint16_t>("ngram.2.words", {kWo, kHe, kThe, kMen, kThe, kHe});
    put<std::uint8_t>("ngram.2.probs", {230, 220, 225, 250, 200, 235});
    put<std::uint64_t>("ngram.2.parents", {0b001010});  // "<s> he" and "我 们" have children
    put<std::uint32_t>("ngram.2.ranks", {0});
    put<std::uint32_t>("ngram.2.begin", {0, 1, 2});
    put<std::uint8_t>("ngram.2.backoff", {243, 235});
    put<std::uint16_t>("ngram.3.words", {kHello, kComma});  // <s> he hello, 我 们 ","
    put<std::uint8_t>("ngram.3.probs", {248, 240});
  }

  void put_header() { put("ngram.header", std::vector<NgramHeader>{header}); }

  template <typename T>
  void put(const std::string& name, const std::vector<T>& values) {
    std::vector<std::byte> bytes(values.size() * sizeof(T));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    blobs[name] = std::move(bytes);
  }

  NgramBlobs view() const {
    return [this](std::string_view name) -> std::span<const std::byte> {
      const auto found = blobs.find(name);
      return found == blobs.end() ? std::span<const std::byte>() : std::span(found->second);
    };
  }

  NgramHeader header{};
  std::map<std::string, std::vector<std::byte>, std::less<>> blobs;
};

}  // namespace laya::model
