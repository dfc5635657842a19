#include <atomic>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "laya-train/train/train_commands.h"
#include "laya-train/train/train_view.h"
#include "setup/data_files.h"
#include "train/gru/gru_trainer.h"
#include "train/gru/run_checkpoint.h"

namespace laya::apps {
namespace {

// A signal handler can reach nothing but a global.
std::atomic<bool> stop_requested{false};

void request_stop(int) { stop_requested.store(true); }

std::filesystem::path default_cache_dir() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache != '\0') {
    return std::filesystem::path(cache) / "laya" / "corpus";
  }
  const char* home = std::getenv("HOME");
  return std::filesystem::path(home != nullptr ? home : ".") / ".cache" / "laya" / "corpus";
}

// Flags are kept as changes, so that on resume those that were given override what the checkpoint
// holds and the rest stays.
struct GruFlags {
  train::TrainOptions given;
  std::string decay = "linear";
  bool resume = false;
  std::vector<std::pair<CLI::Option*, std::function<void(train::TrainOptions&)>>> changes;
};

template <typename T>
void add_flag(CLI::App& app, GruFlags& flags, const char* name, T train::TrainOptions::*member,
              const char* help) {
  CLI::Option* option = app.add_option(name, flags.given.*member, help);
  if constexpr (!std::is_same_v<T, std::filesystem::path>) option->capture_default_str();
  flags.changes.emplace_back(
      option, [&flags, member](train::TrainOptions& out) { out.*member = flags.given.*member; });
}

template <typename T>
void add_shape(CLI::App& app, GruFlags& flags, const char* name, T model::GruConfig::*member,
               const char* help) {
  CLI::Option* option =
      app.add_option(name, flags.given.config.*member, help)->capture_default_str();
  flags.changes.emplace_back(option, [&flags, member](train::TrainOptions& out) {
    out.config.*member = flags.given.config.*member;
  });
}

// What a new run needs and was not told comes from the shipped model's files.
Status fill_in(train::TrainOptions& options) {
  if (options.data_root.empty()) {
    return Error{ErrorCode::BadArgument,
                 "train gru: --data is missing: the folder of the training texts"};
  }
  for (auto [path, shipped] : {std::pair{&options.mixture, "models/instant/mixture.toml"},
                               std::pair{&options.vocabulary, "models/instant/vocabulary.bin"}}) {
    if (!path->empty()) continue;
    Result<std::string> found = setup::find_data_file(shipped);
    if (!found) return found.error();
    *path = *found;
  }
  if (options.cache_dir.empty()) options.cache_dir = default_cache_dir();
  return {};
}

void run_gru(const GruFlags& flags, Outcome& outcome) {
  train::TrainOptions options = flags.given;
  if (flags.resume) {
    Result<train::RunCheckpoint> stored = train::load_newest_checkpoint(flags.given.run_dir);
    if (!stored) return fail(outcome, stored.error());
    options = stored->options;
    options.run_dir = flags.given.run_dir;  // the folder may have moved
    options.minutes = 0.0;                  // a time limit is meant for one sitting
  }
  for (const auto& [option, change] : flags.changes) {
    if (option->count() > 0) change(options);
  }
  if (Status status = fill_in(options); !status) return fail(outcome, status.error());
  std::signal(SIGINT, request_stop);
  std::signal(SIGTERM, request_stop);
  TrainView view(stderr);
  const train::Start start = flags.resume ? train::Start::Resume : train::Start::Fresh;
  Result<train::TrainSummary> summary = train::train_gru(options, start, view, stop_requested);
  if (!summary) return fail(outcome, summary.error());
  std::printf("%llu tokens, %llu steps, %.0f s, dev %.4f bits/char, last checkpoint %s\n",
              static_cast<unsigned long long>(summary->tokens),
              static_cast<unsigned long long>(summary->steps), summary->seconds, summary->best_dev,
              summary->last_checkpoint.c_str());
}

}  // namespace

void add_train_gru(CLI::App& train, Outcome& outcome) {
  CLI::App* app =
      train.add_subcommand("gru", "train the network; Ctrl-C saves and stops, --resume goes on");
  const auto flags = std::make_shared<GruFlags>();
  using O = train::TrainOptions;
  add_flag(*app, *flags, "--mixture", &O::mixture, "TOML file that lists the texts");
  add_flag(*app, *flags, "--data", &O::data_root,
           "folder that the mixture's paths are relative to");
  add_flag(*app, *flags, "--vocabulary", &O::vocabulary,
           "vocabulary.bin, or a sentencepiece .model");
  app->add_option("--run", flags->given.run_dir,
                  "folder of this run: checkpoints, best.laya, log.jsonl")
      ->required();
  add_flag(*app, *flags, "--cache", &O::cache_dir,
           "folder for tokenised texts (default: the user's cache folder)");
  app->add_flag("--resume", flags->resume,
                "go on from the newest checkpoint in --run, with its options unless given anew");
  add_flag(*app, *flags, "--from", &O::start_from,
           "model whose weights a new run begins with (its shape too); moments start anew");
  add_flag(*app, *flags, "--until-tokens", &O::until_tokens, "token budget, all sittings together");
  add_flag(*app, *flags, "--minutes", &O::minutes,
           "end (and let the learning rate fall to zero) after so many minutes");
  add_flag(*app, *flags, "--patience", &O::patience,
           "stop after so many dev evaluations without a better one; 0: never");
  add_flag(*app, *flags, "--lanes", &O::lanes, "texts read side by side");
  add_flag(*app, *flags, "--steps", &O::steps, "tokens of each lane in a batch");
  add_flag(*app, *flags, "--seed", &O::seed, "random seed");
  add_flag(*app, *flags, "--learning-rate", &O::learning_rate, "peak learning rate");
  add_flag(*app, *flags, "--beta2", &O::beta2, "AdamW: decay of the second moment");
  add_flag(*app, *flags, "--weight-decay", &O::weight_decay, "AdamW: decoupled weight decay");
  add_flag(*app, *flags, "--clip", &O::max_gradient_norm, "largest norm of the gradients together");
  add_flag(*app, *flags, "--dropout", &O::dropout, "dropout rate");
  add_flag(*app, *flags, "--warmup-tokens", &O::warmup_tokens,
           "tokens until the peak learning rate");
  CLI::Option* decay = app->add_option("--decay", flags->decay, "linear, cosine or trapezoid")
                           ->check(CLI::IsMember({"linear", "cosine", "trapezoid"}))

                           ->capture_default_str();
  flags->changes.emplace_back(decay, [f = flags.get()](O& out) {
    if (Result<train::Decay> parsed = train::parse_decay(f->decay)) out.decay = *parsed;
  });
  add_flag(*app, *flags, "--decay-from", &O::decay_from,
           "trapezoid: part of the run after which the rate falls");
  add_flag(*app, *flags, "--candidates", &O::candidates, "classes drawn for the sampled head");
  add_flag(*app, *flags, "--full-head-from", &O::full_head_from,
           "part of the run from which the full head is used; 0: always");
  add_flag(*app, *flags, "--eval-every", &O::eval_every_tokens, "tokens between dev evaluations");
  add_flag(*app, *flags, "--eval-lines", &O::eval_lines, "dev lines at most, per source");
  add_flag(*app, *flags, "--checkpoint-seconds", &O::checkpoint_every_s,
           "seconds between checkpoints");
  using C = model::GruConfig;
  add_shape(*app, *flags, "--embedding-dim", &C::embedding_dim, "columns of the embedding");
  add_shape(*app, *flags, "--hidden-dim", &C::hidden_dim, "width of the network");
  add_shape(*app, *flags, "--layers", &C::layers, "GRU layers, each with local attention");
  add_shape(*app, *flags, "--heads", &C::heads, "attention heads a layer");
  add_shape(*app, *flags, "--head-dim", &C::head_dim, "width of a head");
  add_shape(*app, *flags, "--window", &C::window, "tokens that attention sees");
  app->callback([flags, &outcome] { run_gru(*flags, outcome); });
}

void add_train_export(CLI::App& train, Outcome& outcome) {
  CLI::App* app = train.add_subcommand("export", "write a checkpoint's weights as an fp32 model");
  const auto from = std::make_shared<std::string>();
  const auto to = std::make_shared<std::string>();
  app->add_option("checkpoint", *from,
                  "checkpoint-*.laya, or a run's folder (its newest checkpoint)")
      ->required();
  app->add_option("model", *to, "the file to write")->required();
  app->callback([from, to, &outcome] {
    std::filesystem::path checkpoint = *from;
    if (std::filesystem::is_directory(checkpoint)) {
      const std::vector<std::filesystem::path> all = train::list_checkpoints(checkpoint);
      if (!all.empty()) checkpoint = all.front();
    }
    const Status status = train::export_checkpoint(checkpoint, *to);
    if (!status) fail(outcome, status.error());
  });
}

}  // namespace laya::apps
