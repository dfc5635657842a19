#include "observe/memory_figures.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace laya::observe {
namespace {

TEST(MemoryFigures, ReadsTheKernelsText) {
  const auto figures = parse_proc_status(
      "Name:\tlaya\nVmPeak:\t  999 kB\nVmLck:\t      8 kB\nVmHWM:\t  2048 kB\nVmRSS:\t    1024 "
      "kB\nRssAnon:\t     512 kB\n");
  ASSERT_TRUE(figures) << figures.error().message;
  EXPECT_EQ(figures->resident, 1024u * 1024);
  EXPECT_EQ(figures->peak_resident, 2048u * 1024);
  EXPECT_EQ(figures->private_bytes, 512u * 1024);
  EXPECT_EQ(figures->locked, 8u * 1024);
}

TEST(MemoryFigures, MissingOrBrokenLinesAreAnError) {
  for (const char* text :
       {"", "VmRSS:", "VmRSS:\t1 kB", "VmRSS:\tx kB\nVmHWM:\t1 kB\n",
        "VmRSSX:\t1 kB\nVmHWM:\t1 kB\n", "VmRSS:\t99999999999999999999999 kB\nVmHWM:\t1 kB\n"}) {
    EXPECT_FALSE(parse_proc_status(text)) << text;
  }
}

TEST(MemoryFigures, SeesMemoryBeingTouched) {
  const auto before = read_memory_figures();
  if (!before && before.error().code == ErrorCode::Unsupported) {
    GTEST_SKIP() << before.error().message;
  }
  ASSERT_TRUE(before) << before.error().message;
  constexpr std::size_t kBytes = 32u << 20;
  const std::vector<char> touched(kBytes, 'x');
  const auto after = read_memory_figures();
  ASSERT_TRUE(after);
  EXPECT_GE(after->peak_resident, after->resident);
  EXPECT_GE(after->resident + (4u << 20), before->resident + kBytes) << touched[5];
}

}  // namespace
}  // namespace laya::observe
