#include "predict/list/source_trust.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "base/utf8.h"
#include "text/units.h"

namespace laya::predict {
namespace {

constexpr float kKept = 0.85F;
constexpr float kGain = 0.4F;
constexpr float kHanKept = 0.9F;
constexpr float kHanGain = 0.3F;
constexpr float kMost = 3.0F;
constexpr float kFloor = -20.0F;  // a word that a source cannot see

/// The word at the front of `text`: up to its first space or mark.
std::string_view first_word(std::string_view text) {
  const auto in_word = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x80 || (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
           (byte >= 'A' && byte <= 'Z') || byte == '\'';
  };
  const auto end = std::find_if_not(text.begin(), text.end(), in_word);
  return text.substr(0, static_cast<std::size_t>(end - text.begin()));
}

// How much better the decoder knew it, in nats.
float surprise(float log_p_deep, float log_p_instant) {
  return std::clamp(std::max(log_p_deep, kFloor) - std::max(log_p_instant, kFloor), -kMost, kMost);
}

// A share whose logit is raised by `logit`; none and all stay.
float shifted(float share, float logit) {
  return share > 0 && share < 1 ? 1 / (1 + (1 - share) / share * std::exp(-logit)) : share;
}

}  // namespace

void SourceTrust::learn(const PoolWord& word, const Mixing& mixing) {
  if (!std::isfinite(word.log_p_deep)) {
    return;  // it was not asked, or not in time
  }
  const float share = mixing.word_network[Mixing::kContextBuckets - 1][0];
  const float instant = mix(MixingKind::Linear, share, word.log_p_network, word.log_p_ngram);
  deep_ = kKept * deep_ + surprise(word.log_p_deep, instant);
}

void SourceTrust::start(const TypedText& text) {
  clear();
  begin_ = text.cut_bytes() + text.before().size() - text.open_word().size();
}

void SourceTrust::follow(const TypedText& text, const Mixing& mixing,
                         std::span<const PoolWord> pool) {
  const std::uint64_t begin = text.cut_bytes() + text.before().size() - text.open_word().size();
  if (begin > begin_ && begin_ >= text.cut_bytes()) {
    const std::string_view closed = first_word(text.before().substr(begin_ - text.cut_bytes()));
    std::array<char, 2 * text::kMaxUnitBytes> lower;
    if (!closed.empty() && closed.size() <= text::kMaxUnitBytes) {
      const std::string_view key(lower.data(),
                                 text::copy_lower(closed, lower.data(), lower.size()));
      const auto word = std::find_if(pool.begin(), pool.end(),
                                     [&](const PoolWord& known) { return known.key == key; });
      if (word != pool.end()) {
        learn(*word, mixing);
      }
    }
  }
  begin_ = begin;
}

void SourceTrust::follow_han(const TypedText& text, std::size_t inserted_bytes,
                             const Mixing& mixing, std::span<const HanWord> weighed,
                             std::span<const HanPiece> han) {
  if (inserted_bytes == 0 || inserted_bytes > text.before().size()) {
    return;
  }
  const char32_t typed =
      base::decode_utf8(text.before().substr(text.before().size() - inserted_bytes)).code_point;
  const auto word = std::ranges::find_if(
      weighed, [&](const HanWord& known) { return han[known.han[0]].code_point == typed; });
  if (word == weighed.end() || !std::isfinite(word->log_p_deep)) {
    return;
  }
  const float instant =
      mix(MixingKind::Linear, mixing.han_network.back(), word->log_p_network, word->log_p_ngram);
  han_deep_ = kHanKept * han_deep_ + surprise(word->log_p_deep, instant);
}

Shares SourceTrust::adjusted(const Shares& shares) const {
  Shares result = shares;
  result.deep = shifted(shares.deep, kGain * deep_);
  result.han_deep = shifted(shares.han_deep, kHanGain * han_deep_);
  return result;
}

}  // namespace laya::predict
