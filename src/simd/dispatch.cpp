#include "simd/dispatch.h"

#include <array>
#include <cstdlib>
#include <string>

#include "simd/impl/platform.h"

namespace laya::simd {
namespace {

struct Tables {
  std::array<const Kernels*, kMaxTables> list{&kScalarKernels};
  std::size_t count = 1;
  Status setting{};
};

// Constant after the first call.
const Tables& tables() {
  static const Tables found = [] {
    Tables t;
    t.count += collect_tables(std::span(t.list).subspan(1));
    const auto allowed = tables_up_to({t.list.data(), t.count}, kernels_setting());
    if (allowed) {
      t.count = *allowed;
    } else {
      t.setting = allowed.error();
    }
    return t;
  }();
  return found;
}

}  // namespace

std::string_view kernels_setting() {
  static const std::string kSetting = [] {
    const char* value = std::getenv("LAYA_KERNELS");
    return std::string(value == nullptr ? "" : value);
  }();
  return kSetting;
}

Result<std::size_t> tables_up_to(std::span<const Kernels* const> tables, std::string_view name) {
  if (name.empty()) return tables.size();
  std::string known;
  for (std::size_t i = 0; i < tables.size(); ++i) {
    if (tables[i]->name == name) return i + 1;
    known += (known.empty() ? "" : ", ") + std::string(tables[i]->name);
  }
  return Error{ErrorCode::BadArgument,
               "LAYA_KERNELS names no kernels that this CPU can run; it has: " + known};
}

Status check_kernels_setting() { return tables().setting; }

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
