#include "pinyin/libime_data.h"

namespace laya::pinyin {

Result<PinyinData> load_libime(const LibimePaths&) {
  return Error{ErrorCode::Unsupported,
               "pinyin: this build is without libime; install libimepinyin-dev and build again"};
}

}  // namespace laya::pinyin
