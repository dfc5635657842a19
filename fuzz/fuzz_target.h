// What every fuzz target defines. libFuzzer and the replayer both call it; it must accept any bytes
// and keep no state.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace laya::fuzz {

/// Ends the process with a signal, so that libFuzzer and ctest both see a failure, when a promise
/// of the code under test is broken.
inline void require(bool promise) {
  if (!promise) {
    __builtin_trap();
  }
}

}  // namespace laya::fuzz
