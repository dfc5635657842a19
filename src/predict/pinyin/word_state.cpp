#include "predict/pinyin/word_state.h"

#include <algorithm>
#include <array>

#include "base/utf8.h"
#include "text/script.h"

namespace laya::predict {
namespace {

// Words longer than this are few, and none of them is needed to know what follows.
constexpr std::size_t kWordHan = 4;
// Han characters in front that are cut into words: the word model is a trigram and looks at two.
constexpr std::size_t kHanBehind = 2 * kWordHan;

}  // namespace

pinyin::WordState word_state_behind(const pinyin::WordModel& words, std::string_view before) {
  // Offsets of the last Han characters, up to what is none.
  std::array<std::size_t, kHanBehind + 1> at{};
  std::size_t count = 0;
  std::size_t begin = before.size();
  at[0] = begin;
  while (begin > 0 && count < kHanBehind) {
    const std::size_t first = base::previous_code_point(before, begin);
    if (!text::is_han(base::decode_utf8(before.substr(first)).code_point)) {
      break;
    }
    begin = first;
    at[++count] = begin;
  }
  std::reverse(at.begin(), at.begin() + static_cast<std::ptrdiff_t>(count) + 1);
  struct Cut {
    pinyin::WordState state;
    float log_prob = 0;
    bool reached = false;
  };
  std::array<Cut, kHanBehind + 1> cuts;
  cuts[0] = {words.start(), 0, true};
  for (std::size_t end = 1; end <= count; ++end) {
    for (std::size_t first = end > kWordHan ? end - kWordHan : 0; first < end; ++first) {
      const std::uint32_t word = words.find(before.substr(at[first], at[end] - at[first]));
      if (!cuts[first].reached || (word == words.unknown() && end - first > 1)) {
        continue;
      }
      Cut cut{{}, 0, true};
      cut.log_prob = cuts[first].log_prob + words.log_prob(cuts[first].state, word, &cut.state);
      if (!cuts[end].reached || cut.log_prob > cuts[end].log_prob) {
        cuts[end] = cut;
      }
    }
  }
  return cuts[count].state;
}

}  // namespace laya::predict
