#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>

#include "simd/impl/tile_checks.h"

namespace laya::simd {
namespace {

constexpr long kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM, since Linux 5.16
constexpr long kTileData = 18;               // XFEATURE_XTILEDATA

// The configuration: palette 1, one tile of 16 rows of 64 bytes.
struct alignas(64) Config {
  std::uint8_t bytes[64] = {};
};

}  // namespace

bool tiles_granted() {
  if (syscall(SYS_arch_prctl, kRequestPermission, kTileData) != 0) return false;
  Config wanted;
  wanted.bytes[0] = 1;
  wanted.bytes[16] = 64;
  wanted.bytes[48] = 16;
  bool kept = true;
  asm volatile("ldtilecfg %0" ::"m"(wanted));
  for (int i = 0; i < 3; ++i) {
    const timespec pause{0, 20'000};
    nanosleep(&pause, nullptr);
    sched_yield();
    Config found;
    asm volatile("sttilecfg %0" : "=m"(found));
    kept = kept && std::memcmp(found.bytes, wanted.bytes, sizeof wanted.bytes) == 0;
  }
  asm volatile("tilerelease");
  return kept;
}

}  // namespace laya::simd
