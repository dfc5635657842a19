#include <pthread.h>
#include <sched.h>

#include "simd/impl/thread_placement.h"

namespace laya::simd {

int current_core() { return sched_getcpu(); }

bool keep_off_core(std::thread& thread, int core) {
  cpu_set_t cores;
  // Of the calling thread: the limits of taskset or a container, which a helper's own narrowed set
  // would not show.
  if (core < 0 || core >= CPU_SETSIZE || sched_getaffinity(0, sizeof cores, &cores) != 0)
    return false;
  CPU_CLR(static_cast<std::size_t>(core), &cores);
  if (CPU_COUNT(&cores) == 0) return false;
  return pthread_setaffinity_np(thread.native_handle(), sizeof cores, &cores) == 0;
}

}  // namespace laya::simd
