#include "eval/peer_measure.h"

#include <algorithm>
#include <memory>

#include "base/clock.h"
#include "base/utf8.h"
#include "eval/quantile.h"
#include "predict/session/session.h"

namespace laya::eval {
namespace {

bool is_measured_han(char32_t c) { return c >= 0x4E00 && c <= 0x9FFF; }

/// One word typed with lists of up to options.slots: what each length of the list saves.
class Typed {
 public:
  explicit Typed(const std::vector<std::size_t>& slots) : slots_(slots), found_(slots.size(), 0) {}

  /// Counts a list that was offered after `typed` letters. True when every length has found it.
  bool offer(const std::vector<std::string>& list, const std::string& wanted, std::uint64_t typed,
             KsrResult* result, std::vector<std::uint64_t>* used) {
    bool all = true;
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      if (found_[i] != 0) continue;
      const auto end = list.begin() + static_cast<std::ptrdiff_t>(std::min(slots_[i], list.size()));
      if (std::any_of(list.begin(), end,
                      [&](const std::string& word) { return lowered(word) == wanted; })) {
        found_[i] = 1;
        (*used)[i] = typed + 1;
        result->slots[i].next_word_hits += typed == 0 ? 1 : 0;
      } else {
        all = false;
      }
    }
    return all;
  }

 private:
  const std::vector<std::size_t>& slots_;
  std::vector<char> found_;
};

/// Types the lines once with the list lengths `slots` (places in result->slots).
Status type_lines(Predictor& predictor, const std::vector<std::string_view>& lines,
                  const std::vector<std::size_t>& slots, const KsrOptions& options,
                  std::size_t done_before, std::size_t total, std::vector<double>* key_us,
                  KsrResult* result) {
  const std::size_t longest = *std::max_element(slots.begin(), slots.end());
  for (std::size_t n = 0; n < lines.size(); ++n) {
    const std::string line =
        options.letter_case == EvalCase::LowerCased ? lowered(lines[n]) : std::string(lines[n]);
    const std::vector<std::string_view> words = words_of(line);
    if (Status status = predictor.new_line(); !status) return status;
    std::vector<Part> parts(slots.size());
    std::string before;
    for (std::size_t i = 0; i < words.size(); ++i) {
      const std::string wanted = lowered(words[i]);
      const std::uint64_t space = i + 1 < words.size() ? 1 : 0;
      const std::uint64_t letters = base::count_code_points(words[i]);
      result->keystrokes += letters + space;
      ++result->words;
      std::vector<std::uint64_t> used(slots.size(), letters + space);
      Typed word(slots);
      std::size_t offset = 0;
      for (std::uint64_t typed = 0; typed < letters; ++typed) {
        const std::int64_t begin = base::monotonic_ns();
        const auto list = predictor.offers(before, longest);
        if (!list) return list.error();
        key_us->push_back(static_cast<double>(base::monotonic_ns() - begin) / 1000);
        if (word.offer(*list, wanted, typed, result, &used)) break;
        const std::size_t length = base::decode_utf8(words[i].substr(offset)).length;
        before += words[i].substr(offset, length);
        offset += length;
      }
      before += words[i].substr(offset);
      if (space != 0) before += ' ';
      for (std::size_t s = 0; s < slots.size(); ++s) {
        result->slots[s].keys_used += used[s];
        parts[s].above += static_cast<double>(letters + space) - static_cast<double>(used[s]);
        parts[s].below += static_cast<double>(letters + space);
      }
    }
    for (std::size_t s = 0; s < slots.size(); ++s) result->slots[s].parts.push_back(parts[s]);
    if (options.progress) options.progress(done_before + n + 1, total);
  }
  return {};
}

Status check(const KsrOptions& options, std::size_t lines) {
  if (options.slots.empty() || lines == 0) {
    return Error{ErrorCode::BadArgument, "eval peers: no slot count, or no line that is not blank"};
  }
  for (const std::size_t slots : options.slots) {
    if (slots < 1 || slots > predict::Reply::kMaxCandidates) {
      return Error{ErrorCode::BadArgument, "eval peers: " + std::to_string(slots) +
                                               " slots; allowed are 1 to " +
                                               std::to_string(predict::Reply::kMaxCandidates)};
    }
  }
  return {};
}

}  // namespace

Result<KsrResult> measure_keystrokes(Predictor& predictor, const std::vector<std::string>& lines,
                                     const KsrOptions& options) {
  const std::vector<std::string_view> chosen = chosen_lines(lines, options.max_lines);
  if (Status status = check(options, chosen.size()); !status) return status.error();
  KsrResult result;
  std::vector<double> key_us;
  // Passes: all lengths in one, or one each.
  std::vector<std::vector<std::size_t>> passes;
  if (predictor.remembers()) {
    for (const std::size_t slots : options.slots) passes.push_back({slots});
  } else {
    passes.push_back(options.slots);
  }
  for (std::size_t i = 0; i < passes.size(); ++i) {
    KsrResult pass;
    pass.slots.resize(passes[i].size());
    for (std::size_t s = 0; s < passes[i].size(); ++s) pass.slots[s].slots = passes[i][s];
    if (Status status = type_lines(predictor, chosen, passes[i], options, i * chosen.size(),
                                   passes.size() * chosen.size(), &key_us, &pass);
        !status) {
      return status.error();
    }
    result.words = pass.words;
    result.keystrokes = pass.keystrokes;
    for (KsrResult::Slot& slot : pass.slots) {
      slot.saved = ratio(slot.parts);
      slot.saved_interval = bootstrap(slot.parts);
      result.slots.push_back(std::move(slot));
    }
  }
  result.lines = chosen.size();
  result.key_us_p50 = quantile(key_us, 0.5);
  result.key_us_p99 = quantile(key_us, 0.99);
  return result;
}

Result<NextCharResult> measure_next_characters(Predictor& predictor,
                                               const std::vector<std::string>& lines,
                                               const NextCharOptions& options) {
  constexpr std::size_t kLooked = 3;
  const std::vector<std::string_view> chosen = chosen_lines(lines, options.max_lines);
  if (chosen.empty()) {
    return Error{ErrorCode::BadArgument, "eval peers: the text has no line that is not blank"};
  }
  NextCharResult result;
  result.lines = chosen.size();
  std::vector<Part> top1;
  std::vector<Part> top3;
  for (std::size_t n = 0; n < chosen.size(); ++n) {
    if (Status status = predictor.new_line(); !status) return status.error();
    Part one;
    Part three;
    for (std::size_t offset = 0; offset < chosen[n].size();) {
      const base::Decoded code = base::decode_utf8(chosen[n].substr(offset));
      if (is_measured_han(code.code_point)) {
        const auto list = predictor.offers(chosen[n].substr(0, offset), kLooked);
        if (!list) return list.error();
        const auto found = static_cast<std::size_t>(
            std::find(list->begin(), list->end(), chosen[n].substr(offset, code.length)) -
            list->begin());
        ++result.characters;
        one.above += found == 0 && !list->empty() ? 1 : 0;
        three.above += found < std::min(list->size(), kLooked) ? 1 : 0;
        ++one.below;
        ++three.below;
      }
      offset += code.length;
    }
    result.top1 += static_cast<std::uint64_t>(one.above);
    result.top3 += static_cast<std::uint64_t>(three.above);
    top1.push_back(one);
    top3.push_back(three);
    if (options.progress) options.progress(n + 1, chosen.size());
  }
  result.top1_interval = bootstrap(top1);
  result.top3_interval = bootstrap(top3);
  return result;
}

Result<WordStartResult> measure_word_starts(Predictor& predictor,
                                            const std::vector<MarkedLine>& lines,
                                            const Progress& progress) {
  constexpr std::size_t kLooked = 3;
  WordStartResult result;
  std::vector<Part> top1;
  std::uint64_t exact = 0;
  std::uint64_t silent = 0;
  for (std::size_t n = 0; n < lines.size(); ++n) {
    const MarkedLine& line = lines[n];
    const std::string_view text = line.text;
    if (Status status = predictor.new_line(); !status) return status.error();
    Part one;
    Part three;
    for (std::size_t i = 0; i < line.word_starts.size(); ++i) {
      const std::size_t start = line.word_starts[i];
      if (start == 0) continue;
      const auto list = predictor.offers(text.substr(0, start), kLooked);
      if (!list) return list.error();
      const std::string_view rest = text.substr(start);
      // A word ends where the next begins, or where its Han run does.
      std::size_t length = 0;
      while (length < rest.size()) {
        const base::Decoded code = base::decode_utf8(rest.substr(length));
        const bool next_starts =
            i + 1 < line.word_starts.size() && start + length == line.word_starts[i + 1];
        if (next_starts || !is_measured_han(code.code_point)) break;
        length += code.length;
      }
      const auto goes_on = [&](const std::string& offer) {
        return !offer.empty() && rest.starts_with(offer);
      };
      const std::size_t count = std::min(list->size(), kLooked);
      const auto end = list->begin() + static_cast<std::ptrdiff_t>(count);
      one.above += count > 0 && goes_on(list->front()) ? 1 : 0;
      three.above += std::any_of(list->begin(), end, goes_on) ? 1 : 0;
      exact += std::find(list->begin(), end, rest.substr(0, length)) != end ? 1 : 0;
      silent += list->empty() ? 1 : 0;
      ++one.below;
      ++three.below;
      ++result.places;
    }
    top1.push_back(one);
    result.top3_parts.push_back(three);
    if (progress) progress(n + 1, lines.size());
  }
  if (result.places == 0) {
    return Error{ErrorCode::BadArgument, "eval peers: the text has no Chinese word start"};
  }
  const auto all = static_cast<double>(result.places);
  result.top1 = ratio(top1);
  result.top3 = ratio(result.top3_parts);
  result.top3_interval = bootstrap(result.top3_parts);
  result.exact3 = static_cast<double>(exact) / all;
  result.silent = static_cast<double>(silent) / all;
  return result;
}

struct EnginePredictor::Impl {
  explicit Impl(const predict::Engine& engine) : session(engine) {}
  predict::Session session;
  std::uint64_t revision = 0;
};

EnginePredictor::EnginePredictor(const predict::Engine& engine)
    : impl_(std::make_unique<Impl>(engine)) {}
EnginePredictor::~EnginePredictor() = default;

Status EnginePredictor::new_line() {
  impl_->session.clear();
  return {};
}

Result<std::vector<std::string>> EnginePredictor::offers(std::string_view before,
                                                         std::size_t count) {
  impl_->session.set_text({.revision = ++impl_->revision, .before = before, .after = {}});
  const predict::Reply& reply = impl_->session.decide(
      {.candidates = count, .ghost = predict::Want::No, .deep_wait_us = predict::kUntilDone});
  std::vector<std::string> list;
  for (const predict::Candidate& candidate : reply.candidates) list.emplace_back(candidate.text);
  return list;
}

}  // namespace laya::eval
