#include "observe/memory_figures.h"

namespace laya::observe {

Result<MemoryFigures> read_memory_figures() {
  return Error{ErrorCode::Unsupported, "memory figures are read from Linux' /proc only"};
}

}  // namespace laya::observe
