#include "train/mlx/memory.h"

#if defined(__GLIBC__) || __has_include(<gnu/libc-version.h>)
#include <malloc.h>
#endif

namespace laya::train {

void keep_freed_memory() {
#if defined(M_MMAP_MAX)
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, 0x7FFF0000);
  mallopt(M_TOP_PAD, 64 << 20);
  mallopt(M_ARENA_MAX, 1);
#endif
}

}  // namespace laya::train
