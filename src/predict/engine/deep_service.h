// DeepService: an engine's deep tier — the decoder, opened when it is first wanted, the thread it
// works on, and what all sessions share there.
//
// Nobody waits for the file: the worker opens it while the instant tier answers, and without it, or
// if it cannot be used, everything works. Thread-safe but where said.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/result.h"
#include "model/decoder/prefix_cache.h"
#include "predict/deep/deep_model.h"
#include "predict/deep/deep_options.h"
#include "predict/deep/deep_tier.h"
#include "predict/engine/session_id.h"
#include "predict/ghost/deep_ghost.h"

namespace laya::predict {

class DeepTurns;
class Engine;

/// TooLarge where `weights_bytes` + `session_bytes` exceed `limit_mb`; says what is needed, what
/// the limit is, and what to do. `name`: the model's file or name.
Status check_deep_memory(std::size_t limit_mb, const std::string& name, std::size_t weights_bytes,
                         std::size_t session_bytes);
/// Bytes of keys, values and distributions that one session of `model` holds, about, and what all
/// sessions remember together.
std::size_t deep_session_bytes(const DeepModel& model, const DeepOptions& options);

class DeepService {
 public:
  using Loader = std::function<Result<std::unique_ptr<DeepModel>>()>;

  /// `loader` is called once, by load(), which then reads the openings. `engine` owns the service;
  /// its network drafts ghosts. `most_turns`: conversations whose cache is kept.
  DeepService(Loader loader, const Engine& engine, std::size_t most_turns);
  ~DeepService();
  DeepService(const DeepService&) = delete;
  DeepService& operator=(const DeepService&) = delete;

  /// The model if it is there; nullptr otherwise. Never waits.
  const DeepModel* model() const { return ready_.load(std::memory_order_acquire); }
  /// Asks the worker to load it. Returns at once; does nothing the second time.
  void request();
  /// Loads it on this thread (evaluation, tests, commands): whoever comes second waits for the
  /// first and gets the same answer. A failure is final: the file is not opened again at each key.
  Status load();
  /// What load() failed with. Never waits.
  std::optional<Error> failure() const;

  /// Beginnings of texts that sessions have left, and the openings: whoever begins with one copies
  /// it. A session takes back its own when it is cleared. Thread-safe; model() must be there.
  model::PrefixCache& prefixes() { return *prefixes_; }

  /// Wipes all that is kept of a session's text: its turn, its prefixes, and what the ghost's search
  /// remembers of phrases, whoever's they were. The session has no turn out. Thread-safe.
  void forget(SessionId session);

  /// What sessions ask the decoder with. Thread-safe; model() must be there.
  DeepTurns& turns() { return *turns_; }

  DeepTier& tier() { return tier_; }
  /// Of the worker's thread only; model() must be there.
  DeepGhost& ghost() { return *ghost_; }

 private:
  struct Load;
  struct ForgetSaid;

  void read_openings();

  std::mutex loading_;
  mutable std::mutex mutex_;  // of error_
  Loader loader_;             // empty once called
  const Engine* engine_;
  const std::size_t most_turns_;
  std::unique_ptr<DeepModel> model_;
  std::unique_ptr<model::PrefixCache> prefixes_;
  std::unique_ptr<DeepGhost> ghost_;
  std::unique_ptr<DeepTurns> turns_;
  std::optional<Error> error_;
  std::atomic<const DeepModel*> ready_{nullptr};
  std::atomic<bool> requested_{false};
  DeepTier tier_;
  std::mutex sending_;
  DeepLine line_{tier_};  // last: its end waits for what was sent
};

}  // namespace laya::predict
