// Times what a key costs from end to end and by stage, and checks on the way that the answers are
// what they should be.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "observe/latency_histogram.h"
#include "predict/engine/engine.h"
#include "predict/source/field_names.h"

namespace laya::apps {

/// One measurement in microseconds, as the JSON shows it.
struct Quantiles {
  double p50 = 0;
  double p95 = 0;
  double p99 = 0;
  double max = 0;
};

Quantiles quantiles_us(const observe::LatencyHistogram& histogram);

struct KeyTimes {
  std::uint64_t keys = 0;
  Quantiles edit;                 ///< applying the edit: tokenising, cutting back
  Quantiles tokenise;             ///< of this, IncrementalTokenizer alone
  Quantiles candidates;           ///< from the edit to five candidates, model steps included
  Quantiles ghost;                ///< the phrase search alone, at keys that have a ghost
  Quantiles key;                  ///< from the edit to candidates and ghost
  std::uint64_t allocations = 0;  ///< calls of operator new in all keys after warm-up
};

/// Types `text` character by character, with Backspaces, twice: for the list alone, and with the
/// ghost. Internal when a reply breaks its promises (prefix + insert == text, order, revision) or
/// when the same keys give another answer the second time.
Result<KeyTimes> time_keys(const predict::Engine& engine, std::string_view text);

/// One key of a script.
struct Stroke {
  std::size_t erase = 0;  ///< bytes before the caret
  std::string insert;
};
/// `text` cluster by cluster, with a Backspace now and then.
std::vector<Stroke> strokes_of(std::string_view text);

/// Internal unless `reply` keeps its promises for the text `before` the caret.
Status check_reply(const predict::Reply& reply, std::uint64_t revision, std::string_view before);
/// `hash` carried on over what `reply` offers.
std::uint64_t hash_of(const predict::Reply& reply, std::uint64_t hash);

/// A text that is hard on prediction: growing prefixes, runs of one letter, mixed scripts, long
/// words.
std::string worst_cases();

}  // namespace laya::apps
