// The frozen set: text of our own (testdata/eval) that every release is measured on, compiled in, so
// that `laya eval` measures the same thing wherever it runs. Never trained or tuned on.
#pragma once

#include <string_view>

namespace laya::eval {

/// Plain English, one utterance a line.
std::string_view frozen_english();
/// Chinese, one utterance a line, words marked by spaces (evaluate_next.h).
std::string_view frozen_chinese();
/// Cases of the ghost (ghost_cases.h).
std::string_view frozen_ghost_cases();

}  // namespace laya::eval
