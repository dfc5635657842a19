// Keeping a helper off the core its caller runs on. Linux wakes a thread near its waker, on a busy
// machine often on the very same core, where it waits until the caller's time is up: then two
// threads are slower than one.
#pragma once

#include <thread>

namespace laya::simd {

/// The core this thread is on, or -1 where that cannot be told.
int current_core();

/// Lets `thread` run on every core this process may use but `core`. False if that would leave none,
/// or cannot be done.
bool keep_off_core(std::thread& thread, int core);

}  // namespace laya::simd
