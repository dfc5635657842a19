// The other tests compare whatever tables there are; here the NEON one must be among them.
#include <gtest/gtest.h>

#include "simd/dispatch.h"

namespace laya::simd {
namespace {

TEST(Neon, IsTheBestTable) { EXPECT_STREQ(best_kernels().name, "neon-dotprod"); }

}  // namespace
}  // namespace laya::simd
