#include "common/model_options.h"

#include <cstdio>
#include <utility>

namespace laya::apps {

void add_model_options(CLI::App& command, setup::ModelOptions& options) {
  command.add_option(
      "-m,--model", options.paths,
      "model folder, or its files one by one (default: $LAYA_MODEL, then the shipped one)");
  command.add_option("--deep", options.deep,
                     "pretrained model of the second tier: its name (laya model list), a .laya "
                     "file, or none (default: $LAYA_DEEP, then what is installed)");
  command.add_option("--block", options.block,
                     "what is never suggested: a folder or file in place of the shipped lists");
  command
      .add_option("--without", options.without,
                  "further sources to leave out: lexicon, emoji, ranker")
      ->delimiter(',')
      ->check(CLI::IsMember({"lexicon", "emoji", "ranker"}));
  command.add_option("--ranker", options.ranker, "a .laya ranker in place of the shipped one");
  command.add_option("--threads", options.threads, "threads for one model pass")
      ->check(CLI::Range(1, 2))
      ->capture_default_str();
}

Result<std::shared_ptr<const predict::Engine>> open_engine(const setup::ModelOptions& options,
                                                           predict::DeepLoading loading) {
  Result<setup::OpenedEngine> opened = setup::find_engine(options, loading);
  if (!opened) return std::move(opened).error();
  if (!opened->warning.empty()) std::fprintf(stderr, "laya: %s\n", opened->warning.c_str());
  return std::move(opened->engine);
}

}  // namespace laya::apps
