// The hint that a loop is waiting for another core: saves power and leaves the pipeline to a
// hyper-thread.
#pragma once

namespace laya::simd {

inline void cpu_relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield" ::: "memory");
#endif
}

}  // namespace laya::simd
