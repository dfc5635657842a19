#include "eval/evaluate_pinyin.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/utf8.h"
#include "eval/edit_distance.h"
#include "eval/interval_json.h"
#include "eval/quantile.h"
#include "text/script.h"

namespace laya::eval {
namespace {

std::u32string code_points(std::string_view text) {
  std::u32string points;
  for (const base::Decoded& code : base::CodePoints(text)) points += code.code_point;
  return points;
}

/// What of `expected` is typed.
std::u32string spoken(std::string_view expected) {
  std::u32string points = code_points(expected);
  std::erase_if(points, [](char32_t point) {
    const text::Script script = text::script_of(point);
    return script == text::Script::Punctuation || script == text::Script::Space;
  });
  return points;
}

std::string keys_of(std::string_view typed) {
  std::string keys;
  for (const char key : typed) {
    const bool cut = key == ' ' || key == '\'';
    if (!cut) {
      keys += key;
    } else if (!keys.empty() && keys.back() != '\'') {
      keys += '\'';
    }
  }
  while (keys.ends_with('\'')) keys.pop_back();
  return keys;
}

}  // namespace

Result<PinyinResult> evaluate_pinyin(const std::vector<NbestSentence>& sentences,
                                     const PinyinTypist& typist, const PinyinEvalOptions& options) {
  const std::size_t count = options.max_sentences == 0
                                ? sentences.size()
                                : std::min(options.max_sentences, sentences.size());
  if (count == 0) {
    return Error{ErrorCode::BadArgument, "pinyin: no sentences"};
  }
  PinyinResult result;
  result.sentences = count;
  std::vector<std::int64_t> keys;
  std::vector<std::int64_t> deep;
  std::uint64_t first = 0;
  std::uint64_t five = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (options.progress) {
      options.progress(i, count);
    }
    const std::u32string wanted = spoken(sentences[i].expected);
    const Result<PinyinAnswer> answer = typist(keys_of(sentences[i].typed), sentences[i].before);
    if (!answer) return answer.error();
    std::size_t rank = 5;
    for (std::size_t c = std::min<std::size_t>(5, answer->first.size()); c-- > 0;) {
      rank = code_points(answer->first[c]) == wanted ? c : rank;
    }
    first += rank == 0 ? 1 : 0;
    five += rank < 5 ? 1 : 0;
    const std::u32string got =
        answer->first.empty() ? std::u32string() : code_points(answer->first[0]);
    const auto length = static_cast<double>(wanted.size());
    result.right.push_back({rank == 0 ? 1.0 : 0.0, 1});
    result.characters.push_back(
        {std::max(0.0, length - static_cast<double>(edit_distance(wanted, got))), length});
    keys.insert(keys.end(), answer->key_ns.begin(), answer->key_ns.end());
    if (answer->deep_ns >= 0) {
      deep.push_back(answer->deep_ns);
    }
  }
  const auto all = static_cast<double>(count);
  result.p_at_1 = static_cast<double>(first) / all;
  result.p_at_5 = static_cast<double>(five) / all;
  result.char_accuracy = ratio(result.characters);
  result.p_at_1_interval = wilson(first, count);
  result.p_at_5_interval = wilson(five, count);
  result.char_accuracy_interval = bootstrap(result.characters);
  result.key_us_p50 = quantile(keys, 0.5) / 1e3;
  result.key_us_p99 = quantile(keys, 0.99) / 1e3;
  result.deep_ms_p50 = quantile(deep, 0.5) / 1e6;
  result.deep_ms_p99 = quantile(deep, 0.99) / 1e6;
  return result;
}

PinyinTypist our_typist(const predict::PinyinModel& model, PinyinTiers tiers,
                        const predict::PinyinOptions& options) {
  // Shared: std::function copies what it holds.
  auto session = std::make_shared<predict::PinyinSession>(model, options);
  return [session, tiers](const std::string& typed,
                          const std::string& before) -> Result<PinyinAnswer> {
    PinyinAnswer answer;
    if (auto done = session->set_context(before); !done) {
      return done.error();
    }
    for (const char key : typed) {
      const std::int64_t begin = base::monotonic_ns();
      if (auto done = session->type({&key, 1}); !done) {
        return done.error();
      }
      session->candidates();
      answer.key_ns.push_back(base::monotonic_ns() - begin);
    }
    if (tiers == PinyinTiers::Both) {
      const std::int64_t begin = base::monotonic_ns();
      if (auto done = session->reorder(); !done) {
        return done.error();
      }
      answer.deep_ns = base::monotonic_ns() - begin;
    }
    for (const predict::PinyinCandidate& candidate : session->candidates()) {
      if (answer.first.size() < 5) {
        answer.first.emplace_back(candidate.text);
      }
    }
    return answer;
  };
}

std::string to_json(const PinyinResult& result) {
  nlohmann::ordered_json json = {
      {"sentences", result.sentences},
      {"p_at_1", result.p_at_1},
      {"p_at_5", result.p_at_5},
      {"char_accuracy", result.char_accuracy},
      {"key_us", {{"p50", result.key_us_p50}, {"p99", result.key_us_p99}}},
      {"p_at_1_interval", to_json(result.p_at_1_interval)},
      {"p_at_5_interval", to_json(result.p_at_5_interval)},
      {"char_accuracy_interval", to_json(result.char_accuracy_interval)}};
  if (result.deep_ms_p99 > 0) {
    json["deep_ms"] = {{"p50", result.deep_ms_p50}, {"p99", result.deep_ms_p99}};
  }
  return json.dump();
}

std::string difference_to_json(const PinyinResult& a, const PinyinResult& b) {
  const nlohmann::ordered_json json = {
      {"p_at_1", a.p_at_1 - b.p_at_1},
      {"p_at_1_interval", to_json(bootstrap_difference(a.right, b.right))},
      {"p_at_5", a.p_at_5 - b.p_at_5},
      {"char_accuracy", a.char_accuracy - b.char_accuracy},
      {"char_accuracy_interval", to_json(bootstrap_difference(a.characters, b.characters))}};
  return json.dump();
}

}  // namespace laya::eval
