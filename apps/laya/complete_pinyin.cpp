#include "laya/complete_pinyin.h"

#include <algorithm>
#include <cstdio>
#include <iostream>

#include "base/clock.h"
#include "base/printable.h"
#include "predict/pinyin/pinyin_session.h"

namespace laya::apps {

void complete_pinyin(const predict::Engine& engine, const CompletePinyin& wanted,
                     Outcome& outcome) {
  auto data = pinyin::load_libime({});
  if (!data) return fail(outcome, data.error());
  const predict::PinyinModel model(engine, std::move(*data));
  predict::PinyinSession session(model);
  if (auto done = session.set_context(wanted.before); !done) return fail(outcome, done.error());
  std::int64_t longest_ns = 0;
  for (const char letter : wanted.letters) {
    const std::int64_t begin = base::monotonic_ns();
    if (auto done = session.type({&letter, 1}); !done) return fail(outcome, done.error());
    session.candidates();
    longest_ns = std::max(longest_ns, base::monotonic_ns() - begin);
  }
  double deep_ms = 0;
  if (!wanted.deep.empty()) {
    const std::int64_t begin = base::monotonic_ns();
    if (auto done = session.reorder(); !done) return fail(outcome, done.error());
    deep_ms = static_cast<double>(base::monotonic_ns() - begin) / 1e6;
  }
  const auto all = session.candidates();
  const auto shown = all.first(std::min(all.size(), wanted.count));
  if (!wanted.json) {
    std::size_t number = 0;
    for (const predict::PinyinCandidate& candidate : shown) {
      std::printf("%zu  %s  (%s, %u letters)\n", ++number,
                  base::printable(std::string(candidate.text)).c_str(),
                  predict::pinyin_kind_name(candidate.kind), unsigned{candidate.consumed});
    }
    std::printf("slowest key %.2f ms", static_cast<double>(longest_ns) / 1e6);
    if (!wanted.deep.empty()) std::printf("; %s %.1f ms", wanted.deep.c_str(), deep_ms);
    std::printf("\n");
    return;
  }
  nlohmann::ordered_json candidates = nlohmann::ordered_json::array();
  for (const predict::PinyinCandidate& candidate : shown) {
    candidates.push_back({{"text", candidate.text},
                          {"consumed", candidate.consumed},
                          {"kind", predict::pinyin_kind_name(candidate.kind)},
                          {"score", candidate.score},
                          {"source", "pinyin"}});
  }
  nlohmann::ordered_json json = {{"letters", session.letters()},
                                 {"candidates", candidates},
                                 {"slowest_key_us", static_cast<double>(longest_ns) / 1e3},
                                 {"deep", nullptr}};
  if (!wanted.deep.empty()) json["deep"] = {{"model", wanted.deep}, {"latency_ms", deep_ms}};
  std::cout << to_line(json) << std::endl;
}

}  // namespace laya::apps
