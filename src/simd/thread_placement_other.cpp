// Systems that do not let a program choose its cores (macOS).
#include "simd/impl/thread_placement.h"

namespace laya::simd {

int current_core() { return -1; }

bool keep_off_core(std::thread&, int) { return false; }

}  // namespace laya::simd
