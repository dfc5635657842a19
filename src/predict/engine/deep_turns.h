// DeepTurns: the turns that an engine has at the decoder, kept between questions with the decoder's
// cache of the text that each was about.
//
// At most `most`, each made when it is first needed: so many conversations go on without reading
// their text again; the others find theirs in the shared prefixes (DeepService::prefixes()).
// Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "predict/engine/deep_turn.h"

namespace laya::predict {

class DeepTurns {
 public:
  /// Both must outlive it.
  DeepTurns(const Engine& engine, DeepService& service, std::size_t most);

  /// The session's own turn, else a fresh one, else the one that was used longest ago, handed over.
  /// nullptr: all are out; this key goes without the decoder.
  std::unique_ptr<DeepTurn> take(SessionId session);
  /// After the question; nullptr is nothing.
  void give_back(std::unique_ptr<DeepTurn> turn);
  /// Wipes what a kept turn and the shared prefixes hold of the session's text. It has no turn out.
  void forget(SessionId session);

 private:
  const Engine* engine_;
  DeepService* service_;
  const std::size_t most_;
  std::mutex mutex_;
  std::size_t made_ = 0;
  std::vector<std::unique_ptr<DeepTurn>> kept_;  // least recently used first
};

}  // namespace laya::predict
