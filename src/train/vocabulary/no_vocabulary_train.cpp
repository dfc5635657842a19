// In place of vocabulary_train.cpp where sentencepiece is not installed.
#include "train/vocabulary/vocabulary_train.h"

namespace laya::train {

Result<text::Vocabulary> train_vocabulary(const Mixture&, const VocabularyOptions&) {
  return Error{
      ErrorCode::Unsupported,
      "train vocab: this build has no sentencepiece; scripts/setup vocabulary, then build again"};
}

}  // namespace laya::train
