#include "base/atomic_file.h"
#include "observe/memory_figures.h"

namespace laya::observe {

Result<MemoryFigures> read_memory_figures() {
  constexpr std::uint64_t kLimitBytes = 64 * 1024;  // the file has about 1.5 KB
  const Result<std::string> text = base::read_file("/proc/self/status", kLimitBytes);
  if (!text) {
    return text.error();
  }
  return parse_proc_status(*text);
}

}  // namespace laya::observe
