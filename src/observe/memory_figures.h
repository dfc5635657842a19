// What this process takes of the machine's memory, as the system counts it.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace laya::observe {

/// In bytes. Pages of a mapped model count as resident once touched, although the system may drop
/// them at any time.
struct MemoryFigures {
  std::uint64_t resident = 0;       ///< now in memory (VmRSS)
  std::uint64_t peak_resident = 0;  ///< the most so far (VmHWM)
  std::uint64_t private_bytes =
      0;  ///< of resident: not shared with a file (RssAnon); what swapping would have to write
  std::uint64_t locked = 0;  ///< cannot be swapped out (VmLck)
};

/// Reads them now (about 20 µs). Unsupported where the system does not tell.
Result<MemoryFigures> read_memory_figures();

/// The figures in the text of Linux' /proc/<pid>/status. Corrupt where VmRSS or VmHWM is missing.
/// Apart so that it can be tested.
Result<MemoryFigures> parse_proc_status(std::string_view text);

}  // namespace laya::observe
