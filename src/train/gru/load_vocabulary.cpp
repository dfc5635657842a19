#include "base/atomic_file.h"
#include "train/gru/gru_trainer.h"
#include "train/vocabulary/vocabulary_import.h"

namespace laya::train {

Result<text::Vocabulary> load_vocabulary(const std::filesystem::path& path) {
  if (path.extension() == ".model") return import_sentencepiece(path.string());
  Result<std::string> bytes = base::read_file(path.string(), 64u << 20);
  if (!bytes) return bytes.error();
  return text::Vocabulary::parse(std::as_bytes(std::span(*bytes)));
}

}  // namespace laya::train
