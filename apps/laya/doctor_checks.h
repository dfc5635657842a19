// The doctor's judgement: from what was found on the machine to ok / slow / missing and what to do
// about it. Pure, so that every finding can be tested on a machine that does not have it.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/training_probe.h"
#include "laya/optional_parts.h"

namespace laya::apps {

enum class Health {
  Ok,
  Slow,     ///< works, slower or with less than it could
  Missing,  ///< does not work
};
std::string_view health_name(Health health);  ///< "ok", "slow", "missing"

/// What does not work where a check is Missing.
enum class NeededFor { Predicting, Comfort, Training };

/// One line of the report. `remedy` is empty when there is nothing to do.
struct Check {
  std::string name;
  NeededFor needed_for = NeededFor::Comfort;
  Health health = Health::Ok;
  std::string detail{};
  std::string remedy{};
  nlohmann::ordered_json values{};  ///< the figures, for programs
};

/// What one model file turned out to be.
struct ModelFinding {
  std::string path;
  std::uint64_t bytes = 0;
  std::string problem;  ///< empty: found and intact
};

Check check_kernels(std::string_view cpu_features, std::string_view chosen);
/// `limit_bytes`: what the process may lock, none for unlimited. `wanted_bytes`: size of the
/// model's files.
Check check_lockable_memory(std::optional<std::uint64_t> limit_bytes, std::uint64_t wanted_bytes);
/// `lookup_problem`: why no model was found at all, or empty.
/// Two parts make the model that ships; with one alone predicting works, less well.
enum class ModelParts { Both, NoNetwork, NoNgrams };
Check check_model(const std::vector<ModelFinding>& files, std::string_view lookup_problem,
                  ModelParts parts);
/// The decoder that is used by default, or the one that was named; `problem`: it could not be
/// found.
Check check_deep_model(const std::optional<ModelFinding>& file, std::string_view problem);
/// What laya.toml says about a completion server.
struct RemoteFinding {
  std::string settings_path;  ///< "" where there can be none
  std::string problem;        ///< why it cannot be asked; "" if it can, or is off
  bool is_on = false;
  std::string name;  ///< model and host
  std::int64_t time_limit_ms = 0;
  bool key_is_readable_by_others = false;
};
/// Says whether anything that is typed may leave this machine. Asks the server nothing.
Check check_remote(const RemoteFinding& finding);
/// What `laya-train` brings, by three checks; by one where it is not installed.
std::vector<Check> check_training(const TrainingProbe& probe, unsigned cores);
/// One check for each part that this build lacks, and one that lists those it has.
std::vector<Check> check_parts(std::span<const OptionalPart> parts);
Check check_mlx(const TrainingProbe& probe);
/// `cores`: rates are judged per core.
Check check_blas(const TrainingProbe& probe, unsigned cores);
Check check_onednn(const TrainingProbe& probe, unsigned cores);

/// The report for a terminal, remedies below their line.
std::string report_text(const std::vector<Check>& checks);
/// {"ok": …, "checks": [{"name", "status", "detail", "remedy": …|null, …values}]}; ok: predicting
/// works.
nlohmann::ordered_json report_json(const std::vector<Check>& checks);
/// No check that predicting needs is Missing.
bool can_predict(const std::vector<Check>& checks);

}  // namespace laya::apps
