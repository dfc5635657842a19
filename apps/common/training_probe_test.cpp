#include "common/training_probe.h"

#include <gtest/gtest.h>

namespace laya::apps {
namespace {

TEST(TrainingProbe, ReadsWhatItWrites) {
  TrainingProbe probe;
  probe.has_mlx = true;
  probe.mlx_version = "0.32.4";
  probe.mlx_gflops = 180.5;
  probe.onednn_fp32_gflops = 320;
  const TrainingProbe read =
      parse_training_probe("a warning of some library\n" + to_line(probe) + "\n");
  EXPECT_TRUE(read.is_installed);
  EXPECT_TRUE(read.has_mlx);
  EXPECT_EQ(read.mlx_version, "0.32.4");
  EXPECT_EQ(read.mlx_gflops, 180.5);
  EXPECT_EQ(read.onednn_fp32_gflops, 320);
  EXPECT_EQ(read.onednn_bf16_gflops, 0);
}

TEST(TrainingProbe, WhatIsNoProbeIsNotInstalled) {
  for (const char* output :
       {"", "laya-train: no such command\n", "{\"has_mlx\": tru", "{\"mlx\":1}"}) {
    EXPECT_FALSE(parse_training_probe(output).is_installed) << output;
  }
}

}  // namespace
}  // namespace laya::apps
