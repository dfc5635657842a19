#include "predict/source/source.h"

namespace laya::predict {

PoolWord* WordPool::add(std::string_view key, model::WordId word, std::uint32_t group) {
  for (PoolWord& have : words_) {
    if ((group != kNoGroup && have.group == group) ||
        (word != model::kUnknownWord && have.word == word) ||
        (group == kNoGroup && word == model::kUnknownWord && have.key == key)) {
      return &have;
    }
  }
  if (words_.size() == kCapacity) {
    return nullptr;
  }
  PoolWord fresh;
  fresh.key = key;
  fresh.word = word;
  fresh.group = group;
  words_.push_back(fresh);
  return &words_.back();
}

}  // namespace laya::predict
