#include "train/text/run_log.h"

#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "base/test_folder.h"

namespace laya::train {
namespace {

TEST(RunLog, OneRunWritesIntoAFolderAtATime) {
  base::TestFolder folder;
  const std::string path = folder.file("log.jsonl");
  {
    Result<RunLog> first = RunLog::open(path);
    ASSERT_TRUE(first);
    ASSERT_TRUE(first->write("{}"));
    const Result<RunLog> second = RunLog::open(path);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, ErrorCode::BadArgument);
    EXPECT_NE(second.error().message.find(path), std::string::npos);
  }
  Result<RunLog> resumed = RunLog::open(path);
  ASSERT_TRUE(resumed);
  ASSERT_TRUE(resumed->write("{}"));
  EXPECT_EQ(base::read_file(path, 100).value(), "{}\n{}\n");
}

}  // namespace
}  // namespace laya::train
