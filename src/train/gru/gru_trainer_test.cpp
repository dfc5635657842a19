#include "train/gru/gru_trainer.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <functional>
#include <string>
#include <vector>

#include "model/gru/quantize.h"
#include "train/gru/run_checkpoint.h"
#include "train/gru/test_texts.h"

namespace laya::train {
namespace {

// Records what the trainer says, and may act on it.
class Watcher final : public TrainObserver {
 public:
  void note(std::string_view line) override { notes.emplace_back(line); }
  void tick(const TrainTick& tick) override {
    losses.push_back(tick.loss);
    if (on_tick) on_tick(tick);
  }
  void evaluated(const TrainTick&, const DevReport& report, bool) override {
    dev.push_back(report.mean);
  }
  void saved(const std::filesystem::path& path) override {
    saves.push_back(path);
    if (on_saved) on_saved();
  }
  std::vector<std::string> notes;
  std::vector<double> losses, dev;
  std::vector<std::filesystem::path> saves;
  std::function<void(const TrainTick&)> on_tick;
  std::function<void()> on_saved;
};

Result<TrainSummary> train(const TrainOptions& options, Watcher& watcher,
                           Start start = Start::Fresh) {
  const std::atomic<bool> stop{false};
  return train_gru(options, start, watcher, stop);
}

std::string log_of(const TrainOptions& options) {
  return base::read_file((options.run_dir / "log.jsonl").string(), 1 << 20).value();
}

void expect_same(const RunCheckpoint& a, const RunCheckpoint& b) {
  EXPECT_EQ(a.progress.tokens, b.progress.tokens);
  EXPECT_EQ(a.progress.step, b.progress.step);
  EXPECT_EQ(a.progress.best_dev, b.progress.best_dev);
  EXPECT_EQ(a.progress.curve.size(), b.progress.curve.size());
  EXPECT_EQ(a.position, b.position);
  for (std::size_t i = 0; i < a.parameters.tensors().size(); ++i) {
    const Parameter& x = a.parameters.tensors()[i];
    const Parameter& y = b.parameters.tensors()[i];
    EXPECT_EQ(x.value, y.value) << x.name;
    EXPECT_EQ(x.first_moment, y.first_moment) << x.name;
    EXPECT_EQ(x.second_moment, y.second_moment) << x.name;
  }
  for (std::size_t l = 0; l < a.carry.layers.size(); ++l) {
    EXPECT_EQ(a.carry.layers[l].hidden, b.carry.layers[l].hidden);
    EXPECT_EQ(a.carry.layers[l].past_kv, b.carry.layers[l].past_kv);
    EXPECT_EQ(a.carry.layers[l].history, b.carry.layers[l].history);
  }
}

TEST(GruTrainer, LearnsAndWritesModelAndLog) {
  const base::TestFolder folder;
  TrainOptions options = small_run(folder, "run");
  options.until_tokens = 100 * 32;
  Watcher watcher;
  const Result<TrainSummary> summary = train(options, watcher);
  ASSERT_TRUE(summary.has_value()) << summary.error().message;
  EXPECT_EQ(summary->tokens, options.until_tokens);
  EXPECT_EQ(summary->steps, 100u);
  ASSERT_GE(watcher.dev.size(), 2u);
  EXPECT_LT(watcher.dev.back(), 0.7 * watcher.dev.front());
  EXPECT_LT(watcher.losses.back(), 0.5 * watcher.losses.front());
  EXPECT_TRUE(std::filesystem::exists(options.run_dir / "best.laya"));
  EXPECT_TRUE(std::filesystem::exists(options.run_dir / "final.laya"));
  const std::string log = log_of(options);
  for (const char* event :
       {"\"start\"", "\"train\"", "\"dev\"", "\"checkpoint\"", "\"end\"", "\"en_small\""}) {
    EXPECT_NE(log.find(event), std::string::npos) << event;
  }
  for (const char* text : {"see you", "train at", "吃饭"})
    EXPECT_EQ(log.find(text), std::string::npos) << text;
}

TEST(GruTrainer, ResumedRunEqualsAnUninterruptedOneBitForBit) {
  const base::TestFolder folder;
  const TrainOptions straight = small_run(folder, "straight");
  Watcher watcher;
  ASSERT_TRUE(train(straight, watcher).has_value());

  TrainOptions broken = small_run(folder, "broken");
  std::atomic<bool> stop{false};
  Watcher stopper;
  // Once within the sampled part, once within the full one.
  for (std::uint64_t at : {13, 27}) {
    stop = false;
    stopper.on_tick = [&](const TrainTick& tick) { stop = tick.step == at; };
    const Result<TrainSummary> part =
        train_gru(broken, at == 13 ? Start::Fresh : Start::Resume, stopper, stop);
    ASSERT_TRUE(part.has_value()) << part.error().message;
    EXPECT_EQ(part->steps, at);
    EXPECT_FALSE(std::filesystem::exists(broken.run_dir / "final.laya"));
  }
  Watcher rest;
  ASSERT_TRUE(train(broken, rest, Start::Resume).has_value());
  expect_same(load_newest_checkpoint(straight.run_dir).value(),
              load_newest_checkpoint(broken.run_dir).value());
}

TEST(GruTrainer, BudgetMayChangeOnResume) {
  const base::TestFolder folder;
  TrainOptions options = small_run(folder, "run");
  Watcher watcher;
  ASSERT_TRUE(train(options, watcher).has_value());
  options.until_tokens += 5 * 32;
  const Result<TrainSummary> longer = train(options, watcher, Start::Resume);
  ASSERT_TRUE(longer.has_value()) << longer.error().message;
  EXPECT_EQ(longer->tokens, options.until_tokens);
}

TEST(GruTrainer, FullDiskStopsWithOneErrorAndLeavesTheCheckpoint) {
  const base::TestFolder folder;
  TrainOptions options = small_run(folder, "run");
  options.checkpoint_every_s = 0.0;  // after each step
  Watcher watcher;
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  // Files may grow to 20 kB from then on: enough for the log, not for a checkpoint.
  watcher.on_saved = [&] {
    rlimit limit = before;
    limit.rlim_cur = 20000;
    setrlimit(RLIMIT_FSIZE, &limit);
  };
  const Result<TrainSummary> summary = train(options, watcher);
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, old_handler);

  ASSERT_FALSE(summary.has_value());
  EXPECT_EQ(summary.error().code, ErrorCode::Io);
  EXPECT_EQ(watcher.saves.size(), 1u);
  EXPECT_NE(summary.error().message.find("--resume"), std::string::npos) << summary.error().message;
  EXPECT_NE(summary.error().message.find(watcher.saves[0].filename().string()), std::string::npos);
  const Result<RunCheckpoint> left = load_newest_checkpoint(options.run_dir);
  ASSERT_TRUE(left.has_value()) << left.error().message;
  EXPECT_EQ(left->progress.step, 1u);
  for (const auto& entry : std::filesystem::directory_iterator(options.run_dir)) {
    EXPECT_EQ(entry.path().filename().string().find("tmp"), std::string::npos) << entry.path();
  }
  Watcher again;
  options.checkpoint_every_s = 1e6;
  options.until_tokens = 5 * 32;
  EXPECT_TRUE(train(options, again, Start::Resume).has_value()) << "with space again it goes on";
}

TEST(GruTrainer, RefusesTextOfDevUnlessTheSourceDropsIt) {
  const base::TestFolder folder;
  const TrainOptions options = small_run(folder, "run");
  write_text(folder.file("data/en_dev.txt"), "see the train\nthe train at 7 is late\n");
  Watcher watcher;
  const Result<TrainSummary> refused = train(options, watcher);
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().message.find("en.txt: line 26"), std::string::npos)
      << refused.error().message;
  std::string mixture = base::read_file(options.mixture.string(), 1 << 20).value();
  mixture.insert(mixture.find("language = \"en\""), "drop_held_out = true\n");
  write_text(options.mixture, mixture);
  EXPECT_TRUE(train(options, watcher).has_value());
}

TEST(GruTrainer, RunsAreNotOverwrittenOrMixedUp) {
  const base::TestFolder folder;
  TrainOptions options = small_run(folder, "run");
  Watcher watcher;
  const Result<TrainSummary> none = train(options, watcher, Start::Resume);
  ASSERT_FALSE(none.has_value());
  EXPECT_EQ(none.error().code, ErrorCode::Io);
  ASSERT_TRUE(train(options, watcher).has_value());
  const Result<TrainSummary> twice = train(options, watcher);
  ASSERT_FALSE(twice.has_value());
  EXPECT_NE(twice.error().message.find("--resume"), std::string::npos);
  TrainOptions other = options;
  other.lanes = 5;
  EXPECT_FALSE(train(other, watcher, Start::Resume).has_value());
  write_text(folder.file("data/zh.txt"), "我在家\n");
  const Result<TrainSummary> changed = train(options, watcher, Start::Resume);
  ASSERT_FALSE(changed.has_value());
  EXPECT_EQ(changed.error().code, ErrorCode::BadArgument);
}

// Packed weights too, embedding rotated and all: what they compute is what was learnt.
TEST(GruTrainer, BeginsWhereTheModelThatItStartsFromStood) {
  const base::TestFolder folder;
  const TrainOptions first = small_run(folder, "first");
  Watcher learnt;
  ASSERT_TRUE(train(first, learnt).has_value());
  const std::filesystem::path whole = first.run_dir / "final.laya";
  const std::filesystem::path packed = folder.file("int8.laya");
  const auto file = format::ModelFile::open(whole.string(), format::Verify::Full);
  ASSERT_TRUE(file.has_value()) << file.error().message;
  ASSERT_TRUE(model::quantize_file(*file, packed.string(), {}).has_value());
  for (const auto& model : {whole, packed}) {
    SCOPED_TRACE(model.filename());
    TrainOptions options = small_run(folder, model.stem());
    options.start_from = model;
    options.config = model::default_gru_config();  // that of the file counts
    options.learning_rate = 1e-7F;                 // nothing is unlearnt before the first look
    options.until_tokens = 32;
    options.eval_every_tokens = 32;
    Watcher watcher;
    const Result<TrainSummary> summary = train(options, watcher);
    ASSERT_TRUE(summary.has_value()) << summary.error().message;
    EXPECT_NEAR(watcher.dev.front(), learnt.dev.back(), model == whole ? 1e-3 : 0.02);
    const RunCheckpoint left = load_newest_checkpoint(options.run_dir).value();
    EXPECT_EQ(left.options.start_from, model);
    EXPECT_EQ(left.options.config.hidden_dim, first.config.hidden_dim);
  }
}

TEST(GruTrainer, StopsWhenDevGetsNoBetter) {
  const base::TestFolder folder;
  TrainOptions options = small_run(folder, "run");
  options.until_tokens = 5000 * 32;
  options.eval_every_tokens = 32;
  options.patience = 3;
  Watcher watcher;
  const Result<TrainSummary> summary = train(options, watcher);
  ASSERT_TRUE(summary.has_value()) << summary.error().message;
  EXPECT_LT(summary->tokens, options.until_tokens);
  EXPECT_GT(summary->steps, 3u);
}

}  // namespace
}  // namespace laya::train
