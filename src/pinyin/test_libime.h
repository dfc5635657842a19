// For tests with libime's own data.
#pragma once

#include <gtest/gtest.h>

#include "pinyin/libime_data.h"

namespace laya::pinyin {

/// True, and then a test may be skipped, only where the build has no libime. Where it has one that
/// cannot be loaded, users have no pinyin: a failure.
inline bool built_without_libime() {
  static const Result<PinyinData> data = load_libime({});
  if (data) {
    return false;
  }
  if (data.error().code == ErrorCode::Unsupported) {
    return true;
  }
  ADD_FAILURE() << data.error().message;
  return false;
}

}  // namespace laya::pinyin
