// The input method's word model behind a text that is no pinyin.
#pragma once

#include <string_view>

#include "pinyin/word_model.h"

namespace laya::predict {

/// The word model's state behind `before`: its last words, cut as is likeliest. Only the Han
/// characters at its end count. A few µs, no allocation.
pinyin::WordState word_state_behind(const pinyin::WordModel& words, std::string_view before);

}  // namespace laya::predict
