// `laya train ngram` and `laya train vocab`: what is counted, not learnt.
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <span>
#include <string>

#include "base/atomic_file.h"
#include "laya-train/train/train_commands.h"
#include "setup/data_files.h"
#include "train/ngram/ngram_builder.h"
#include "train/text/mixture.h"
#include "train/vocabulary/vocabulary_train.h"

namespace laya::apps {
namespace {

struct TableFlags {
  std::string mixture;
  std::string data;
  std::string recipe;
  std::string out;
  train::VocabularyOptions vocabulary;
};

void add_common(CLI::App& app, TableFlags& flags) {
  app.add_option("--mixture", flags.mixture,
                 "TOML file that lists the texts (default: the shipped one)");
  app.add_option("--data", flags.data, "folder that the mixture's paths are relative to")
      ->required();
  app.add_option("--out", flags.out, "the file to write")->required();
}

Result<std::string> or_shipped(const std::string& given, const char* shipped) {
  if (!given.empty()) return given;
  return setup::find_data_file(shipped);
}

Result<train::Mixture> open_mixture(const TableFlags& flags) {
  Result<std::string> path = or_shipped(flags.mixture, "models/instant/mixture.toml");
  if (!path) return path.error();
  return train::load_mixture(*path, flags.data);
}

// One line that rewrites itself on a terminal, one line a stage elsewhere.
class StageView {
 public:
  void show(std::string_view stage, double done) {
    const bool changed = stage != stage_;
    stage_ = std::string(stage);
    if (terminal_) {
      std::fprintf(stderr, "\r\033[K%s %3.0f %%", stage_.c_str(), done * 100.0);
    } else if (changed) {
      std::fprintf(stderr, "%s\n", stage_.c_str());
    }
  }
  ~StageView() {
    if (terminal_ && !stage_.empty()) std::fputc('\n', stderr);
  }

 private:
  bool terminal_ = isatty(fileno(stderr)) != 0;
  std::string stage_;
};

void run_ngram(const TableFlags& flags, Outcome& outcome) {
  Result<train::Mixture> mixture = open_mixture(flags);
  if (!mixture) return fail(outcome, mixture.error());
  Result<std::string> path = or_shipped(flags.recipe, "models/instant/ngram.toml");
  if (!path) return fail(outcome, path.error());
  Result<train::NgramRecipe> recipe = train::load_ngram_recipe(*path);
  if (!recipe) return fail(outcome, recipe.error());
  Result<train::NgramBuild> build = [&] {
    StageView view;
    return train::build_ngrams(
        *mixture, *recipe, [&](std::string_view stage, double done) { view.show(stage, done); });
  }();
  if (!build) return fail(outcome, build.error());
  if (Status status = train::write_ngrams(*build, *recipe, flags.out); !status)
    return fail(outcome, status.error());
  std::error_code code;
  std::printf("%s: %.1f MB from %llu units\n", flags.out.c_str(),
              static_cast<double>(std::filesystem::file_size(flags.out, code)) * 1e-6,
              static_cast<unsigned long long>(build->units));
}

void run_vocab(const TableFlags& flags, Outcome& outcome) {
  Result<train::Mixture> mixture = open_mixture(flags);
  if (!mixture) return fail(outcome, mixture.error());
  Result<text::Vocabulary> vocabulary = train::train_vocabulary(*mixture, flags.vocabulary);
  if (!vocabulary) return fail(outcome, vocabulary.error());
  const std::vector<std::byte> blob = vocabulary->serialize();
  if (Status status = base::write_file(flags.out, blob); !status)
    return fail(outcome, status.error());
  std::printf("%s: %zu pieces, %zu bytes\n", flags.out.c_str(), vocabulary->size(), blob.size());
}

}  // namespace

void add_train_ngram(CLI::App& train, Outcome& outcome) {
  CLI::App* app = train.add_subcommand("ngram", "count an n-gram table");
  const auto flags = std::make_shared<TableFlags>();
  add_common(*app, *flags);
  app->add_option("--recipe", flags->recipe,
                  "TOML file: weights, smoothing, pruning (default: the shipped one)");
  app->callback([flags, &outcome] { run_ngram(*flags, outcome); });
}

void add_train_vocab(CLI::App& train, Outcome& outcome) {
  CLI::App* app = train.add_subcommand("vocab", "choose the pieces that text is cut into");
  const auto flags = std::make_shared<TableFlags>();
  add_common(*app, *flags);
  app->add_option("--size", flags->vocabulary.size, "pieces in all")->capture_default_str();
  app->add_option("--sentences", flags->vocabulary.sentences, "lines drawn for training")
      ->capture_default_str();
  app->add_option("--seed", flags->vocabulary.seed, "of the choice of lines")
      ->capture_default_str();
  app->callback([flags, &outcome] { run_vocab(*flags, outcome); });
}

}  // namespace laya::apps
