#include "laya/training_program.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "catalog/program.h"

namespace laya::apps {
namespace {

namespace fs = std::filesystem;

constexpr const char* kProgram = "laya-train";
constexpr const char* kGroup = "Run by laya-train";

struct Listed {
  const char* name;
  const char* description;
};
constexpr std::array<Listed, 6> kCommands = {{
    {"train", "make a model from texts: vocabulary, n-grams, network, ranker"},
    {"eval", "how good are the predictions on a text?"},
    {"simulate", "key logs of somebody typing a text"},
    {"quantize", "int8 or int4 from fp32, the loss measured"},
    {"compare", "two .laya files of one decoder: are the same tokens offered?"},
    {"vocabulary", "how a text is cut into pieces"},
}};
constexpr std::array<Listed, 3> kBenches = {{
    {"train", "speed of the training step, against oneDNN alone on the same matrix products"},
    {"mlx", "the network's step through MLX's own 8-bit weights, beside ours"},
    {"peers", "the decoder beside llama.cpp: the same checkpoint, threads and tokens, in turns"},
}};

bool is_listed(std::span<const Listed> list, std::string_view name) {
  return std::any_of(list.begin(), list.end(),
                     [&](const Listed& listed) { return listed.name == name; });
}

void add(CLI::App& app, std::span<const Listed> list) {
  for (const Listed& listed : list) {
    app.add_subcommand(listed.name, listed.description)->group(kGroup);
  }
}

bool may_run(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0;
}

}  // namespace

bool is_training_command(std::span<char* const> arguments) {
  if (arguments.size() < 2) return false;
  return is_listed(kCommands, arguments[1]) ||
         (arguments.size() > 2 && std::string_view(arguments[1]) == "bench" &&
          is_listed(kBenches, arguments[2]));
}

void add_training_commands(CLI::App& app) { add(app, kCommands); }
void add_training_benches(CLI::App& bench) { add(bench, kBenches); }

std::string find_training_program() {
  std::error_code error;
  const fs::path own = fs::read_symlink("/proc/self/exe", error);
  if (!error && may_run(own.parent_path() / kProgram)) {
    return (own.parent_path() / kProgram).string();
  }
  const char* set = std::getenv("PATH");
  std::string_view folders = set != nullptr ? set : "";
  while (!folders.empty()) {
    const std::size_t end = std::min(folders.find(':'), folders.size());
    const fs::path path = fs::path(folders.substr(0, end)) / kProgram;
    // Never from the current folder, which may be anybody's: relative entries are passed over.
    if (path.is_absolute() && may_run(path)) return path.string();
    folders.remove_prefix(std::min(end + 1, folders.size()));
  }
  return {};
}

Error run_training_program(char** argv) {
  const std::string command = argv[1];
  const std::string path = find_training_program();
  if (path.empty()) {
    return {ErrorCode::Unsupported,
            command +
                ": laya-train is not installed; it comes with the package laya-train "
                "(from source: make test builds it)"};
  }
  ::execv(path.c_str(), argv);
  return {ErrorCode::Io, path + ": cannot be run: " + std::strerror(errno)};
}

TrainingProbe probe_training() {
  const std::string path = find_training_program();
  if (path.empty()) return parse_training_probe("");
  const Result<catalog::ProgramEnd> end = catalog::run_program(
      {.arguments = {path, "probe"}, .environment = base::environment_with({})}, {});
  return parse_training_probe(end ? std::string_view(end->output) : std::string_view());
}

}  // namespace laya::apps
