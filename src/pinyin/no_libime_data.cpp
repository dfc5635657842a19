#include "pinyin/libime_data.h"

namespace laya::pinyin {

Result<PinyinData> load_libime(const LibimePaths&) {
  return Error{ErrorCode::Unsupported,
               "pinyin: this build is without libime: scripts/setup pinyin, then build again (laya "
               "doctor says why)"};
}

}  // namespace laya::pinyin
