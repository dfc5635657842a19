#include "laya/doctor_checks.h"

#include <gtest/gtest.h>

namespace laya::apps {
namespace {

TrainingProbe good_probe() {
  return {.has_mlx = true,
          .mlx_version = "0.32.4",
          .mlx_gflops = 200,
          .onednn_fp32_gflops = 320,
          .onednn_bf16_gflops = 600};
}

TEST(DoctorChecks, EveryFindingHasAHealthAndEveryBadOneARemedy) {
  struct Case {
    const char* name;
    Check check;
    Health want;
  };
  TrainingProbe reference_blas = good_probe();
  reference_blas.mlx_gflops = 2.1;
  TrainingProbe no_bf16 = good_probe();
  no_bf16.onednn_bf16_gflops = 0;
  const Case cases[] = {
      {"fast kernels", check_kernels("avx2 avx512-vnni", "avx512-vnni"), Health::Ok},
      {"scalar kernels", check_kernels("none", "scalar"), Health::Slow},
      {"unlimited", check_lockable_memory(std::nullopt, 30'000'000), Health::Ok},
      {"enough to lock", check_lockable_memory(30'000'000, 30'000'000), Health::Ok},
      {"too little to lock", check_lockable_memory(8'000'000, 30'000'000), Health::Slow},
      {"model intact", check_model({{"m/gru.laya", 20'000'000, ""}}, "", ModelParts::Both),
       Health::Ok},
      {"model damaged",
       check_model({{"a", 1, ""}, {"b", 0, "b: checksum does not match"}}, "",
                   ModelParts::NoNetwork),
       Health::Missing},
      {"no network", check_model({{"n", 1, ""}}, "", ModelParts::NoNetwork), Health::Slow},
      {"no n-grams", check_model({{"g", 1, ""}}, "", ModelParts::NoNgrams), Health::Slow},
      {"no model", check_model({}, "no model found", ModelParts::NoNetwork), Health::Missing},
      {"no model, no reason", check_model({}, "", ModelParts::Both), Health::Missing},
      {"mlx", check_mlx(good_probe()), Health::Ok},
      {"no mlx", check_mlx({}), Health::Missing},
      {"blas", check_blas(good_probe(), 2), Health::Ok},
      {"reference blas", check_blas(reference_blas, 2), Health::Slow},
      {"no blas", check_blas({}, 2), Health::Missing},
      {"onednn", check_onednn(good_probe(), 2), Health::Ok},
      {"onednn without bf16", check_onednn(no_bf16, 2), Health::Ok},
      {"no onednn", check_onednn({}, 2), Health::Missing},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(c.check.health, c.want) << c.check.detail;
    EXPECT_FALSE(c.check.detail.empty());
    EXPECT_EQ(c.check.remedy.empty(), c.want == Health::Ok) << c.check.remedy;
  }
}

TEST(DoctorChecks, APretrainedModelIsAComfort) {
  const Check none = check_deep_model(std::nullopt, "");
  EXPECT_EQ(none.health, Health::Slow);
  EXPECT_NE(none.remedy.find("laya model get"), std::string::npos);
  const Check intact = check_deep_model(ModelFinding{"m.laya", 98'000'000, ""}, "");
  EXPECT_EQ(intact.health, Health::Ok);
  EXPECT_EQ(intact.remedy, "");
  const Check damaged = check_deep_model(ModelFinding{"m.laya", 0, "m.laya: bad checksum"}, "");
  EXPECT_EQ(damaged.health, Health::Missing);
  EXPECT_NE(damaged.remedy, "");
  EXPECT_EQ(check_deep_model(std::nullopt, "no such model").health, Health::Missing);
  EXPECT_TRUE(can_predict({none, damaged}));
}

TEST(DoctorChecks, ALowRateOnABusyMachineSaysSo) {
  TrainingProbe probe = good_probe();
  probe.mlx_gflops = 2.0;
  probe.onednn_fp32_gflops = 3.0;
  probe.load_average = 5.4;
  EXPECT_NE(check_blas(probe, 2).remedy.find("load 5.4 on 2 cores"), std::string::npos);
  EXPECT_NE(check_onednn(probe, 2).remedy.find("load 5.4 on 2 cores"), std::string::npos);
  probe.load_average = 0.3;
  EXPECT_EQ(check_blas(probe, 2).remedy.find("busy"), std::string::npos);
}

TEST(DoctorChecks, PredictingNeedsAModelButNoTraining) {
  const Check model = check_model({{"m", 1, ""}}, "", ModelParts::Both);
  const Check kernels = check_kernels("none", "scalar");
  EXPECT_TRUE(can_predict({kernels, model, check_mlx({}), check_blas({}, 2), check_onednn({}, 2)}));
  EXPECT_FALSE(
      can_predict({kernels, check_model({}, "none", ModelParts::Both), check_mlx(good_probe())}));
}

TEST(DoctorChecks, WithoutLayaTrainOneCheckSaysWhatBringsIt) {
  TrainingProbe none;
  none.is_installed = false;
  const std::vector<Check> checks = check_training(none, 2);
  ASSERT_EQ(checks.size(), 1u);
  EXPECT_EQ(checks[0].health, Health::Missing);
  EXPECT_NE(checks[0].remedy.find("make test"), std::string::npos);
  EXPECT_TRUE(can_predict(checks));
  EXPECT_EQ(check_training(good_probe(), 2).size(), 3u);
}

TEST(DoctorChecks, TheReportPutsTheRemedyBelowItsLine) {
  EXPECT_EQ(report_text({check_mlx({}), check_mlx(good_probe())}),
            "missing  mlx              not built in: predicting works, training does not\n"
            "                          -> run `scripts/setup training`, then build again\n"
            "ok       mlx              MLX 0.32.4\n");
}

TEST(DoctorChecks, EachAbsentPartSaysWhatIsLostWhyAndTheRemedy) {
  const OptionalPart parts[] = {
      {"pinyin", "typing pinyin", "Boost could not be found", "scripts/setup pinyin"},
      {"server", "asking a server", "", "scripts/setup server"}};
  const std::vector<Check> checks = check_parts(parts);
  ASSERT_EQ(checks.size(), 2u);
  EXPECT_EQ(checks[0].detail, "built in: server");
  EXPECT_EQ(checks[0].health, Health::Ok);
  EXPECT_EQ(checks[1].name, "pinyin");
  EXPECT_EQ(checks[1].health, Health::Missing);
  EXPECT_EQ(checks[1].detail, "left out (Boost could not be found): no typing pinyin");
  EXPECT_EQ(checks[1].remedy, "scripts/setup pinyin");
  EXPECT_TRUE(can_predict(checks));
}

TEST(DoctorChecks, ThisBuildKnowsItsParts) {
  bool has_pinyin = false;
  for (const OptionalPart& part : optional_parts()) {
    has_pinyin |= part.name == "pinyin";
    EXPECT_FALSE(part.lost.empty()) << part.name;
    EXPECT_NE(part.remedy.find("scripts/setup " + std::string(part.name)), std::string::npos);
  }
  EXPECT_TRUE(has_pinyin);
}

TEST(DoctorChecks, JsonHasStatusRemedyAndFigures) {
  const auto json = report_json({check_lockable_memory(8, 9), check_blas(good_probe(), 2)});
  EXPECT_EQ(json["ok"], true);
  EXPECT_EQ(json["checks"][0]["status"], "slow");
  EXPECT_EQ(json["checks"][0]["limit_bytes"], 8);
  EXPECT_TRUE(json["checks"][0]["remedy"].is_string());
  EXPECT_TRUE(json["checks"][1]["remedy"].is_null());
  EXPECT_EQ(json["checks"][1]["gflops"], 200);
}

}  // namespace
}  // namespace laya::apps
