#include "base/allocation_counter.h"

#include <gtest/gtest.h>

#include <memory>
#include <new>

namespace laya::base {
namespace {

TEST(AllocationScope, SeesEveryKindOfNew) {
  struct alignas(128) Wide {
    char bytes[256];
  };
  const AllocationScope scope;
  auto one = std::make_unique<int>(1);
  EXPECT_EQ(scope.count(), 1u);
  auto many = std::make_unique<int[]>(10);
  auto wide = std::make_unique<Wide>();
  EXPECT_EQ(scope.count(), 3u);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(wide.get()) % 128, 0u);
  EXPECT_GE(scope.bytes(), sizeof(int) * 11 + sizeof(Wide));
  std::unique_ptr<int> quiet(new (std::nothrow) int(2));
  EXPECT_EQ(scope.count(), 4u);
}

}  // namespace
}  // namespace laya::base
