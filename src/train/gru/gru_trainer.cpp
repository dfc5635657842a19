#include "train/gru/gru_trainer.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <nlohmann/json.hpp>
#include <numbers>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "text/tokenizer.h"
#include "train/gru/run_checkpoint.h"
#include "train/gru/sampler.h"
#include "train/gru/start_weights.h"
#include "train/gru/train_data.h"
#include "train/mlx/memory.h"
#include "train/text/batcher.h"
#include "train/text/run_log.h"

namespace laya::train {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

constexpr std::uint64_t kLogEverySteps = 25;
constexpr double kSpeedWindow_s = 30.0;
constexpr double kLossSmoothing = 0.98;  // of the last fifty steps, about
constexpr int kMaxBadSteps = 10;

double seconds_since(std::int64_t start_ns) {
  return static_cast<double>(base::monotonic_ns() - start_ns) * 1e-9;
}

// Tokens a second over the last half minute.
class SpeedMeter {
 public:
  void add(double now, std::uint64_t tokens) {
    points_.emplace_back(now, tokens);
    while (points_.size() > 2 && now - points_.front().first > kSpeedWindow_s) points_.pop_front();
  }
  double tokens_per_s() const {
    if (points_.size() < 2) return 0.0;
    const double seconds = points_.back().first - points_.front().first;
    return seconds > 0.0
               ? static_cast<double>(points_.back().second - points_.front().second) / seconds
               : 0.0;
  }

 private:
  std::deque<std::pair<double, std::uint64_t>> points_;
};

class Trainer {
 public:
  Trainer(RunCheckpoint state, TrainData& data, Batcher batcher, std::vector<std::byte> vocabulary,
          RunLog log, TrainObserver& observer)
      : state_(std::move(state)),
        data_(data),
        batcher_(std::move(batcher)),
        vocabulary_(std::move(vocabulary)),
        log_(std::move(log)),
        observer_(observer),
        sampler_(data.unigram, state_.options.candidates),
        precision_(best_precision()),
        start_ns_(base::monotonic_ns()),
        seconds_before_(state_.progress.seconds),
        progress_at_start_(state_.progress.progress),
        decaying_(state_.progress.progress >= state_.options.decay_from) {}

  Result<TrainSummary> run(const std::atomic<bool>& stop) {
    if (Status s = log_start(); !s) return s.error();
    const TrainOptions& options = state_.options;
    std::int64_t saved_ns = start_ns_;
    meter_.add(0.0, state_.progress.tokens);
    while (!finished() && !stop.load()) {
      if (Status s = one_step(); !s) return s.error();
      if (state_.progress.tokens >= state_.progress.next_eval) {
        if (Status s = evaluate(); !s) return s.error();
        state_.progress.next_eval += options.eval_every_tokens;
      }
      const bool decay_begins = options.decay == Decay::Trapezoid && !decaying_ &&
                                state_.progress.progress >= options.decay_from;
      if (decay_begins || seconds_since(saved_ns) >= options.checkpoint_every_s) {
        if (Status s = save(); !s) return s.error();
        saved_ns = base::monotonic_ns();
        if (decay_begins) keep_before_decay();
      }
    }
    return finish(stop.load());
  }

 private:
  bool finished() const {
    const TrainOptions& options = state_.options;
    if (options.patience > 0 && state_.progress.evals_since_best >= options.patience) return true;
    return state_.progress.progress >= 1.0;
  }

  double wall() const {
    return state_.options.minutes > 0.0 ? seconds_since(start_ns_) / (60.0 * state_.options.minutes)
                                        : 0.0;
  }

  Status one_step() {
    const TrainOptions& options = state_.options;
    TrainProgress& progress = state_.progress;
    StepOptions step;
    step.precision = precision_;
    step.head = progress.progress >= options.full_head_from ? HeadKind::Full : HeadKind::Sampled;
    step.sampler = &sampler_;
    step.dropout = options.dropout;
    step.seed = Random::derive(options.seed, 3, progress.step);
    batcher_.next(options.steps, batch_);
    if (Status s = gru_step(state_.parameters, batch_, step, state_.carry, result_); !s) return s;

    AdamWStep update;
    update.learning_rate = learning_rate(options, progress.tokens, progress.progress);
    update.beta1 = options.beta1;
    update.beta2 = options.beta2;
    update.weight_decay = options.weight_decay;
    update.max_gradient_norm = options.max_gradient_norm;
    update.step = static_cast<std::int64_t>(progress.step + 1);
    std::vector<AdamWSlot> slots;
    std::vector<Parameter>& tensors = state_.parameters.tensors();
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      slots.push_back({tensors[i].value, tensors[i].first_moment, tensors[i].second_moment,
                       result_.gradients[i], tensors[i].decay});
    }
    const double norm = adamw_step(slots, update);
    if (!std::isfinite(norm) || !std::isfinite(result_.loss)) {
      if (++bad_steps_ > kMaxBadSteps) {
        return Error{ErrorCode::Internal,
                     "train: the loss is no number any more at " + std::to_string(progress.tokens) +
                         " tokens; resume from the last checkpoint with a lower --learning-rate"};
      }
      state_.carry = GruCarry::zero(options.config, options.lanes);
    } else {
      bad_steps_ = 0;
    }
    progress.tokens += batch_.targets.size();
    ++progress.step;
    progress.seconds = seconds_before_ + seconds_since(start_ns_);
    progress.progress = std::max(
        progress.progress, run_progress(options, progress.tokens, wall(), progress_at_start_));
    return report(step.head, norm, update.learning_rate);
  }

  Status report(HeadKind head, double norm, float rate) {
    const TrainProgress& progress = state_.progress;
    if (std::isfinite(result_.loss)) {
      loss_ = loss_steps_ == 0 ? result_.loss
                               : kLossSmoothing * loss_ + (1.0 - kLossSmoothing) * result_.loss;
      ++loss_steps_;
    }
    meter_.add(seconds_since(start_ns_), progress.tokens);
    tick_.step = progress.step;
    tick_.tokens = progress.tokens;
    tick_.until_tokens = state_.options.until_tokens;
    tick_.progress = progress.progress;
    tick_.loss = loss_;
    tick_.bits_per_character = loss_ / std::numbers::ln2 / data_.characters_per_token;
    tick_.gradient_norm = norm;
    tick_.learning_rate = rate;
    tick_.tokens_per_s = meter_.tokens_per_s();
    tick_.seconds_left = seconds_left();
    tick_.head = head;
    observer_.tick(tick_);
    interval_loss_ += result_.loss;
    if (progress.step % kLogEverySteps != 0) return {};
    const Json line = {{"event", "train"},
                       {"step", progress.step},
                       {"tokens", progress.tokens},
                       {"seconds", progress.seconds},
                       {"loss", interval_loss_ / static_cast<double>(kLogEverySteps)},
                       {"bits_per_character", interval_loss_ / static_cast<double>(kLogEverySteps) /
                                                  std::numbers::ln2 / data_.characters_per_token},
                       {"gradient_norm", norm},
                       {"learning_rate", rate},
                       {"tokens_per_s", tick_.tokens_per_s},
                       {"head", head == HeadKind::Full ? "full" : "sampled"}};
    interval_loss_ = 0.0;
    return log(line);
  }

  double seconds_left() const {
    const TrainOptions& options = state_.options;
    double left = 1e9;
    if (tick_.tokens_per_s > 0.0 && options.until_tokens > state_.progress.tokens) {
      left =
          static_cast<double>(options.until_tokens - state_.progress.tokens) / tick_.tokens_per_s;
    }
    if (options.minutes > 0.0)
      left = std::min(left, options.minutes * 60.0 - seconds_since(start_ns_));
    return std::max(left, 0.0);
  }

  Status evaluate() {
    if (data_.dev.sources().empty()) return {};
    const BatchScorer scorer = [&](const Batch& batch) {
      return gru_evaluate(state_.parameters, batch, precision_);
    };
    const std::int64_t begin = base::monotonic_ns();
    Result<DevReport> report = data_.dev.evaluate(scorer, state_.options.lanes);
    if (!report) return report.error();
    TrainProgress& progress = state_.progress;
    const bool best = progress.best_dev == 0.0 || report->mean < progress.best_dev;
    progress.evals_since_best = best ? 0 : progress.evals_since_best + 1;
    if (best) progress.best_dev = report->mean;
    Json scores = Json::object();
    for (const DevScore& score : report->sources) scores[score.name] = score.bits_per_character;
    progress.curve.push_back({progress.tokens, report->mean});
    last_dev_ = scores;
    if (best) {
      if (Status s = export_model(state_.parameters, record(), run_dir() / "best.laya"); !s)
        return disk_error(s.error());
    }
    observer_.evaluated(tick_, *report, best);
    return log({{"event", "dev"},
                {"step", progress.step},
                {"tokens", progress.tokens},
                {"mean_bits_per_character", report->mean},
                {"bits_per_character", scores},
                {"seconds", seconds_since(begin)},
                {"best", best}});
  }

  Status save() {
    state_.position = batcher_.position();
    Result<fs::path> path = save_checkpoint(state_, record());
    if (!path) return disk_error(path.error());
    last_checkpoint_ = *path;
    observer_.saved(*path);
    return log({{"event", "checkpoint"},
                {"tokens", state_.progress.tokens},
                {"file", path->filename().string()}});
  }

  // A run that is to be prolonged goes on from here: what comes after is tuned to stop.
  void keep_before_decay() {
    decaying_ = true;
    std::error_code code;
    fs::copy_file(last_checkpoint_, run_dir() / "before-decay.laya",
                  fs::copy_options::overwrite_existing, code);
    if (code) observer_.note("before-decay.laya could not be written: " + code.message());
  }

  Result<TrainSummary> finish(bool stopped) {
    if (!stopped && curve_tokens() != state_.progress.tokens) {
      if (Status s = evaluate(); !s) return s.error();
    }
    if (Status s = save(); !s) return s.error();
    if (!stopped) {
      if (Status s = export_model(state_.parameters, record(), run_dir() / "final.laya"); !s)
        return disk_error(s.error()).error();
    }
    if (Status s =
            log({{"event", stopped ? "stopped" : "end"}, {"tokens", state_.progress.tokens}});
        !s)
      return s.error();
    return TrainSummary{state_.progress.tokens,   state_.progress.step, state_.progress.seconds,
                        state_.progress.best_dev, last_checkpoint_,     run_dir() / "best.laya"};
  }

  std::uint64_t curve_tokens() const {
    return state_.progress.curve.empty() ? 0 : state_.progress.curve.back().tokens;
  }
  const fs::path& run_dir() const { return state_.options.run_dir; }

  ModelRecord record() const {
    std::string licence;
    Json sources = Json::array();
    const std::vector<std::uint64_t> seen = batcher_.tokens_per_source();
    for (std::size_t i = 0; i < data_.mixture.sources.size(); ++i) {
      const MixtureSource& source = data_.mixture.sources[i];
      sources.push_back({{"name", source.name},
                         {"licence", source.licence},
                         {"share", data_.shares[i]},
                         {"tokens", data_.corpora[i].tokens().size()},
                         {"tokens_seen", seen[i]}});
    }
    Json curve = Json::array();
    for (const DevPoint& point : state_.progress.curve) {
      curve.push_back({{"tokens", point.tokens}, {"bits_per_character", point.bits_per_character}});
    }
    const Json training = {
        {"tokens", state_.progress.tokens},
        {"steps", state_.progress.step},
        {"seconds", state_.progress.seconds},
        {"tokens_per_s", state_.progress.seconds > 0.0
                             ? static_cast<double>(state_.progress.tokens) / state_.progress.seconds
                             : 0.0},
        {"parameters", state_.parameters.count()},
        {"dev_curve", curve},
        {"dev_bits_per_character", last_dev_},
        {"sources", sources}};
    return {vocabulary_, "weights: see the model card", training.dump()};
  }

  Status log_start() {
    Json shares = Json::object();
    for (std::size_t i = 0; i < data_.shares.size(); ++i)
      shares[data_.mixture.sources[i].name] = data_.shares[i];
    observer_.note(std::to_string(state_.parameters.count()) + " parameters, " +
                   (precision_ == Precision::Bf16 ? "bf16" : "fp32") + " products, dev set of " +
                   std::to_string(data_.dev.tokens()) + " tokens, start at " +
                   std::to_string(state_.progress.tokens) + " tokens");
    return log({{"event", "start"},
                {"tokens", state_.progress.tokens},
                {"options", Json::parse(options_to_json(state_.options))},
                {"shares", shares},
                {"parameters", state_.parameters.count()},
                {"precision", precision_ == Precision::Bf16 ? "bf16" : "fp32"}});
  }

  Status log(const Json& line) {
    if (Status s = log_.write(line.dump()); !s) return disk_error(s.error());
    return {};
  }

  Status disk_error(const Error& error) const {
    const std::vector<fs::path> left = list_checkpoints(run_dir());
    return Error{error.code, error.message + "; training stops" +
                                 (left.empty() ? ""
                                               : ", " + left.front().string() +
                                                     " is whole: free some space, then --resume")};
  }

  RunCheckpoint state_;
  TrainData& data_;
  Batcher batcher_;
  std::vector<std::byte> vocabulary_;
  RunLog log_;
  TrainObserver& observer_;
  CandidateSampler sampler_;
  Precision precision_;
  std::int64_t start_ns_;
  double seconds_before_;
  double progress_at_start_;
  bool decaying_;  // before-decay.laya is written, or was by an earlier process
  Batch batch_;
  StepResult result_;
  SpeedMeter meter_;
  TrainTick tick_;
  double loss_ = 0.0;
  std::uint64_t loss_steps_ = 0;
  double interval_loss_ = 0.0;
  int bad_steps_ = 0;
  Json last_dev_ = Json::object();
  fs::path last_checkpoint_;
};

Status same_sources(const RunCheckpoint& checkpoint, const TrainData& data) {
  const auto same = [](const SourceRecord& a, const SourceRecord& b) {
    return a.name == b.name && a.checksum == b.checksum;
  };
  if (std::equal(checkpoint.sources.begin(), checkpoint.sources.end(), data.records.begin(),
                 data.records.end(), same))
    return {};
  return Error{ErrorCode::BadArgument,
               "train: the mixture's sources, their texts or the vocabulary are not those that the "
               "run was started with; "
               "resume with these, or start a new run"};
}

// The stored state under the new options: what fixes shapes and order must not change.
Result<RunCheckpoint> resume_state(const TrainOptions& options, const TrainData& data) {
  Result<RunCheckpoint> checkpoint = load_newest_checkpoint(options.run_dir);
  if (!checkpoint) return checkpoint;
  if (Status s = same_sources(*checkpoint, data); !s) return s.error();
  const TrainOptions& stored = checkpoint->options;
  if (stored.config != options.config || stored.lanes != options.lanes ||
      stored.seed != options.seed) {
    return Error{ErrorCode::BadArgument, "train: a resumed run keeps its model shape, --lanes (" +
                                             std::to_string(stored.lanes) + ") and --seed (" +
                                             std::to_string(stored.seed) + ")"};
  }
  // A larger budget means that less of it is done, a smaller one that more is.
  const bool budget_changes =
      options.until_tokens != stored.until_tokens || options.minutes > 0.0 || stored.minutes > 0.0;
  checkpoint->options = options;
  if (budget_changes) {
    checkpoint->progress.progress = run_progress(options, checkpoint->progress.tokens, 0.0, 0.0);
  }
  return checkpoint;
}

}  // namespace

Result<TrainSummary> train_gru(const TrainOptions& wanted, Start start, TrainObserver& observer,
                               const std::atomic<bool>& stop) {
  keep_freed_memory();
  TrainOptions options = wanted;
  Result<text::Vocabulary> vocabulary = load_vocabulary(options.vocabulary);
  if (!vocabulary) return vocabulary.error();
  std::vector<std::byte> blob = vocabulary->serialize();
  const text::Tokenizer tokenizer(*std::move(vocabulary));
  if (tokenizer.vocabulary().begin_id() != kBeginId ||
      tokenizer.vocabulary().newline_id() != kNewlineId) {
    return Error{
        ErrorCode::BadArgument,
        options.vocabulary.string() + ": training needs <s> as piece 1 and the newline as piece 2"};
  }
  std::optional<GruParameters> start_weights;
  if (start == Start::Fresh && !options.start_from.empty()) {
    Result<GruParameters> read = read_start_weights(options.start_from, blob);
    if (!read) return read.error();
    start_weights = *std::move(read);
    options.config = start_weights->config();
  }
  options.config.vocabulary_size = static_cast<std::uint32_t>(tokenizer.vocabulary().size());
  if (Status s = options.config.validate(); !s) return s.error();
  if (Status s = options.validate(); !s) return s.error();
  std::error_code code;
  fs::create_directories(options.run_dir, code);
  if (code)
    return Error{ErrorCode::Io,
                 options.run_dir.string() + ": cannot be created: " + code.message()};
  if (start == Start::Fresh && !list_checkpoints(options.run_dir).empty()) {
    return Error{ErrorCode::BadArgument,
                 options.run_dir.string() +
                     ": already holds a run; go on with --resume, or name another --run"};
  }

  Result<TrainData> data =
      open_train_data(options, tokenizer, [&](std::string_view line) { observer.note(line); });
  if (!data) return data.error();
  std::vector<BatchSource> sources;
  for (std::size_t i = 0; i < data->corpora.size(); ++i) {
    sources.push_back({&data->corpora[i], data->shares[i], data->mixture.sources[i].split_lines});
  }
  Result<Batcher> batcher = Batcher::create(std::move(sources), options.lanes, options.seed);
  if (!batcher) return batcher.error();

  RunCheckpoint state{options,
                      {},
                      {},
                      data->records,
                      GruCarry::zero(options.config, options.lanes),
                      GruParameters(options.config)};
  if (start == Start::Resume) {
    Result<RunCheckpoint> stored = resume_state(options, *data);
    if (!stored) return stored.error();
    state = *std::move(stored);
    if (Status s = batcher->restore(state.position); !s) return s.error();
  } else {
    if (start_weights.has_value()) {
      state.parameters = *std::move(start_weights);
    } else {
      state.parameters.initialise(options.seed, data->unigram);
    }
    state.progress.next_eval = options.eval_every_tokens;
  }
  Result<RunLog> log = RunLog::open(options.run_dir / "log.jsonl");
  if (!log) return log.error();
  Trainer trainer(std::move(state), *data, *std::move(batcher), std::move(blob), *std::move(log),
                  observer);
  return trainer.run(stop);
}

}  // namespace laya::train
