#include "laya/bench/bench_sessions.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/clock.h"
#include "observe/memory_figures.h"
#include "predict/engine/workbench_pool.h"
#include "predict/session/session.h"

namespace laya::apps {
namespace {

constexpr std::size_t kOpen = 1000;
constexpr std::size_t kTextBytes = 600;  // more tokens than the network looks back at
constexpr int kRounds = 40;
constexpr predict::DecideOptions kList = {.candidates = 5, .ghost = predict::Want::No};

std::uint64_t private_bytes() {
  const auto figures = observe::read_memory_figures();
  return figures ? figures->private_bytes : 0;
}

std::int64_t time_cold(predict::Session& session, std::string_view before, std::uint64_t* hash) {
  const std::int64_t begin = base::monotonic_ns();
  session.set_text({.revision = 1, .before = before});
  *hash = hash_of(session.decide(kList), 0);
  return base::monotonic_ns() - begin;
}

}  // namespace

Result<SessionTimes> time_sessions(const predict::Engine& engine, std::string_view text) {
  SessionTimes times;
  times.open = kOpen;
  {
    std::vector<predict::Session> sessions;
    sessions.reserve(kOpen);
    const std::uint64_t before = private_bytes();
    for (std::size_t i = 0; i < kOpen; ++i) {
      sessions.emplace_back(engine);
      sessions.back().set_text({.revision = 1, .before = text.substr(0, kTextBytes / 10)});
      sessions.back().decide(kList);
    }
    times.bytes_each = static_cast<double>(private_bytes() - before) / static_cast<double>(kOpen);
  }

  const std::size_t size = std::min(text.size(), kTextBytes);
  std::string before(text.substr(0, text.rfind(' ', size) + 1));
  times.text_bytes = before.size();
  observe::LatencyHistogram cold;
  observe::LatencyHistogram back;
  std::uint64_t wanted = 0;
  {
    predict::Session alone(engine);
    time_cold(alone, before, &wanted);
  }
  // More texts than benches, each another one from its first word: nothing can be taken over.
  const std::size_t crowd = engine.workbenches().benches() + 2;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<predict::Session> sessions;
    for (std::size_t i = 0; i < crowd; ++i) {
      sessions.emplace_back(engine);
      std::uint64_t hash = 0;
      cold.record(time_cold(sessions.back(), before, &hash));
      if (hash != wanted) {
        return Error{ErrorCode::Internal, "bench: a text that is read anew gives another list"};
      }
    }
    for (predict::Session& session : sessions) {  // the first lost its bench to the last
      const std::int64_t begin = base::monotonic_ns();
      if (auto edited = session.edit({.revision = 2, .insert = "t"}); !edited) {
        return edited.error();
      }
      const predict::Reply& reply = session.decide(kList);
      back.record(base::monotonic_ns() - begin);
      if (Status kept = check_reply(reply, 2, before + "t"); !kept) {
        return kept.error();
      }
    }
  }
  times.cold = quantiles_us(cold);
  times.back = quantiles_us(back);
  return times;
}

}  // namespace laya::apps
