#include "eval/evaluate_correct.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "base/utf8.h"
#include "eval/interval_json.h"
#include "text/units.h"

namespace laya::eval {
namespace {

constexpr std::size_t kMaxPairs = 10'000'000;
constexpr std::size_t kShown = 3;
constexpr std::size_t kProgressStep = 64;

double share_of(std::uint64_t part, std::uint64_t all) {
  return all == 0 ? 0 : static_cast<double>(part) / static_cast<double>(all);
}

}  // namespace

Result<std::vector<CorrectPair>> parse_correct_pairs(std::string_view text) {
  std::vector<CorrectPair> pairs;
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t newline = text.find('\n');
    std::string_view line = text.substr(0, newline);
    text.remove_prefix(newline == std::string_view::npos ? text.size() : newline + 1);
    ++number;
    if (line.ends_with('\r')) {
      line.remove_suffix(1);
    }
    if (line.empty() || line.front() == '#') {
      continue;
    }
    const auto corrupt = [&](const char* what) {
      return Error{ErrorCode::Corrupt, "line " + std::to_string(number) + ": " + what +
                                           "; wanted typed<TAB>expected[<TAB>before]"};
    };
    const std::size_t tab = line.find('\t');
    if (tab == std::string_view::npos || tab == 0) {
      return corrupt(tab == 0 ? "nothing typed" : "no tab");
    }
    const std::size_t second = line.find('\t', tab + 1);
    CorrectPair pair;
    pair.typed = line.substr(0, tab);
    pair.expected =
        line.substr(tab + 1, second == std::string_view::npos ? second : second - tab - 1);
    pair.before = second == std::string_view::npos ? "" : line.substr(second + 1);
    if (pair.expected.empty()) {
      return corrupt("nothing expected");
    }
    if (pairs.size() == kMaxPairs) {
      return Error{ErrorCode::TooLarge, "more than 10 million pairs; give fewer"};
    }
    pairs.push_back(std::move(pair));
  }
  return pairs;
}

Result<CorrectResult> evaluate_correct(std::span<const CorrectPair> pairs,
                                       const Correcting& correcting, const Progress& progress) {
  CorrectResult result;
  result.us.reserve(pairs.size());
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const CorrectPair& pair = pairs[i];
    const auto start = std::chrono::steady_clock::now();
    const auto offered = correcting(pair.before, pair.typed);
    const std::chrono::duration<float, std::micro> took = std::chrono::steady_clock::now() - start;
    if (!offered) {
      return offered.error();
    }
    result.us.push_back(took.count());
    ++result.pairs;
    result.silent += offered->empty() ? 1 : 0;
    const std::string expected = lowered(pair.expected);
    const auto shown = offered->first(std::min(kShown, offered->size()));
    const auto found = std::find_if(shown.begin(), shown.end(), [&](const std::string& word) {
      return lowered(word) == expected;
    });
    result.top1 += found == shown.begin() && found != shown.end() ? 1 : 0;
    result.top3 += found != shown.end() ? 1 : 0;
    if (found == shown.end()) {
      result.missed.push_back(i);
    }
    if (progress && i % kProgressStep == 0) {
      progress(i, pairs.size());
    }
  }
  if (progress) {
    progress(pairs.size(), pairs.size());
  }
  std::sort(result.us.begin(), result.us.end());
  return result;
}

Result<CleanResult> evaluate_clean(std::span<const std::string> lines, const Correcting& correcting,
                                   const Progress& progress) {
  CleanResult result;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string_view line = lines[i];
    text::Unit unit;
    for (std::size_t offset = 0; text::next_unit(line, offset, &unit); offset = unit.end) {
      if (unit.kind != text::UnitKind::Word) {
        continue;
      }
      const std::string_view word = line.substr(unit.begin, unit.end - unit.begin);
      const auto offered = correcting(line.substr(0, unit.begin), word);
      if (!offered) {
        return offered.error();
      }
      ++result.words;
      if (!offered->empty()) {
        ++result.flagged;
        result.flags.push_back(std::string(word) + " > " + offered->front());
      }
    }
    if (progress) {
      progress(i + 1, lines.size());
    }
  }
  return result;
}

std::string to_json(const CorrectResult& result) {
  nlohmann::ordered_json json;
  json["pairs"] = result.pairs;
  json["top1"] = result.share(result.top1);
  json["top1_interval"] = to_json(wilson(result.top1, result.pairs));
  json["top3"] = result.share(result.top3);
  json["top3_interval"] = to_json(wilson(result.top3, result.pairs));
  json["silent"] = result.share(result.silent);
  json["us"] = {{"p50", result.percentile(0.5)}, {"p99", result.percentile(0.99)}};
  return json.dump();
}

std::string to_json(const CleanResult& result) {
  nlohmann::ordered_json json;
  json["words"] = result.words;
  json["flagged"] = share_of(result.flagged, result.words);
  json["flagged_interval"] = to_json(wilson(result.flagged, result.words));
  return json.dump();
}

}  // namespace laya::eval
