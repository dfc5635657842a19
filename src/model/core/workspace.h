// What every kind of network shares: scratch memory per caller, threads a call, columns a pass.
#pragma once

#include <cstddef>

namespace laya::model {

/// At most so many columns go through one pass (design.md, 3.12: weights are read once for up to
/// 16).
inline constexpr std::size_t kMaxColumns = 16;

/// Scratch memory of one backend. Made by make_workspace() of a LanguageModel or a Decoder, usable
/// only with that model, by one thread at a time.
class Workspace {
 public:
  virtual ~Workspace() = default;

 protected:
  Workspace() = default;
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
};

/// How many threads one call may use (design.md, 3.7). Two pays off for whole steps and full
/// logits; a Workspace of two threads owns one helper thread, which sleeps when the workspace is
/// not in use.
enum class Threads { One, Two };

}  // namespace laya::model
