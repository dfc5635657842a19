#include "predict/correction_search.h"

#include <algorithm>

#include "predict/corrector.h"

namespace laya::predict {
namespace {

constexpr std::size_t kMaxSlips = 3;

}  // namespace

CorrectionSearch::CorrectionSearch(const Lexicon& lexicon, const NoiseCosts& costs)
    : lexicon_(&lexicon), costs_(costs), seen_(kSeen), seen_generation_(kSeen) {
  states_.reserve(kStates);
  heap_.reserve(kStates);
}

bool CorrectionSearch::first_visit(const State& state) {
  const std::uint64_t key = std::uint64_t{state.node} << 16 | std::uint64_t{state.typed} << 8 |
                            (state.slips == 0 ? 1u : 0u);
  std::size_t at = (key * 0x9E3779B97F4A7C15ull) >> 49;  // kSeen = 2^15
  for (std::size_t tries = 0; tries < 16; ++tries, at = (at + 1) % kSeen) {
    if (seen_generation_[at] != generation_) {
      seen_generation_[at] = generation_;
      seen_[at] = key;
      return true;
    }
    if (seen_[at] == key) {
      return false;
    }
  }
  return true;  // crowded: looked at twice at worst
}

void CorrectionSearch::push(std::size_t parent, Lexicon::Node node, std::size_t consumed,
                            float cost, std::size_t slips) {
  const float bound = cost - lexicon_->best(node);
  if (bound > limit_ || slips > kMaxSlips || states_.size() == kStates) {
    return;
  }
  states_.push_back({cost, bound, node, static_cast<std::uint16_t>(parent),
                     static_cast<std::uint8_t>(consumed), static_cast<std::uint8_t>(slips), false});
  heap_.push_back(static_cast<std::uint16_t>(states_.size() - 1));
  std::push_heap(heap_.begin(), heap_.end(), [&](std::uint16_t a, std::uint16_t b) {
    return states_[a].bound != states_[b].bound ? states_[a].bound > states_[b].bound : a > b;
  });
}

void CorrectionSearch::push_word(std::size_t parent, std::uint32_t word) {
  State state = states_[parent];
  state.bound = state.cost - lexicon_->log_prob(word);
  state.parent = static_cast<std::uint16_t>(parent);
  state.is_word = true;
  if (state.bound > limit_ || states_.size() == kStates) {
    return;
  }
  states_.push_back(state);
  heap_.push_back(static_cast<std::uint16_t>(states_.size() - 1));
  std::push_heap(heap_.begin(), heap_.end(), [&](std::uint16_t a, std::uint16_t b) {
    return states_[a].bound != states_[b].bound ? states_[a].bound > states_[b].bound : a > b;
  });
}

void CorrectionSearch::expand(std::size_t index, std::string_view typed, Typing typing) {
  const State state = states_[index];
  const std::size_t i = state.typed;
  const auto letter = [&](std::size_t at) {
    return at < typed.size() ? static_cast<std::uint8_t>(typed[at]) : std::uint8_t{0};
  };
  const std::uint8_t here = letter(i);
  const std::uint8_t next = letter(i + 1);
  const std::uint8_t before = i > 0 ? letter(i - 1) : std::uint8_t{0};
  const std::uint8_t previous = lexicon_->label(state.node);  // 0 at the root
  const bool at_first = state.node == Lexicon::kRoot;
  const float slip = (at_first ? costs_.first : 0) + (state.slips > 0 ? costs_.more : 0);
  const bool done = i >= typed.size();
  if (done && state.slips == 0 && typing == Typing::Open) {
    return;  // what only completes is no correction
  }
  if (done) {
    const std::uint32_t word = lexicon_->word_at(state.node);
    if (word != Lexicon::kNoWord && !lexicon_->is_silent(word)) {
      push_word(index, word);
    }
  } else {
    push(index, state.node, i + 1, state.cost + slip + insertion_cost(costs_, here, before, next),
         state.slips + 1u);
  }
  for (Lexicon::Node child = lexicon_->first_child(state.node); child != Lexicon::kNoNode;
       child = lexicon_->next_sibling(child)) {
    const std::uint8_t meant = lexicon_->label(child);
    if (done && typing == Typing::Open) {
      push(index, child, i, state.cost, state.slips);  // not typed yet
      continue;
    }
    push(index, child, i, state.cost + slip + omission_cost(costs_, meant, previous, here),
         state.slips + 1u);
    if (done) {
      continue;
    }
    if (meant == here) {
      push(index, child, i + 1, state.cost, state.slips);
      continue;
    }
    push(index, child, i + 1, state.cost + slip + substitution_cost(costs_, meant, here),
         state.slips + 1u);
    if (meant == next && next != 0) {
      const Lexicon::Node other = lexicon_->child(child, here);
      if (other != Lexicon::kNoNode && states_.size() + 1 < kStates) {
        // The letter between is a state of its own, never looked into, so that spelling finds it.
        states_.push_back({0, 0, child, static_cast<std::uint16_t>(index),
                           static_cast<std::uint8_t>(i), state.slips, false});
        push(states_.size() - 1, other, i + 2, state.cost + slip + costs_.swap, state.slips + 1u);
      }
    }
  }
}

void CorrectionSearch::spell(std::size_t index, FoundWord* out) const {
  std::array<char, kLexiconMaxWordBytes> backwards;
  std::size_t length = 0;
  Lexicon::Node last = Lexicon::kNoNode;
  while (states_[index].node != Lexicon::kRoot && length < backwards.size()) {
    const State& state = states_[index];
    if (state.node != last) {  // an insertion stays where it is
      backwards[length++] = static_cast<char>(lexicon_->label(state.node));
      last = state.node;
    }
    index = state.parent;
  }
  std::reverse_copy(backwards.begin(), backwards.begin() + static_cast<std::ptrdiff_t>(length),
                    out->bytes.begin());
  out->length = static_cast<std::uint8_t>(length);
}

std::span<const FoundWord> CorrectionSearch::find(std::string_view typed, Typing typing,
                                                  float limit) {
  states_.clear();
  heap_.clear();
  ++generation_;
  limit_ = limit;
  std::size_t count = 0;
  push(0, Lexicon::kRoot, 0, 0, 0);
  const auto later = [&](std::uint16_t a, std::uint16_t b) {
    return states_[a].bound != states_[b].bound ? states_[a].bound > states_[b].bound : a > b;
  };
  while (!heap_.empty() && count < kMaxFound) {
    std::pop_heap(heap_.begin(), heap_.end(), later);
    const std::size_t index = heap_.back();
    heap_.pop_back();
    const State& state = states_[index];
    if (!state.is_word) {
      if (first_visit(state)) {
        expand(index, typed, typing);
      }
      continue;
    }
    const std::uint32_t word = lexicon_->word_at(state.node);
    const bool known =
        std::any_of(found_.begin(), found_.begin() + static_cast<std::ptrdiff_t>(count),
                    [&](const FoundWord& f) { return f.word == word; });
    if (word == Lexicon::kNoWord || known) {
      continue;
    }
    FoundWord& found = found_[count++];
    found.word = word;
    found.log_prob = lexicon_->log_prob(word);
    found.log_noise = -state.cost;
    spell(index, &found);
  }
  return std::span(found_).first(count);
}

}  // namespace laya::predict
