#include "predict/pinyin/pinyin_model.h"

#include <string>
#include <utility>

#include "base/utf8.h"
#include "text/tokenizer.h"

namespace laya::predict {
namespace {

// A character that the table does not know is one of some ten thousand such (ln 1/10,000), and
// shares what it gives to all that is unknown: with the whole of it, rare characters would outdo
// common ones.
constexpr float kLogUnknownShare = -9.2F;

}  // namespace

PinyinModel::PinyinModel(const Engine& engine, pinyin::PinyinData data)
    : engine_(&engine), data_(std::move(data)) {
  const auto characters = data_.lexicon.code_points();
  tokens_.assign(characters.size(), kNoToken);
  read_tokens_.assign(characters.size(), kNoToken);
  units_.assign(characters.size(), model::kUnknownWord);
  std::string text;
  for (std::size_t i = 0; i < characters.size(); ++i) {
    text.clear();
    base::append_utf8(characters[i], text);
    if (engine.tokenizer() != nullptr) {
      tokens_[i] = engine.tokenizer()->vocabulary().find(text);
      read_tokens_[i] =
          tokens_[i] != kNoToken
              ? tokens_[i]
              : engine.tokenizer()->vocabulary().byte_id(static_cast<std::uint8_t>(text[0]));
    }
    if (engine.ngrams() != nullptr) {
      units_[i] = engine.ngrams()->find(text);
    }
  }
}

float log_prob_by_table(const model::NgramModel& table, const model::NgramContext& state,
                        model::WordId character) {
  return table.log_prob(state, character) +
         (character == model::kUnknownWord ? kLogUnknownShare : 0.0F);
}

}  // namespace laya::predict
