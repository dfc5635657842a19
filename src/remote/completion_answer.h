// What is sent to an OpenAI-compatible completion server, and what of its answer is believed.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace laya::remote {

/// Nothing longer is read or shown.
inline constexpr std::size_t kMaxAnswerBytes = 64 * 1024;
inline constexpr std::size_t kMaxContinuationBytes = 160;

/// The body of POST /v1/completions: one line at most, `tokens` tokens, `count` ways to go on.
/// `prompt` is any bytes; what is not UTF-8 is replaced.
std::string completion_request(std::string_view model, std::string_view prompt, std::size_t tokens,
                               std::size_t count);

/// The continuations of choices[].text, in order: first line only, cut at kMaxContinuationBytes on
/// a character's border; empty ones, doubled ones and those with broken UTF-8 or with a character
/// that is not seen (base::is_deceptive) are left out. Corrupt where the body is not such an answer (it never quotes it), TooLarge beyond
/// kMaxAnswerBytes.
Result<std::vector<std::string>> parse_completions(std::string_view body, std::size_t most);

}  // namespace laya::remote
