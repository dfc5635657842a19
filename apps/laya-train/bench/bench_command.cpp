#include "laya-train/bench/bench_command.h"

#include <cstdio>
#include <iostream>
#include <memory>

#include "common/model_options.h"
#include "format/model_file.h"
#include "laya-train/bench/bench_train_report.h"
#include "laya-train/peers/bench_peers_command.h"
#include "model/backends/cpu.h"
#include "model/backends/mlx.h"
#include "model/bench/step_bench.h"
#include "model/gru/model_loading.h"

namespace laya::apps {
namespace {

constexpr std::size_t kMlxSteps = 20;  // some 5 ms each

struct MlxOptions {
  setup::ModelOptions model;
  bool json = false;
};

struct MlxReport {
  double ours_us = 0;
  double mlx_us = 0;
};

Result<MlxReport> compare_with_mlx(const MlxOptions& options) {
  const Result<predict::EnginePaths> paths = setup::find_model(options.model);
  if (!paths) return paths.error();
  if (paths->network_path.empty()) {
    return Error{ErrorCode::BadArgument, "bench mlx: the model has no network; name one: --model"};
  }
  const Result<format::ModelFile> file = format::ModelFile::open(paths->network_path);
  if (!file) return file.error();
  const auto ours = model::load_language_model(*file, model::cpu_backend());
  if (!ours) return ours.error();
  const auto theirs = model::load_language_model(*file, model::mlx_8bit_backend());
  if (!theirs) return theirs.error();
  if (Status same = model::check_same_answers(**ours, **theirs); !same) return same.error();
  const Result<model::StepTiming> ours_time = model::time_steps(**ours, model::Threads::One);
  if (!ours_time) return ours_time.error();
  const Result<model::StepTiming> theirs_time =
      model::time_steps(**theirs, model::Threads::One, kMlxSteps);
  if (!theirs_time) return theirs_time.error();
  return MlxReport{ours_time->step_us, theirs_time->step_us};
}

void bench_mlx(const MlxOptions& options, Outcome& outcome) {
  const Result<MlxReport> report = compare_with_mlx(options);
  if (!report) return fail(outcome, report.error());
  if (options.json) {
    std::cout << to_line(
                     nlohmann::ordered_json{{"step_us", report->ours_us},
                                            {"mlx_8bit_step_us", report->mlx_us},
                                            {"mlx_over_ours", report->mlx_us / report->ours_us}})
              << std::endl;
  } else {
    std::printf("one step, all logits: ours %.1f µs; MLX, its own 8-bit weights, %.0f µs: %.0f x\n",
                report->ours_us, report->mlx_us, report->mlx_us / report->ours_us);
  }
}

void bench_train(Outcome& outcome) {
  const Result<std::string> report = bench_train_report();
  if (!report) return fail(outcome, report.error());
  std::cout << *report << std::flush;
}

}  // namespace

void add_training_bench_command(CLI::App& app, Outcome& outcome) {
  CLI::App* bench =
      app.add_subcommand("bench", "speed of training, and of other programs beside ours");
  bench->require_subcommand(1);
  bench->footer("example: laya bench train");
  CLI::App* training = bench->add_subcommand(
      "train", "speed of the training step, against oneDNN alone on the same matrix products");
  training->footer("example: laya bench train");
  training->callback([&outcome] { bench_train(outcome); });
  auto options = std::make_shared<MlxOptions>();  // shared: CLI11 copies the callback
  CLI::App* mlx = bench->add_subcommand(
      "mlx", "the network's step through MLX's own 8-bit weights, beside ours");
  mlx->add_flag("--json", options->json, "one JSON object on one line");
  add_model_options(*mlx, options->model);
  mlx->footer("example: laya bench mlx");
  mlx->callback([options, &outcome] { bench_mlx(*options, outcome); });
  add_bench_peers_command(*bench, outcome);
}

}  // namespace laya::apps
