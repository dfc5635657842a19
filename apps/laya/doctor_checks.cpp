#include "laya/doctor_checks.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace laya::apps {
namespace {

std::string megabytes(std::uint64_t bytes) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%.1f MB", static_cast<double>(bytes) / 1e6);
  return text.data();
}

std::string rate(double gflops) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), gflops < 10 ? "%.1f GFLOP/s" : "%.0f GFLOP/s", gflops);
  return text.data();
}

// A core's fp32 rate below which the BLAS is not using the CPU: a reference BLAS gives 2, OpenBLAS
// on AVX2 40 and more, on the weakest machine we run on (a phone's core) 8.
constexpr double kSlowPerCore = 8.0;

/// Said of a low rate: what else ran.
std::string busy_note(const TrainingProbe& probe, unsigned cores) {
  if (probe.load_average <= cores) {
    return {};
  }
  std::array<char, 96> text;
  std::snprintf(
      text.data(), text.size(),
      "the machine was busy (load %.1f on %u cores): measure again when it is idle; else ",
      probe.load_average, cores);
  return text.data();
}

constexpr const char* kSetup = "run `scripts/setup training`, then build again";

}  // namespace

std::string_view health_name(Health health) {
  switch (health) {
    case Health::Ok:
      return "ok";
    case Health::Slow:
      return "slow";
    case Health::Missing:
      return "missing";
  }
  return "missing";
}

Check check_kernels(std::string_view cpu_features, std::string_view chosen) {
  Check check{.name = "cpu", .needed_for = NeededFor::Predicting};
  check.detail = "kernels: " + std::string(chosen) + "; features: " + std::string(cpu_features);
  check.values = {{"features", cpu_features}, {"kernels", chosen}};
  if (chosen == "scalar") {
    check.health = Health::Slow;
    check.remedy =
        "this CPU has neither AVX2 nor NEON dot product (or a virtual machine hides them: let it "
        "pass the host's CPU "
        "through); predictions take some ten times longer";
  }
  return check;
}

Check check_lockable_memory(std::optional<std::uint64_t> limit_bytes, std::uint64_t wanted_bytes) {
  Check check{.name = "lockable memory"};
  check.values = {{"limit_bytes", nullptr}, {"model_bytes", wanted_bytes}};
  if (!limit_bytes) {
    check.detail = "unlimited";
    return check;
  }
  check.values["limit_bytes"] = *limit_bytes;
  check.detail = megabytes(*limit_bytes);
  if (wanted_bytes > 0) {
    check.detail += "; the model has " + megabytes(wanted_bytes);
  }
  if (*limit_bytes < wanted_bytes) {
    check.health = Health::Slow;
    check.remedy =
        "under memory pressure the model may be swapped out and the next key is late: raise the "
        "limit (`ulimit -l`, "
        "LimitMEMLOCK= of a systemd unit, or memlock in /etc/security/limits.conf)";
  }
  return check;
}

Check check_model(const std::vector<ModelFinding>& files, std::string_view lookup_problem,
                  ModelParts parts) {
  Check check{.name = "model", .needed_for = NeededFor::Predicting};
  check.values = {{"files", nlohmann::ordered_json::array()}};
  if (!lookup_problem.empty() || files.empty()) {
    check.health = Health::Missing;
    check.detail = lookup_problem.empty() ? "no model file" : lookup_problem;
    check.remedy =
        "restore models/instant from the release or the repository, or name a model with --model "
        "or $LAYA_MODEL";
    return check;
  }
  if (parts != ModelParts::Both) {
    check.health = Health::Slow;
    check.remedy =
        parts == ModelParts::NoNetwork
            ? "only the n-gram table is there: put gru.laya beside it for better predictions"
            : "only the network is there: put ngram.laya beside it for better predictions";
  }
  for (const ModelFinding& file : files) {
    nlohmann::ordered_json problem = nullptr;
    if (!file.problem.empty()) {
      problem = file.problem;
      check.health = Health::Missing;
      check.remedy = "copy or download the damaged file again";
    }
    check.values["files"].push_back(
        {{"path", file.path}, {"bytes", file.bytes}, {"problem", problem}});
    check.detail += (check.detail.empty() ? "" : "; ") +
                    (file.problem.empty() ? file.path + " (" + megabytes(file.bytes) + ", intact)"
                                          : file.problem);
  }
  return check;
}

Check check_deep_model(const std::optional<ModelFinding>& file, std::string_view problem) {
  Check check{.name = "pretrained model"};
  check.values = {{"path", nullptr}, {"bytes", 0}};
  if (!problem.empty()) {
    check.health = Health::Missing;
    check.detail = problem;
    check.remedy = "see what is installed: laya model list";
  } else if (!file) {
    check.health = Health::Slow;
    check.detail = "none is installed; predicting works without";
    check.remedy = "for better predictions: laya model get smollm2-135m";
  } else if (!file->problem.empty()) {
    check.values["path"] = file->path;
    check.health = Health::Missing;
    check.detail = file->problem;
    check.remedy = "install it again (laya model list), or switch it off with --deep none";
  } else {
    check.values = {{"path", file->path}, {"bytes", file->bytes}};
    check.detail = file->path + " (" + megabytes(file->bytes) + ", intact)";
  }
  return check;
}

Check check_remote(const RemoteFinding& finding) {
  Check check{.name = "completion server"};
  check.values = {{"on", finding.is_on && finding.problem.empty()}, {"server", nullptr}};
  const std::string path =
      finding.settings_path.empty() ? "laya.toml (set $HOME)" : finding.settings_path;
  if (!finding.problem.empty()) {
    check.health = Health::Missing;
    check.detail = "off: " + finding.problem;
    check.remedy = "set [remote] right in " + path + ", or take it away; everything else works";
    return check;
  }
  if (!finding.is_on) {
    check.detail = "off: nothing that is typed leaves this machine ([remote] url in " + path + ")";
    return check;
  }
  check.values["server"] = finding.name;
  check.values["time_limit_ms"] = finding.time_limit_ms;
  check.detail = "on: laya type sends the text left of the caret to " + finding.name + ", " +
                 std::to_string(finding.time_limit_ms) + " ms at most (" + path + ")";
  if (finding.key_is_readable_by_others) {
    check.health = Health::Slow;
    check.remedy = "its key_file can be read by others: chmod 600";
  }
  return check;
}

std::vector<Check> check_parts(std::span<const OptionalPart> parts) {
  std::vector<Check> checks;
  Check built_in{.name = "optional parts"};
  built_in.values = {{"parts", nlohmann::ordered_json::array()}};
  for (const OptionalPart& part : parts) {
    if (part.reason.empty()) {
      built_in.detail += (built_in.detail.empty() ? "built in: " : ", ") + std::string(part.name);
      built_in.values["parts"].push_back(part.name);
      continue;
    }
    Check absent{.name = std::string(part.name), .health = Health::Missing};
    absent.detail = "left out (" + std::string(part.reason) + "): no " + std::string(part.lost);
    absent.remedy = part.remedy;
    absent.values = {{"lost", part.lost}, {"reason", part.reason}};
    checks.push_back(std::move(absent));
  }
  if (built_in.detail.empty()) built_in.detail = "none is built in";
  checks.insert(checks.begin(), std::move(built_in));
  return checks;
}

Check check_mlx(const TrainingProbe& probe) {
  Check check{.name = "mlx", .needed_for = NeededFor::Training};
  check.values = {{"version", nullptr}};
  if (probe.has_mlx) {
    check.detail = "MLX " + probe.mlx_version;
    check.values["version"] = probe.mlx_version;
  } else {
    check.health = Health::Missing;
    check.detail = "not built in: predicting works, training does not";
    check.remedy = kSetup;
  }
  return check;
}

Check check_blas(const TrainingProbe& probe, unsigned cores) {
  Check check{.name = "blas", .needed_for = NeededFor::Training};
  check.values = {{"gflops", probe.mlx_gflops}, {"cores", cores}};
  if (probe.mlx_gflops <= 0.0) {
    check.health = Health::Missing;
    check.detail = "not measured (no MLX)";
    check.remedy = kSetup;
    return check;
  }
  check.detail = rate(probe.mlx_gflops) + " in fp32 through MLX";
  if (probe.mlx_gflops < kSlowPerCore * std::max(cores, 1u)) {
    check.health = Health::Slow;
    check.remedy = busy_note(probe, cores) +
                   "install libopenblas-dev and build again; if it is there, name the CPU to it "
                   "(OPENBLAS_CORETYPE=SkylakeX with "
                   "AVX-512, =Haswell with AVX2)";
  }
  return check;
}

Check check_onednn(const TrainingProbe& probe, unsigned cores) {
  Check check{.name = "onednn", .needed_for = NeededFor::Training};
  check.values = {{"fp32_gflops", probe.onednn_fp32_gflops},
                  {"bf16_gflops", probe.onednn_bf16_gflops},
                  {"cores", cores}};
  if (probe.onednn_fp32_gflops <= 0.0) {
    check.health = Health::Missing;
    check.detail = "not built in: training does not work";
    check.remedy = kSetup;
    return check;
  }
  check.detail =
      rate(probe.onednn_fp32_gflops) + " in fp32" +
      (probe.onednn_bf16_gflops > 0.0 ? ", " + rate(probe.onednn_bf16_gflops) + " in bf16"
                                      : std::string(", no native bf16 on this CPU"));
  if (probe.onednn_fp32_gflops < kSlowPerCore * std::max(cores, 1u)) {
    check.health = Health::Slow;
    check.remedy = busy_note(probe, cores) +
                   "training will be slow: let nothing else run beside it, and see OMP_NUM_THREADS";
  }
  return check;
}

std::vector<Check> check_training(const TrainingProbe& probe, unsigned cores) {
  if (probe.is_installed) {
    return {check_mlx(probe), check_blas(probe, cores), check_onednn(probe, cores)};
  }
  Check check{.name = "laya-train", .needed_for = NeededFor::Training};
  check.health = Health::Missing;
  check.detail = "not installed: predicting works, training and evaluation do not";
  check.remedy = "install the package laya-train (from source: make test builds it)";
  return {check};
}

std::string report_text(const std::vector<Check>& checks) {
  constexpr std::size_t kStatusWidth = 9;
  constexpr std::size_t kNameWidth = 17;
  std::string out;
  for (const Check& check : checks) {
    std::string status(health_name(check.health));
    std::string name = check.name;
    status.resize(std::max(status.size(), kStatusWidth), ' ');
    name.resize(std::max(name.size() + 1, kNameWidth), ' ');
    out += status + name + check.detail + "\n";
    if (!check.remedy.empty()) {
      out += std::string(kStatusWidth + kNameWidth, ' ') + "-> " + check.remedy + "\n";
    }
  }
  return out;
}

nlohmann::ordered_json report_json(const std::vector<Check>& checks) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Check& check : checks) {
    nlohmann::ordered_json item{
        {"name", check.name}, {"status", health_name(check.health)}, {"detail", check.detail}};
    item["remedy"] = check.remedy.empty() ? nlohmann::ordered_json(nullptr)
                                          : nlohmann::ordered_json(check.remedy);
    item.update(check.values);
    list.push_back(std::move(item));
  }
  return {{"ok", can_predict(checks)}, {"checks", std::move(list)}};
}

bool can_predict(const std::vector<Check>& checks) {
  return std::none_of(checks.begin(), checks.end(), [](const Check& check) {
    return check.needed_for == NeededFor::Predicting && check.health == Health::Missing;
  });
}

}  // namespace laya::apps
