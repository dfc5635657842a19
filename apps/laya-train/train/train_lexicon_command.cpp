// `laya train lexicon`: which words there are, and how frequent they are.
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include "laya-train/train/train_commands.h"
#include "setup/data_files.h"
#include "train/lexicon/lexicon_builder.h"

namespace laya::apps {
namespace {

struct LexiconFlags {
  std::string scowl = "/usr/share/dict/scowl";
  std::string mixture;
  std::string recipe;
  std::string data;
  std::string out;
};

Result<std::string> or_shipped(const std::string& given, const char* shipped) {
  if (!given.empty()) return given;
  return setup::find_data_file(shipped);
}

void run_lexicon(const LexiconFlags& flags, Outcome& outcome) {
  const Result<std::string> mixture_path = or_shipped(flags.mixture, "models/instant/mixture.toml");
  if (!mixture_path) return fail(outcome, mixture_path.error());
  const Result<std::string> recipe_path = or_shipped(flags.recipe, "models/instant/ngram.toml");
  if (!recipe_path) return fail(outcome, recipe_path.error());
  const Result<train::Mixture> mixture = train::load_mixture(*mixture_path, flags.data);
  if (!mixture) return fail(outcome, mixture.error());
  const Result<train::NgramRecipe> recipe = train::load_ngram_recipe(*recipe_path);
  if (!recipe) return fail(outcome, recipe.error());
  const bool terminal = ::isatty(STDERR_FILENO) != 0;
  const auto build = train::build_lexicon(
      flags.scowl, *mixture, *recipe, [&](std::string_view stage, double done) {
        if (terminal) {
          std::fprintf(stderr, "\r\033[K%.*s %3.0f %%", static_cast<int>(stage.size()),
                       stage.data(), 100 * done);
        }
      });
  if (terminal) std::fputs("\r\033[K", stderr);
  if (!build) return fail(outcome, build.error());
  if (Status status = train::write_lexicon(*build, flags.out); !status) {
    return fail(outcome, status.error());
  }
  std::error_code ignored;
  std::printf("%s: %zu listed words, %zu that only the texts have, %.2f MB\n", flags.out.c_str(),
              build->listed, build->found,
              static_cast<double>(std::filesystem::file_size(flags.out, ignored)) * 1e-6);
}

}  // namespace

void add_train_lexicon(CLI::App& train, Outcome& outcome) {
  CLI::App* app = train.add_subcommand(
      "lexicon", "list words and count them: what completes rare words and corrects slips");
  const auto flags = std::make_shared<LexiconFlags>();
  app->add_option("--scowl", flags->scowl, "folder of SCOWL's word lists (Debian: scowl)")
      ->capture_default_str();
  app->add_option("--mixture", flags->mixture,
                  "TOML file that lists the texts (default: the shipped one)");
  app->add_option("--recipe", flags->recipe,
                  "TOML file with their weights (default: the n-gram table's)");
  app->add_option("--data", flags->data, "folder that the mixture's paths are relative to")
      ->required();
  app->add_option("--out", flags->out, "the .laya file to write")->required();
  app->footer("example: laya train lexicon --data TEXTS --out models/lexicon/en.laya");
  app->callback([flags, &outcome] { run_lexicon(*flags, outcome); });
}

}  // namespace laya::apps
