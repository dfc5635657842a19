#include "laya/bench/bench_keys.h"

#include <algorithm>
#include <vector>

#include "base/allocation_counter.h"
#include "base/clock.h"
#include "predict/session/session.h"
#include "text/grapheme.h"
#include "text/incremental.h"

namespace laya::apps {
namespace {

constexpr std::size_t kCandidates = 5;
constexpr std::size_t kBackspaceEvery = 17;  // as people do: a few percent of keys

Error broken(const char* promise) {
  return {ErrorCode::Internal, std::string("bench: a reply broke its promise: ") + promise};
}

struct Pass {
  observe::LatencyHistogram whole;
  observe::LatencyHistogram edit;
  observe::LatencyHistogram ghost;
  std::uint64_t allocations = 0;
  std::uint64_t answers = 0;  ///< hash of all replies
};

Status run_pass(predict::Session& session, const std::vector<Stroke>& strokes, predict::Want ghost,
                Pass& pass) {
  std::string before;
  before.reserve(1u << 20);
  session.set_text({});
  std::uint64_t revision = 0;
  pass.answers = 0;
  const base::AllocationScope scope;
  for (const Stroke& stroke : strokes) {
    predict::Edit edit;
    edit.revision = ++revision;
    edit.erase_before = stroke.erase;
    edit.insert = stroke.insert;
    predict::DecideOptions options;
    options.candidates = kCandidates;
    options.ghost = ghost;
    options.deep = predict::Want::No;
    const std::int64_t start = base::monotonic_ns();
    const Status edited = session.edit(edit);
    const predict::Reply& reply = session.decide(options);
    pass.whole.record(base::monotonic_ns() - start);
    if (!edited) return edited.error();
    pass.edit.record(static_cast<std::int64_t>(reply.latency.edit_us * 1000));
    if (reply.has_ghost) {
      pass.ghost.record(static_cast<std::int64_t>(reply.latency.ghost_us * 1000));
    }
    before.erase(before.size() - stroke.erase);
    before += stroke.insert;
    if (Status status = check_reply(reply, revision, before); !status) return status;
    pass.answers = hash_of(reply, pass.answers);
  }
  pass.allocations = scope.count();
  return {};
}

void time_tokeniser(const text::Tokenizer& tokenizer, const std::vector<Stroke>& strokes,
                    observe::LatencyHistogram& histogram) {
  text::IncrementalTokenizer editor(tokenizer, 1u << 16);
  for (const Stroke& stroke : strokes) {
    const std::int64_t start = base::monotonic_ns();
    editor.replace(editor.text().size() - stroke.erase, stroke.erase, stroke.insert);
    histogram.record(base::monotonic_ns() - start);
  }
}

}  // namespace

std::vector<Stroke> strokes_of(std::string_view text) {
  std::vector<Stroke> strokes;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text::next_grapheme(text, at);
    const std::string cluster(text.substr(at, end - at));
    strokes.push_back({0, cluster});
    if (strokes.size() % kBackspaceEvery == 0) {
      strokes.push_back({cluster.size(), ""});
      strokes.push_back({0, cluster});
    }
    at = end;
  }
  return strokes;
}

Status check_reply(const predict::Reply& reply, std::uint64_t revision, std::string_view before) {
  if (reply.revision != revision) {
    return broken("the revision is the edit's");
  }
  for (std::size_t i = 0; i < reply.candidates.size(); ++i) {
    const predict::Candidate& candidate = reply.candidates[i];
    if (!candidate.text.ends_with(candidate.insert) ||
        !before.ends_with(
            candidate.text.substr(0, candidate.text.size() - candidate.insert.size()))) {
      return broken("typed prefix + insert == text");
    }
    if (!(candidate.log_prob <= 0)) {
      return broken("log probabilities are not above 0");
    }
  }
  if (reply.has_ghost && reply.ghost.text.empty()) {
    return broken("a ghost has text");
  }
  return {};
}

std::uint64_t hash_of(const predict::Reply& reply, std::uint64_t hash) {
  const auto mix = [&](std::string_view text) {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  };
  for (const predict::Candidate& candidate : reply.candidates) mix(candidate.text);
  if (reply.has_ghost) mix(reply.ghost.text);
  return hash;
}

Quantiles quantiles_us(const observe::LatencyHistogram& histogram) {
  const observe::LatencySummary s = histogram.summary();
  const auto us = [](std::uint64_t ns) { return static_cast<double>(ns) / 1000; };
  return {us(s.p50_ns), us(s.p95_ns), us(s.p99_ns), us(s.max_ns)};
}

Result<KeyTimes> time_keys(const predict::Engine& engine, std::string_view text) {
  const std::vector<Stroke> strokes = strokes_of(text);
  predict::Session session(engine);
  session.warm_up();
  Pass warm_up;
  Pass list;
  Pass whole;
  if (Status s = run_pass(session, strokes, predict::Want::Yes, warm_up); !s) return s.error();
  if (Status s = run_pass(session, strokes, predict::Want::No, list); !s) return s.error();
  session.clear();
  if (Status s = run_pass(session, strokes, predict::Want::Yes, whole); !s) return s.error();
  Pass again;
  session.clear();
  if (Status s = run_pass(session, strokes, predict::Want::Yes, again); !s) return s.error();
  if (again.answers != whole.answers) {
    return broken("the same keys give the same answers");
  }
  KeyTimes times;
  times.keys = whole.whole.count();
  times.edit = quantiles_us(whole.edit);
  times.candidates = quantiles_us(list.whole);
  times.ghost = quantiles_us(whole.ghost);
  times.key = quantiles_us(whole.whole);
  times.allocations = list.allocations + whole.allocations;
  if (engine.tokenizer() != nullptr) {
    observe::LatencyHistogram tokenise;
    time_tokeniser(*engine.tokenizer(), strokes, tokenise);
    times.tokenise = quantiles_us(tokenise);
  }
  return times;
}

std::string worst_cases() {
  return "ssssssssssssssssssss zhzhzhzhzhzhzh aaaa bbbb eeee tttt iiii "
         "I'm sure it's internationalisation, uncharacteristically counterrevolutionary!\n"
         "用Python写的程序，跑得很快。 ok 好的 no problem，明天见 bye bye\n"
         "W w Wh wh Wha what What's wha 3.14 2024-11-29 10:30 a@b.example www.example.org\n"
         "的的的的的的的的 一一一一 ，，，， 。。 👍👍🏽 "
         "👨‍👩‍👧 "
         "é "
         "ü "
         "ñ\n";
}

}  // namespace laya::apps
