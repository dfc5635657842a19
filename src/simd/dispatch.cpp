#include "simd/dispatch.h"

#include <array>

#include "simd/impl/platform.h"

namespace laya::simd {
namespace {

struct Tables {
  std::array<const Kernels*, kMaxTables> list{&kScalarKernels};
  std::size_t count = 1;
};

// The one static of the room: constant after the first call.
const Tables& tables() {
  static const Tables found = [] {
    Tables t;
    t.count += collect_tables(std::span(t.list).subspan(1));
    return t;
  }();
  return found;
}

}  // namespace

const Kernels& scalar_kernels() { return kScalarKernels; }

std::span<const Kernels* const> available_kernels() {
  return {tables().list.data(), tables().count};
}

const Kernels& best_kernels() { return *tables().list[tables().count - 1]; }

const Kernels* find_kernels(std::string_view name) {
  for (const Kernels* table : available_kernels()) {
    if (name == table->name) return table;
  }
  return nullptr;
}

}  // namespace laya::simd
