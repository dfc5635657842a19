// What every kind of network shares: scratch memory per caller, threads a call, columns a pass.
#pragma once

#include <cstddef>

namespace laya::model {

/// At most so many columns go through one pass: the kernels read a row of weights once for up to
/// 16 columns, so these cost little more than one.
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

/// How many threads one call may use. Two pays off for whole steps and full
/// logits; a Workspace of two threads owns one helper thread, which sleeps when the workspace is
/// not in use.
enum class Threads { One, Two };

}  // namespace laya::model
