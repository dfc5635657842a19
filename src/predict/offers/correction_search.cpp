#include "predict/offers/correction_search.h"

#include <algorithm>
#include <limits>

#include "predict/offers/corrector.h"

namespace laya::predict {
namespace {

constexpr float kNever = 1e9F;
constexpr float kOneSlip = 8.6F;    // nats of noise: any single slip but at the first letter
constexpr float kTwoSlips = 13.8F;  // most pairs of them
constexpr float kMoreSlips = 19.0F;
constexpr std::size_t kOnce = 3;   // letters; a word so short has one slip at most
constexpr std::size_t kTwice = 8;  // letters; a longer one may have more than two
constexpr float kSlack = 8.0F;     // nats: less likely words than that would need a lot of context
constexpr std::size_t kCompletions = 2;  // of each way to read what is typed so far

}  // namespace

CorrectionSearch::CorrectionSearch(const Lexicon& lexicon, const NoiseCosts& costs)
    : lexicon_(&lexicon), costs_(costs) {
  const auto letter = [](std::size_t kind) {
    return kind < 26 ? static_cast<std::uint8_t>('a' + kind)
                     : (kind == 26 ? std::uint8_t{'\''} : std::uint8_t{0});
  };
  for (std::size_t meant = 0; meant < kLetters; ++meant) {
    for (std::size_t typed = 0; typed < kLetters; ++typed) {
      substitution_[meant][typed] = meant == kLetterEdge || typed == kLetterEdge
                                        ? kNever
                                        : substitution_cost(costs_, letter(meant), letter(typed));
    }
    omission_[meant] = meant == kLetterEdge ? kNever : omission_cost(costs_, letter(meant), 0, 1);
  }
}

// The row of costs behind path_[0 … depth); returns its least.
float CorrectionSearch::fill_row(std::uint8_t meant, std::size_t depth) {
  const std::size_t n = typed_.size();
  const std::size_t kind = letter_kind(meant);
  const std::uint8_t previous = depth > 1 ? static_cast<std::uint8_t>(path_[depth - 2]) : 0;
  const float first = depth == 1 ? costs_.first : 0;
  const std::size_t begin = depth > kBand ? depth - kBand : 0;
  const std::size_t end = std::min(n, depth + kBand);
  const Row& above = rows_[depth - 1];
  Row& row = rows_[depth];
  const auto& substitution = substitution_[kind];
  float least = kNever;
  if (begin > 0) {
    row[begin - 1] = kNever;
  }
  for (std::size_t i = begin; i <= end; ++i) {
    float omitted = omission_[kind];
    if (meant == previous || (i < n && meant == static_cast<std::uint8_t>(typed_[i]))) {
      omitted = std::min(omitted, costs_.omit_double);
    }
    float cost = above[i] + omitted + first;
    if (i > 0) {
      const float other = substitution[kinds_[i - 1]];
      cost = std::min(cost, above[i - 1] + (other > 0 ? other + first : 0));
      cost = std::min(cost, row[i - 1] + insertion_[i - 1]);
      if (i > 1 && depth > 1 && static_cast<std::uint8_t>(typed_[i - 2]) == meant &&
          static_cast<std::uint8_t>(typed_[i - 1]) == previous && meant != previous) {
        cost =
            std::min(cost, rows_[depth - 2][i - 2] + costs_.swap + (depth == 2 ? costs_.first : 0));
      }
    }
    row[i] = cost;
    least = std::min(least, cost);
  }
  if (end < n) {
    row[end + 1] = kNever;  // the next row reads it
  }
  return least;
}

void CorrectionSearch::add(std::string_view word, std::uint32_t index, float noise) {
  const float log_prob = lexicon_->log_prob(index);
  const float cost = noise - log_prob;
  if (cost > limit_) {
    return;
  }
  std::size_t place = 0;
  while (place < count_ && found_[place].word != index) {
    ++place;
  }
  if (place < count_) {  // the other round found it
    if (found_[place].cost() <= cost) {
      return;
    }
  } else if (count_ < kMaxFound) {
    ++count_;
  } else if (found_.back().cost() > cost) {
    place = kMaxFound - 1;
  } else {
    return;
  }
  while (place > 0 && found_[place - 1].cost() > cost) {
    found_[place] = found_[place - 1];
    --place;
  }
  FoundWord& found = found_[place];
  found.length = static_cast<std::uint8_t>(std::min(word.size(), found.bytes.size()));
  std::copy_n(word.begin(), found.length, found.bytes.begin());
  found.word = index;
  found.log_prob = log_prob;
  found.log_noise = -noise;
  limit_ = std::min(limit_, found_.front().cost() + kSlack);
}

void CorrectionSearch::complete_from(Lexicon::Node node, std::size_t depth, float noise) {
  if (noise - lexicon_->best(node) > limit_) {
    return;
  }
  std::array<Completion, kCompletions> best;
  const std::size_t count = lexicon_->complete({path_.data(), depth}, best);
  for (std::size_t i = 0; i < count; ++i) {
    add(best[i].key(), best[i].word, noise);
  }
}

void CorrectionSearch::found_at(Lexicon::Node node, std::size_t depth, float noise) {
  const std::uint32_t word = lexicon_->word_at(node);
  if (word != Lexicon::kNoWord && !lexicon_->is_silent(word)) {
    add({path_.data(), depth}, word, noise);
  }
}

void CorrectionSearch::walk(Lexicon::Node node, std::size_t depth) {
  if (depth + 1 >= kMaxDepth || depth > typed_.size() + kBand) {
    return;
  }
  const std::size_t n = typed_.size();
  for (Lexicon::Node child = lexicon_->first_child(node); child != Lexicon::kNoNode;
       child = lexicon_->next_sibling(child)) {
    const float best = lexicon_->best(child);
    const std::uint8_t meant = lexicon_->label(child);
    path_[depth] = static_cast<char>(meant);
    const std::size_t now = depth + 1;
    const float least = fill_row(meant, now);
    if (least > noise_limit_ || least - best > limit_) {
      continue;
    }
    const float noise = n + kBand >= now && n <= now + kBand ? rows_[now][n] : kNever;
    if (noise > 0 && noise <= noise_limit_ && noise - best <= limit_) {
      found_at(child, now, noise);
      // What its parent completes as well, and no dearer, is the parent's.
      if (completes_ && !(depth > 0 && n <= depth + kBand && rows_[depth][n] <= noise)) {
        complete_from(child, now, noise);
      }
    }
    walk(child, now);
  }
}

std::span<const FoundWord> CorrectionSearch::find(std::string_view typed, Typing typing,
                                                  float limit) {
  typed_ = typed.substr(0, kMaxTyped);
  completes_ = typing == Typing::Open;
  limit_ = limit;
  count_ = 0;
  const std::size_t n = typed_.size();
  const auto letter = [&](std::size_t at) {
    return at < n ? static_cast<std::uint8_t>(typed_[at]) : std::uint8_t{0};
  };
  rows_[0].fill(kNever);
  rows_[0][0] = 0;
  for (std::size_t i = 0; i < n; ++i) {
    kinds_[i] = static_cast<std::uint8_t>(letter_kind(letter(i)));
    insertion_[i] =
        insertion_cost(costs_, letter(i), i > 0 ? letter(i - 1) : std::uint8_t{0}, letter(i + 1)) +
        (i == 0 ? costs_.first : 0);
    if (i < kBand) {
      rows_[0][i + 1] = rows_[0][i] + insertion_[i];
    }
  }
  noise_limit_ = kOneSlip;
  walk(Lexicon::kRoot, 0);
  if (n > kOnce) {
    noise_limit_ = kTwoSlips;
    walk(Lexicon::kRoot, 0);
  }
  if (n > kTwice && count_ == 0) {
    noise_limit_ = kMoreSlips;
    walk(Lexicon::kRoot, 0);
  }
  return std::span(found_).first(count_);
}

}  // namespace laya::predict
