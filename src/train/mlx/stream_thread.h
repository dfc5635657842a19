// All parallel work of a training process on one thread's OpenMP team. libgomp keeps a team of
// workers per calling thread, and two teams on the same cores are placed and woken independently:
// measured, both workers then share one core for seconds.
#pragma once

#include <functional>

namespace laya::train {

/// Runs `work` on the thread that evaluates MLX's default CPU stream, after everything already
/// scheduled there, and waits for it. An exception of `work` is thrown here. Not from inside that
/// thread.
void run_on_stream(const std::function<void()>& work);

}  // namespace laya::train
