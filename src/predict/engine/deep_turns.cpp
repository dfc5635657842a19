#include "predict/engine/deep_turns.h"

#include <algorithm>
#include <utility>

#include "predict/engine/deep_service.h"

namespace laya::predict {

DeepTurns::DeepTurns(const Engine& engine, DeepService& service, std::size_t most)
    : engine_(&engine), service_(&service), most_(std::max<std::size_t>(most, 1)) {
  kept_.reserve(most_);
}

std::unique_ptr<DeepTurn> DeepTurns::take(SessionId session) {
  const std::lock_guard lock(mutex_);
  auto found = std::find_if(kept_.begin(), kept_.end(),
                            [session](const auto& turn) { return turn->session() == session; });
  if (found == kept_.end() && made_ < most_) {
    ++made_;
    auto turn = std::make_unique<DeepTurn>(*engine_, *service_);
    turn->hand_over(session);
    return turn;
  }
  if (found == kept_.end()) {
    if (kept_.empty()) {
      return nullptr;
    }
    found = kept_.begin();
    (*found)->hand_over(session);
  }
  std::unique_ptr<DeepTurn> turn = std::move(*found);
  kept_.erase(found);
  return turn;
}

void DeepTurns::give_back(std::unique_ptr<DeepTurn> turn) {
  if (turn != nullptr) {
    const std::lock_guard lock(mutex_);
    kept_.push_back(std::move(turn));
  }
}

void DeepTurns::forget(SessionId session) {
  const std::lock_guard lock(mutex_);
  for (const auto& turn : kept_) {
    if (turn->session() == session) {
      turn->forget();
    }
  }
  service_->prefixes().forget(session);
}

}  // namespace laya::predict
