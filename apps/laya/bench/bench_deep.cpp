#include "laya/bench/bench_deep.h"

#include <algorithm>
#include <cstdio>
#include <string>

#include "base/clock.h"
#include "eval/lines.h"
#include "observe/memory_figures.h"
#include "predict/deep/deep_model.h"
#include "predict/session/session.h"

namespace laya::apps {
namespace {

constexpr std::size_t kCandidates = 5;

struct Pass {
  observe::LatencyHistogram all;
  observe::LatencyHistogram with_pass;
  std::uint64_t in_frame = 0;
  std::uint64_t answers = 0;
};

Status run_pass(predict::Session& session, const std::vector<Stroke>& strokes,
                std::int32_t deep_wait_us, Pass& pass) {
  std::string before;
  session.set_text({});
  std::uint64_t revision = 0;
  for (const Stroke& stroke : strokes) {
    predict::Edit edit;
    edit.revision = ++revision;
    edit.erase_before = stroke.erase;
    edit.insert = stroke.insert;
    predict::DecideOptions options;
    options.candidates = kCandidates;
    options.ghost = predict::Want::No;
    options.deep_wait_us = deep_wait_us;
    const std::uint64_t passes_before = session.deep_statistics().keys_with_pass;
    const std::int64_t start = base::monotonic_ns();
    const Status edited = session.edit(edit);
    const predict::Reply& reply = session.decide(options);
    const std::int64_t took = base::monotonic_ns() - start;
    if (!edited) return edited.error();
    pass.all.record(took);
    if (session.deep_statistics().keys_with_pass != passes_before) pass.with_pass.record(took);
    pass.in_frame += reply.tier == predict::Tier::Deep ? 1 : 0;
    before.erase(before.size() - stroke.erase);
    before += stroke.insert;
    if (Status status = check_reply(reply, revision, before); !status) return status;
    pass.answers = hash_of(reply, pass.answers);
  }
  return {};
}

/// From set_text() to the decoder's list.
std::int64_t time_text(predict::Session& session, std::string_view before) {
  const std::int64_t start = base::monotonic_ns();
  session.set_text({.revision = 1, .before = before});
  session.decide(
      {.candidates = kCandidates, .ghost = predict::Want::No, .deep_wait_us = predict::kUntilDone});
  return base::monotonic_ns() - start;
}

/// What beginnings that are known save: of every text, and of texts that were left.
void time_beginnings(const predict::Engine& engine, std::string_view text, DeepKeyTimes& times) {
  constexpr std::size_t kTextBytes = 300;
  constexpr std::size_t kTexts = 4;
  constexpr int kRounds = 20;
  observe::LatencyHistogram first_key;
  for (int round = 0; round < kRounds; ++round) {
    predict::Session session(engine);
    first_key.record(time_text(session, "s"));
  }
  predict::Session session(engine);
  session.warm_up();
  observe::LatencyHistogram new_text;
  observe::LatencyHistogram known_text;
  for (int round = 0; round < kRounds / 4; ++round) {
    for (const bool known : {false, true}) {
      for (std::size_t i = 0; i < kTexts; ++i) {
        const std::size_t at = i * kTextBytes % std::max<std::size_t>(text.size(), 1);
        const std::string before =
            "Dear " + std::to_string(i) + ",\n" + std::string(text.substr(at, kTextBytes)) + " ";
        (known ? known_text : new_text).record(time_text(session, before));
      }
    }
    session.clear();  // takes back what it left
  }
  times.first_key = quantiles_us(first_key);
  times.new_text = quantiles_us(new_text);
  times.known_text = quantiles_us(known_text);
}

Result<DeepKeyTimes> time_deep_keys(const predict::Engine& engine, std::string_view text) {
  const std::vector<Stroke> strokes = strokes_of(text);
  predict::Session session(engine);
  session.warm_up();
  Pass warm_up;
  Pass measured;
  Pass in_frame;
  if (Status s = run_pass(session, strokes, predict::kUntilDone, warm_up); !s) return s.error();
  session.clear();
  const predict::DeepStatistics before = session.deep_statistics();
  if (Status s = run_pass(session, strokes, predict::kUntilDone, measured); !s) return s.error();
  const predict::DeepStatistics after = session.deep_statistics();
  if (measured.answers != warm_up.answers) {
    return Error{ErrorCode::Internal,
                 "bench: a reply broke its promise: the same keys give the same answers"};
  }
  session.clear();
  if (Status s = run_pass(session, strokes, predict::kRestOfFrame, in_frame); !s) return s.error();
  DeepKeyTimes times;
  times.keys = measured.all.count();
  times.keys_with_pass = measured.with_pass.count();
  times.passes = after.passes - before.passes;
  times.in_frame = in_frame.in_frame;
  times.all = quantiles_us(measured.all);
  times.with_pass = quantiles_us(measured.with_pass);
  time_beginnings(engine, text, times);
  return times;
}

nlohmann::ordered_json timing_json(const model::DecoderTiming& t) {
  return {{"weights_bytes", t.weights_bytes},
          {"stream_floor_us", t.floor_us},
          {"token_us", t.token_us},
          {"over_floor", t.ratio()},
          {"columns8_us", t.columns8_us},
          {"columns8_over_one", t.columns8_us / t.token_us},
          {"columns16_us", t.columns16_us},
          {"body_us", t.body_us},
          {"body8_us", t.body8_us},
          {"prefill64_us", t.prefill64_us},
          {"candidates_shared_us", t.shared_us},
          {"candidates_unshared_us", t.unshared_us},
          {"next_token_us", {{"p50", t.next_token_us}, {"p99", t.next_token_p99_us}}},
          {"stream_tokens", t.stream_tokens},
          {"session_bytes", t.session_bytes}};
}

nlohmann::ordered_json quantiles_json(const Quantiles& q) {
  return {{"p50", q.p50}, {"p95", q.p95}, {"p99", q.p99}, {"max", q.max}};
}

double ms(double us) { return us / 1000; }

void print_timing(const char* name, const model::DecoderTiming& t) {
  std::printf("  %-12s one token %6.2f ms = %.2f x floor (%.1f MB in %.2f ms)\n", name,
              ms(t.token_us), t.ratio(), static_cast<double>(t.weights_bytes) / 1e6,
              ms(t.floor_us));
  std::printf("  %-12s 8 tokens in one pass %6.2f ms = %.2f x one; 16: %.2f ms; 64 read: %.2f ms\n",
              "", ms(t.columns8_us), t.columns8_us / t.token_us, ms(t.columns16_us),
              ms(t.prefill64_us));
  std::printf(
      "  %-12s next_token() p50 %.2f ms, p99 %.2f (%.2f x) over %zu; 8 candidates after 64: %.2f "
      "ms, %.2f without what they share\n",
      "", ms(t.next_token_us), ms(t.next_token_p99_us), t.next_token_p99_us / t.next_token_us,
      t.stream_tokens, ms(t.shared_us), ms(t.unshared_us));
}

}  // namespace

Result<DeepReport> time_deep(const predict::Engine& engine, std::string_view text,
                             const DeepBenchOptions& options) {
  const predict::DeepModel* deep = engine.deep();
  if (deep == nullptr) {
    return Error{ErrorCode::BadArgument, "bench: no decoder to measure"};
  }
  DeepReport report;
  report.model = deep->name();
  report.kernels = deep->decoder().backend_name();
  Result<DeepKeyTimes> keys = time_deep_keys(engine, text);
  if (!keys) return std::move(keys).error();
  report.keys = *keys;
  if (const auto memory = observe::read_memory_figures(); memory) {
    report.resident_mb = static_cast<double>(memory->resident) / 1e6;
  }
  eval::GhostBenchOptions ghost;
  ghost.contexts = options.ghost_contexts;
  auto phrases = eval::bench_ghost(engine, eval::text_lines(text), ghost);
  if (!phrases) return std::move(phrases).error();
  report.ghost = *phrases;
  for (const model::Threads threads : {model::Threads::One, model::Threads::Two}) {
    model::DecoderBenchOptions decoder;
    decoder.threads = threads;
    decoder.stream_tokens = options.stream_tokens;
    const auto timing = model::time_decoder(deep->decoder(), decoder);
    if (!timing) return timing.error();
    (threads == model::Threads::One ? report.one : report.two) = *timing;
  }
  return report;
}

nlohmann::ordered_json to_json(const DeepReport& report) {
  const DeepKeyTimes& keys = report.keys;
  const eval::GhostBenchResult& ghost = report.ghost;
  return {{"model", report.model},
          {"kernels", report.kernels},
          {"one_thread", timing_json(report.one)},
          {"two_threads", timing_json(report.two)},
          {"key_to_list",
           {{"keys", keys.keys},
            {"keys_with_pass", keys.keys_with_pass},
            {"passes", keys.passes},
            {"in_frame", keys.in_frame},
            {"all_us", quantiles_json(keys.all)},
            {"with_pass_us", quantiles_json(keys.with_pass)},
            {"first_key_us", quantiles_json(keys.first_key)},
            {"new_text_us", quantiles_json(keys.new_text)},
            {"known_text_us", quantiles_json(keys.known_text)}}},
          {"ghost",
           {{"contexts", ghost.contexts},
            {"unequal", ghost.unequal},
            {"passes_p50", ghost.passes_p50},
            {"passes_mean", ghost.passes_mean},
            {"plain_passes_p50", ghost.plain_passes_p50},
            {"ms_p50", ghost.ms_p50},
            {"plain_ms_p50", ghost.plain_ms_p50}}},
          {"resident_mb", report.resident_mb}};
}

void print(const DeepReport& report) {
  std::printf("\ndeep tier: %s (%s)\n", report.model.c_str(), report.kernels.c_str());
  print_timing("1 thread", report.one);
  print_timing("2 threads", report.two);
  const DeepKeyTimes& keys = report.keys;
  std::printf(
      "  key to list, 2 threads: p50 %.2f ms over %llu keys; p50 %.2f, p95 %.2f, p99 %.2f over the "
      "%llu (%.0f %%) that need a pass\n",
      ms(keys.all.p50), static_cast<unsigned long long>(keys.keys), ms(keys.with_pass.p50),
      ms(keys.with_pass.p95), ms(keys.with_pass.p99),
      static_cast<unsigned long long>(keys.keys_with_pass), 100 * keys.share_with_pass());
  std::printf(
      "  in the same frame (%.1f ms): %.1f %% of keys; %llu passes in all\n",
      predict::kFrameUs / 1000.0,
      100 * static_cast<double>(keys.in_frame) / static_cast<double>(keys.keys > 0 ? keys.keys : 1),
      static_cast<unsigned long long>(keys.passes));
  std::printf(
      "  first key of a new session: p50 %.1f ms, p99 %.1f; told another text of 300 bytes: p50 "
      "%.1f ms, coming back to it %.1f\n",
      ms(keys.first_key.p50), ms(keys.first_key.p99), ms(keys.new_text.p50),
      ms(keys.known_text.p50));
  const eval::GhostBenchResult& ghost = report.ghost;
  std::printf(
      "  verified ghost of 8 tokens: %.0f passes (p50; %.1f mean), %.2f ms; without drafts %.0f "
      "passes, %.2f ms; %zu of %zu phrases differ\n",
      ghost.passes_p50, ghost.passes_mean, ghost.ms_p50, ghost.plain_passes_p50, ghost.plain_ms_p50,
      ghost.unequal, ghost.contexts);
  std::printf("  resident with it %.1f MB\n", report.resident_mb);
}

}  // namespace laya::apps
