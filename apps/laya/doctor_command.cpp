#include "laya/doctor_command.h"

#include <sys/resource.h>
#include <sys/stat.h>

#include <cstdlib>
#include <iostream>
#include <memory>
#include <thread>

#include "common/model_options.h"
#include "format/model_file.h"
#include "laya/doctor_checks.h"
#include "laya/optional_parts.h"
#include "laya/training_program.h"
#include "setup/settings.h"
#include "simd/cpu_features.h"
#include "simd/dispatch.h"

namespace laya::apps {
namespace {

struct DoctorOptions {
  setup::ModelOptions model;
  bool json = false;
};

std::optional<std::uint64_t> lockable_bytes() {
  struct rlimit limit {};
  if (::getrlimit(RLIMIT_MEMLOCK, &limit) != 0) {
    return 0;
  }
  if (limit.rlim_cur == RLIM_INFINITY) {
    return std::nullopt;
  }
  return limit.rlim_cur;
}

ModelFinding examine(const std::string& path) {
  ModelFinding finding;
  finding.path = path;
  const Result<format::ModelFile> file = format::ModelFile::open(path, format::Verify::Full);
  if (file) {
    finding.bytes = file->file_bytes();
  } else {
    finding.problem = file.error().message;
  }
  return finding;
}

RemoteFinding find_remote() {
  RemoteFinding finding;
  finding.settings_path = setup::settings_path();
  const Result<setup::RemoteSetup> setup = setup::read_remote_setup();
  if (!setup) {
    finding.problem = setup.error().message;
    return finding;
  }
  finding.is_on = setup->is_on;
  if (!setup->is_on) {
    return finding;
  }
  finding.name = setup->name;
  finding.time_limit_ms = setup->client.time_limit.count();
  if (const auto client = remote::CompletionClient::create(setup->client); !client) {
    finding.problem = client.error().message;
  }
  if (struct stat status{};
      !setup->key_path.empty() && ::stat(setup->key_path.c_str(), &status) == 0) {
    finding.key_is_readable_by_others = (status.st_mode & (S_IRGRP | S_IROTH)) != 0;
  }
  return finding;
}

void diagnose(const DoctorOptions& options, Outcome& outcome) {
  std::vector<ModelFinding> files;
  std::string problem;
  ModelParts parts = ModelParts::Both;
  std::uint64_t model_bytes = 0;
  if (const Result<predict::EnginePaths> paths = setup::find_model(options.model)) {
    if (paths->network_path.empty()) parts = ModelParts::NoNetwork;
    if (paths->ngram_path.empty()) parts = ModelParts::NoNgrams;
    for (const std::string& path :
         {std::string(paths->network_path), std::string(paths->ngram_path)}) {
      const bool twice = !files.empty() && files.front().path == path;  // one file may hold both
      if (!path.empty() && !twice) {
        files.push_back(examine(path));
        model_bytes += files.back().bytes;
      }
    }
  } else {
    problem = paths.error().message;
  }
  std::optional<ModelFinding> deep;
  const Result<std::string> deep_path = setup::find_deep(options.model);
  if (deep_path && !deep_path->empty()) {
    deep = examine(*deep_path);
    model_bytes += deep->bytes;
  }
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  TrainingProbe probe = probe_training();
  if (double load = 0.0; ::getloadavg(&load, 1) == 1) {
    probe.load_average = load;
  }
  std::vector<Check> checks{
      check_kernels(simd::cpu_feature_names(simd::detect_cpu_features()),
                    simd::best_kernels().name),
      check_model(files, problem, parts),
      check_deep_model(deep, deep_path ? std::string() : deep_path.error().message),
      check_remote(find_remote()),
      check_lockable_memory(lockable_bytes(), model_bytes),
  };
  for (Check& check : check_training(probe, cores)) checks.push_back(std::move(check));
  for (Check& check : check_parts(optional_parts())) checks.push_back(std::move(check));
  if (options.json) {
    std::cout << to_line(report_json(checks)) << std::endl;
  } else {
    std::cout << report_text(checks) << std::flush;
  }
  if (!can_predict(checks)) {
    outcome.exit_code = kFailed;
  }
}

}  // namespace

void add_doctor_command(CLI::App& app, Outcome& outcome) {
  auto options = std::make_shared<DoctorOptions>();  // shared: CLI11 copies the callback
  CLI::App* command = app.add_subcommand(
      "doctor", "what this machine has, what is slow or missing, and the remedy");
  command->add_flag("--json", options->json, "one JSON object on one line");
  add_model_options(*command, options->model);
  command->footer(
      "example: laya doctor\n"
      "         laya doctor --json | jq '.checks[] | select(.status != \"ok\")'\n"
      "Exit code 1 when predicting does not work here; training may be missing all the same.");
  command->callback([options, &outcome] { diagnose(*options, outcome); });
}

}  // namespace laya::apps
