#include "simd/cpu_features.h"

#include <utility>

namespace laya::simd {

std::string cpu_feature_names(const CpuFeatures& features) {
  const std::pair<bool, const char*> all[] = {
      {features.avx2, "avx2"},
      {features.avx2_vnni, "avx2-vnni"},
      {features.avx512_vnni, "avx512-vnni"},
      {features.avx512_bf16, "avx512-bf16"},
      {features.amx_bf16, "amx-bf16"},
      {features.amx_int8, "amx-int8"},
      {features.neon_dotprod, "neon-dotprod"},
  };
  std::string names;
  for (const auto& [present, name] : all) {
    if (!present) continue;
    if (!names.empty()) names += ' ';
    names += name;
  }
  return names.empty() ? "none" : names;
}

}  // namespace laya::simd
