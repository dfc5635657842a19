#include "simd/impl/tile_checks.h"

namespace laya::simd {

bool tiles_granted() { return false; }  // no system but Linux is known to grant them

}  // namespace laya::simd
