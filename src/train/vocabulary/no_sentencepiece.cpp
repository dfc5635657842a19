// In place of vocabulary_import.cpp where sentencepiece is not installed.
#include "train/vocabulary/vocabulary_import.h"

namespace laya::train {

Result<text::Vocabulary> import_sentencepiece(const std::string& path) {
  return Error{
      ErrorCode::Unsupported,
      path + ": this build has no sentencepiece; scripts/setup vocabulary, then build again"};
}

}  // namespace laya::train
