// PinyinSession on any bytes, typed as letters: 0x08 takes one back, 0x0D chooses the first
// candidate, 0x1B begins anew behind what was typed. Whatever comes, the list is whole: valid text
// for letters that are, nothing consumed that was not typed, the letters themselves among it.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/utf8.h"
#include "fuzz_target.h"
#include "pinyin/lexicon.h"
#include "predict/pinyin/pinyin_session.h"

using laya::fuzz::require;
namespace predict = laya::predict;
namespace pinyin = laya::pinyin;

namespace {

constexpr std::size_t kMostKeys = 200;

pinyin::Lexicon small_lexicon() {
  pinyin::LexiconBuilder builder;
  const auto add = [&](std::string_view syllables, std::string_view text, float log_prob) {
    std::vector<pinyin::SyllableId> ids;
    for (std::size_t at = 0; at < syllables.size();) {
      const std::size_t end = std::min(syllables.find(' ', at), syllables.size());
      ids.push_back(pinyin::find_syllable(syllables.substr(at, end - at)));
      at = end + 1;
    }
    require(builder.add(ids, text, 0, 0, log_prob).has_value());
  };
  add("wo", "我", -3);
  add("wo men", "我们", -4);
  add("qu", "去", -4);
  add("xi an", "西安", -7);
  add("xian", "先", -6);
  add("ming tian", "明天", -6);
  auto lexicon = builder.build();
  require(lexicon.has_value());
  return std::move(*lexicon);
}

const predict::PinyinModel& model() {
  static const auto engine = predict::Engine::open(
      {.ngram_path = std::string(LAYA_SOURCE_DIR) + "/testdata/predict/ngram.laya"}, {});
  require(engine.has_value());
  static const predict::PinyinModel model(**engine, {small_lexicon(), nullptr});
  return model;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  predict::PinyinSession session(model());
  require(session.set_context("我们").has_value());
  for (std::size_t i = 0; i < std::min(size, kMostKeys); ++i) {
    const char key = static_cast<char>(data[i]);
    if (key == '\b') {
      session.erase();
    } else if (key == '\r') {
      const bool some = !session.letters().empty();
      require(session.commit(0).has_value() == some);
    } else if (key == '\x1B') {
      require(session.set_context(std::string(session.letters())).has_value());
    } else {
      require(session.type({&key, 1}).has_value());
    }
    const std::string_view letters = session.letters();
    const bool valid = laya::base::is_valid_utf8(letters);
    bool has_letters = letters.empty();
    for (const predict::PinyinCandidate& candidate : session.candidates()) {
      require(!candidate.text.empty() && candidate.consumed <= letters.size());
      require(!valid || laya::base::is_valid_utf8(candidate.text));
      has_letters = has_letters || candidate.text == letters;
    }
    require(has_letters);
  }
  return 0;
}
