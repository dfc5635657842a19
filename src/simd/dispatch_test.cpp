#include "simd/dispatch.h"

#include <gtest/gtest.h>

#include <string>

namespace laya::simd {
namespace {

TEST(Dispatch, TheNamedKernelsAreTheFastestThatRemain) {
  const auto tables = available_kernels();
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const auto left = tables_up_to(tables, tables[i]->name);
    ASSERT_TRUE(left) << left.error().message;
    EXPECT_EQ(*left, i + 1) << tables[i]->name;
  }
  ASSERT_TRUE(tables_up_to(tables, ""));
  EXPECT_EQ(*tables_up_to(tables, ""), tables.size());
}

TEST(Dispatch, AnUnknownNameIsAnErrorThatSaysWhatThereIs) {
  for (const char* name : {"avx", "AVX2", "scalar ", "neon-of-another-planet"}) {
    const auto left = tables_up_to(available_kernels(), name);
    ASSERT_FALSE(left) << name;
    EXPECT_EQ(left.error().code, ErrorCode::BadArgument);
    EXPECT_NE(left.error().message.find("it has: scalar"), std::string::npos)
        << left.error().message;
  }
}

// With LAYA_KERNELS=scalar or avx2 set this is what the whole suite then runs on.
TEST(Dispatch, ObeysTheSettingOfThisRun) {
  const Status setting = check_kernels_setting();
  ASSERT_TRUE(setting) << setting.error().message;
  if (!kernels_setting().empty()) {
    EXPECT_EQ(best_kernels().name, kernels_setting());
  }
  EXPECT_EQ(&best_kernels(), available_kernels().back());
  EXPECT_EQ(available_kernels().front(), &scalar_kernels());
}

}  // namespace
}  // namespace laya::simd
