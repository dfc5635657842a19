// What pinyin needs of an engine and of an input method's data, joined: each character of the
// lexicon as the network's token and as the table's unit. Immutable, shared by all PinyinSessions.
#pragma once

#include <vector>

#include "base/token_id.h"
#include "model/ngram/ngram.h"
#include "pinyin/libime_data.h"
#include "predict/engine/engine.h"

namespace laya::predict {

class PinyinModel {
 public:
  /// `engine` must outlive the model.
  PinyinModel(const Engine& engine, pinyin::PinyinData data);

  const Engine& engine() const { return *engine_; }
  const pinyin::Lexicon& lexicon() const { return data_.lexicon; }
  const pinyin::WordModel* words() const { return data_.words.get(); }
  /// kNoToken where the network spells the character by bytes, or where there is no network.
  TokenId token(pinyin::CharIndex character) const { return tokens_[character]; }
  /// What the network reads for the character: its token, or the first of its bytes.
  TokenId read_token(pinyin::CharIndex character) const { return read_tokens_[character]; }
  model::WordId unit(pinyin::CharIndex character) const { return units_[character]; }

 private:
  const Engine* engine_;
  pinyin::PinyinData data_;
  std::vector<TokenId> tokens_;
  std::vector<TokenId> read_tokens_;
  std::vector<model::WordId> units_;
};

/// ln p(character | state) by the table; what it does not know shares what it gives to the unknown.
float log_prob_by_table(const model::NgramModel& table, const model::NgramContext& state,
                        model::WordId character);

}  // namespace laya::predict
