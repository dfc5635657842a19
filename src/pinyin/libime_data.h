// libime's dictionary and word model, as installed on the system (Debian: libime-data and
// libime-data-language-model; LGPL-2.1-or-later, linked dynamically, none of it shipped by us).
// In a build without libime this is a stub that says Unsupported.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "pinyin/lexicon.h"
#include "pinyin/word_model.h"

namespace laya::pinyin {

struct LibimePaths {
  std::string dictionary = {};  ///< empty: libime's own simplified Chinese one
  std::string model = {};       ///< empty: the one that libime finds for zh_CN
};

/// What pinyin needs; immutable, shared by all sessions.
struct PinyinData {
  Lexicon lexicon;
  std::unique_ptr<const WordModel> words;  ///< may be nullptr: then words count as without context
};

/// Reads both, some 0.3 s. Words in traditional characters that the model does not know are left
/// out. Errors: Io (not installed, cannot be read), Corrupt, Unsupported (a build without libime).
Result<PinyinData> load_libime(const LibimePaths& paths);

}  // namespace laya::pinyin
