#include "laya-train/eval/compare_words.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/utf8.h"
#include "common/model_options.h"
#include "predict/list/han_search.h"
#include "predict/session/session.h"
#include "predict/source/source.h"

namespace laya::apps {
namespace {

constexpr std::size_t kShown = 3;
constexpr std::size_t kPlacesPerLine = 4;
constexpr std::size_t kLongestLine = 600;  // bytes; a context is at most so long

bool is_han(char32_t c) { return c >= 0x3400 && c <= 0x9FFF; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// Where a word or a character is to be guessed: at most kPlacesPerLine, spread over the line.
std::vector<std::size_t> places_of(std::string_view line) {
  std::vector<std::size_t> places;
  char32_t before = 0;
  std::size_t at = 0;
  for (const base::Decoded& decoded : base::CodePoints(line.substr(0, kLongestLine))) {
    const bool word = before == ' ' && is_letter(line[at]);
    if (at > 0 && (word || (is_han(before) && is_han(decoded.code_point)))) places.push_back(at);
    before = decoded.code_point;
    at += decoded.length;
  }
  if (places.size() <= kPlacesPerLine) return places;
  std::vector<std::size_t> spread;
  for (std::size_t k = 0; k < kPlacesPerLine; ++k) {
    spread.push_back(places[(2 * k + 1) * places.size() / (2 * kPlacesPerLine)]);
  }
  return spread;
}

using Shown = std::vector<std::string>;

struct Answer {
  Shown list;  ///< what three slots show
  Shown deep;  ///< the decoder's own likeliest
};

std::string text_of(char32_t code_point) {
  std::string text;
  base::append_utf8(code_point, text);
  return text;
}

/// The words of the pool that the decoder finds likeliest, ties by text.
Shown best_by_decoder(const predict::Session& session) {
  std::vector<std::pair<float, std::string>> words;
  for (const predict::PoolWord& word : session.pool()) {
    words.emplace_back(-word.log_p_deep, std::string(word.key));
  }
  std::ranges::sort(words);
  Shown best;
  for (std::size_t i = 0; i < std::min(kShown, words.size()); ++i) best.push_back(words[i].second);
  return best;
}

Answer ask(predict::Session& session, std::string_view before, std::uint64_t revision) {
  Answer answer;
  session.set_text({.revision = revision, .before = before});
  const predict::Reply& reply = session.decide(
      {.candidates = kShown, .ghost = predict::Want::No, .deep_wait_us = predict::kUntilDone});
  const bool han = !before.ends_with(' ');
  if (!han) {
    for (const auto& candidate : reply.candidates) answer.list.emplace_back(candidate.text);
    answer.deep = best_by_decoder(session);
    return answer;
  }
  std::array<predict::NextHan, kShown> next{};
  const std::size_t count = session.next_han(next);
  for (std::size_t i = 0; i < count; ++i) answer.list.push_back(text_of(next[i].code_point));
  answer.deep = answer.list;
  return answer;
}

bool same_set(Shown a, Shown b) {
  std::ranges::sort(a);
  std::ranges::sort(b);
  return a == b;
}

struct Place {
  std::size_t line, at;
};

/// `contexts` places, all over the lines.
std::vector<Place> choose(std::span<const std::string_view> lines, std::size_t contexts) {
  std::vector<Place> all;
  for (std::size_t line = 0; line < lines.size(); ++line) {
    for (const std::size_t at : places_of(lines[line])) all.push_back({line, at});
  }
  if (all.size() <= contexts) return all;
  std::vector<Place> chosen;
  for (std::size_t i = 0; i < contexts; ++i) chosen.push_back(all[i * all.size() / contexts]);
  return chosen;
}

}  // namespace

Result<WordsCompared> compare_words(const std::string& model, const std::string& first,
                                    const std::string& second,
                                    std::span<const std::string_view> lines, std::size_t contexts,
                                    const std::function<void(double done)>& progress) {
  const std::vector<Place> places = choose(lines, contexts);
  if (places.empty()) {
    return Error{ErrorCode::BadArgument, "the text has no place to compare words at"};
  }
  std::vector<Answer> answers;  // of the first
  WordsCompared result;
  for (const std::string& deep : {first, second}) {
    const bool is_second = !answers.empty();
    setup::ModelOptions options;
    if (!model.empty()) options.paths = {model};
    // A path without '/' would be taken for the name of an installed model.
    options.deep = deep.find('/') == std::string::npos ? "./" + deep : deep;
    options.threads = 2;
    const auto engine = open_engine(options);
    if (!engine) return engine.error();
    predict::Session session(**engine);
    for (std::size_t i = 0; i < places.size(); ++i) {
      const Answer answer = ask(session, lines[places[i].line].substr(0, places[i].at), i + 1);
      if (is_second) {
        result.same_top3 += same_set(answer.list, answers[i].list) ? 1 : 0;
        result.same_order += answer.list == answers[i].list ? 1 : 0;
        result.same_deep_top3 += same_set(answer.deep, answers[i].deep) ? 1 : 0;
      } else {
        answers.push_back(answer);
      }
      const double share = static_cast<double>(i) / static_cast<double>(places.size());
      progress((share + (is_second ? 1 : 0)) / 2);
    }
  }
  result.contexts = places.size();
  const auto count = static_cast<double>(places.size());
  result.same_top3 /= count;
  result.same_order /= count;
  result.same_deep_top3 /= count;
  return result;
}

}  // namespace laya::apps
