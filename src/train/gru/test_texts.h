// For tests only: a small vocabulary, a small mixture in a folder, and a small network that trains
// in a second.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/atomic_file.h"
#include "base/test_folder.h"
#include "text/tokenizer.h"
#include "train/gru/train_options.h"
#include "train/text/corpus.h"

namespace laya::train {

/// The fixed pieces, all bytes, some words.
inline text::Vocabulary small_vocabulary() {
  using text::PieceType;
  std::vector<text::Piece> pieces = {
      {"", 0, PieceType::Unknown}, {"", 0, PieceType::Begin}, {"\n", 0, PieceType::Newline}};
  for (int byte = 0; byte < 256; ++byte) {
    pieces.push_back({std::string(1, static_cast<char>(byte)), 0, PieceType::Byte});
  }
  for (const char* word : {"the ", "see ", "you ", "at ", "home ", "train ", "late", "a", "e", "o",
                           "t", "我", "你", "在", "家", "吃", "饭", "了", "。"}) {
    pieces.push_back({word, -3.0F, PieceType::Normal});
  }
  return text::Vocabulary::create(pieces).value();
}

/// `tokenizer` must outlive the result.
inline LineEncoder encoder_of(const text::Tokenizer& tokenizer) {
  return {[&](std::string_view line, std::vector<TokenId>& ids) { tokenizer.encode(line, ids); },
          tokenizer.vocabulary().fingerprint(),
          {},
          0};
}

inline void write_text(const std::filesystem::path& path, std::string_view text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

/// A data folder with two sources and their dev texts, a mixture and a vocabulary; options that
/// train on them.
inline TrainOptions small_run(const base::TestFolder& folder, const std::string& run) {
  std::string english;
  std::string chinese;
  for (int i = 0; i < 40; ++i) {
    english += "see you at home\nthe train at " + std::to_string(i) + " is late\nthe train\n" +
               (i % 3 == 0 ? "\n" : "");
    chinese += "我在家吃饭了。\n你在家" + std::to_string(i) + "。\n\n";
  }
  write_text(folder.file("data/en.txt"), english);
  write_text(folder.file("data/zh.txt"), chinese);
  write_text(folder.file("data/en_dev.txt"), "the train\n");
  write_text(folder.file("data/zh_dev.txt"), "我在家吃饭了。\n");
  write_text(folder.file("mixture.toml"), R"(
[languages]
en = 0.5
zh = 0.5
[[source]]
name = "en_small"
path = "en.txt"
dev = "en_dev.txt"
language = "en"
[[source]]
name = "zh_small"
path = "zh.txt"
dev = "zh_dev.txt"
language = "zh"
)");
  const std::vector<std::byte> blob = small_vocabulary().serialize();
  EXPECT_TRUE(base::write_file(folder.file("vocabulary.bin"), blob).has_value());

  TrainOptions options;
  options.mixture = folder.file("mixture.toml");
  options.data_root = folder.file("data");
  options.vocabulary = folder.file("vocabulary.bin");
  options.run_dir = folder.file(run);
  options.cache_dir = folder.file("cache");
  options.config = {0, 16, 32, 2, 2, 16, 3, 1e-5F};
  options.lanes = 4;
  options.steps = 8;
  options.until_tokens = 40 * 32;
  options.warmup_tokens = 64;
  options.learning_rate = 1e-2F;
  options.candidates = 32;
  options.full_head_from = 0.5;
  options.eval_every_tokens = 20 * 32;
  options.checkpoint_every_s = 1e6;
  return options;
}

}  // namespace laya::train
