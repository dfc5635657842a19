#include "predict/ghost/said_before.h"

#include <algorithm>

namespace laya::predict {
namespace {

// How much a context leaves to shorter ones, per different token seen behind it; by its length.
// Chosen on phrases of Gemma and SmolLM2 behind dev text.
constexpr std::array<float, SaidBefore::kTokensBehind> kLeave = {2.25F, 1.2F, 0.75F};
// What is older counts less, by this at each token learnt: the phrases of one text go on alike.
constexpr float kFade = 0.4F;

}  // namespace

SaidBefore::Place SaidBefore::place(std::span<const TokenId> context) {
  std::uint64_t hash = context.size();
  for (const TokenId token : context) {
    hash = (hash ^ token) * 0x9E3779B97F4A7C15U;
    hash ^= hash >> 29U;
  }
  return {static_cast<std::size_t>(hash) % kEntries, static_cast<std::uint32_t>(hash >> 32U) | 1U};
}

void SaidBefore::learn(std::span<const TokenId> behind, TokenId next) {
  for (std::size_t length = 1; length <= std::min(kTokensBehind, behind.size()); ++length) {
    const Place at = place(behind.last(length));
    Entry& entry = entries_[at.slot];
    if (entry.check != at.check) {
      entry = Entry{};
      entry.check = at.check;
    }
    std::size_t i = 0;
    while (i < kNexts && entry.counts[i] > 0 && entry.nexts[i] != next) {
      ++i;
    }
    if (i == kNexts) {  // all are taken: the rarest makes room
      i = static_cast<std::size_t>(std::min_element(entry.counts.begin(), entry.counts.end()) -
                                   entry.counts.begin());
      entry.counts[i] = 0;
    }
    entry.nexts[i] = next;
    for (float& count : entry.counts) {
      count *= kFade;
    }
    entry.counts[i] += 1;
    empty_ = false;
  }
}

void SaidBefore::clear() {
  if (!empty_) {
    std::fill(entries_.begin(), entries_.end(), Entry{});
    empty_ = true;
  }
}

SaidBefore::Guesses SaidBefore::guess(std::span<const TokenId> behind) const {
  Guesses out;
  for (std::size_t length = std::min(kTokensBehind, behind.size()); length > 0; --length) {
    const Place at = place(behind.last(length));
    const Entry& entry = entries_[at.slot];
    if (entry.check != at.check) {
      continue;
    }
    float total = 0;
    float different = 0;
    for (const float count : entry.counts) {
      total += count;
      different += count > 0 ? 1 : 0;
    }
    const float whole = total + kLeave[length - 1] * different;
    if (total == 0) {
      continue;
    }
    for (std::size_t i = 0; i < kNexts; ++i) {
      if (entry.counts[i] == 0) {
        continue;
      }
      const float prob = out.unknown * entry.counts[i] / whole;
      std::size_t known = 0;
      while (known < out.count && out.each[known].token != entry.nexts[i]) {
        ++known;
      }
      if (known < out.count) {
        out.each[known].prob += prob;
      } else if (out.count < kGuesses) {
        out.each[out.count++] = {entry.nexts[i], prob};
      }
    }
    out.unknown *= (whole - total) / whole;
  }
  return out;
}

}  // namespace laya::predict
