#include "laya-train/eval/simulate_command.h"

#include <array>
#include <cstdio>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <vector>

#include "base/atomic_file.h"
#include "base/utf8.h"
#include "common/model_options.h"
#include "common/progress_line.h"
#include "eval/key_log.h"
#include "eval/key_log_pairs.h"
#include "eval/lines.h"
#include "eval/simulator.h"
#include "eval/simulator_slips.h"

namespace laya::apps {
namespace {

struct SimulateOptions {
  setup::ModelOptions model;
  eval::SimulatorOptions typist;
  std::string file;
  std::string log;
  std::string pairs;
  std::string slips;
  std::size_t lines = 0;
  bool from_log = false;
  bool no_picks = false;
  bool json = false;
};

/// What was written, for people and programs.
struct Counts {
  std::size_t sessions = 0;
  std::uint64_t keys = 0, erases = 0, carets = 0, picks = 0, slips = 0;
  std::uint64_t ms = 0;
  std::uint64_t characters = 0;
  std::size_t wrong = 0;  ///< sessions whose text is not the one meant
  std::array<std::size_t, 3> pairs{};
  std::size_t slip_lines = 0;

  void add(const eval::KeySession& session) {
    ++sessions;
    ms += session.end_ms;
    eval::PlayedField field(session);
    for (const eval::KeyEvent& event : session.events) {
      (void)field.apply(event);  // played when it was made or read
      keys += event.kind == eval::KeyEventKind::Key ? 1 : 0;
      erases += event.kind == eval::KeyEventKind::Erase ? 1 : 0;
      carets += event.kind == eval::KeyEventKind::Caret ? 1 : 0;
      picks += event.kind == eval::KeyEventKind::Pick ? 1 : 0;
      slips += event.slip != eval::SlipKind::None && event.slip != eval::SlipKind::Reworded ? 1 : 0;
    }
    characters += base::count_code_points(field.text());
    wrong += session.typist == eval::TypistKind::Simulated &&
                     field.text() != session.before + session.meant + session.after
                 ? 1
                 : 0;
  }
};

nlohmann::ordered_json to_json(const Counts& counts) {
  return {{"sessions", counts.sessions},
          {"keys", counts.keys},
          {"erases", counts.erases},
          {"caret_jumps", counts.carets},
          {"picks", counts.picks},
          {"slips", counts.slips},
          {"seconds", static_cast<double>(counts.ms) / 1000},
          {"characters", counts.characters},
          {"sessions_left_wrong", counts.wrong},
          {"pairs",
           {{"completion", counts.pairs[0]}, {"pick", counts.pairs[1]}, {"edit", counts.pairs[2]}}},
          {"slip_lines", counts.slip_lines}};
}

void print(const Counts& counts) {
  std::printf(
      "%zu sessions, %llu characters in %.0f s: %llu keys, %llu Backspaces, %llu caret jumps, %llu "
      "picks, %llu slips; %zu sessions left with a mistake\n",
      counts.sessions, static_cast<unsigned long long>(counts.characters),
      static_cast<double>(counts.ms) / 1000, static_cast<unsigned long long>(counts.keys),
      static_cast<unsigned long long>(counts.erases),
      static_cast<unsigned long long>(counts.carets), static_cast<unsigned long long>(counts.picks),
      static_cast<unsigned long long>(counts.slips), counts.wrong);
  if (counts.pairs[0] + counts.pairs[1] + counts.pairs[2] > 0) {
    std::printf("pairs: %zu completions, %zu picks, %zu edits\n", counts.pairs[0], counts.pairs[1],
                counts.pairs[2]);
  }
  if (counts.slip_lines > 0) std::printf("words with a slip: %zu\n", counts.slip_lines);
}

/// Files that are asked for; those that are not take nothing.
class Output {
 public:
  static Result<Output> create(const std::string& path) {
    Output output;
    if (path.empty()) return output;
    Result<base::AtomicFile> file = base::AtomicFile::create(path);
    if (!file) return std::move(file).error();
    output.file_.emplace(std::move(file).value());
    return output;
  }
  bool is_wanted() const { return file_.has_value(); }
  Status write(std::string_view text) { return file_ ? file_->write(text) : Status(); }
  Status commit() { return file_ ? file_->commit() : Status(); }

 private:
  std::optional<base::AtomicFile> file_;
};

/// Where the sessions come from: a log, or the simulator.
Status each_session(const SimulateOptions& options, const std::string& text,
                    const std::function<Status(const eval::KeySession&)>& use) {
  ProgressLine progress(stderr);
  if (options.from_log) {
    const Result<std::vector<eval::KeySession>> sessions = eval::parse_key_log(text);
    if (!sessions) {
      return Error{sessions.error().code, options.file + ": " + sessions.error().message};
    }
    for (const eval::KeySession& session : *sessions) {
      if (Status status = use(session); !status) return status;
    }
    return {};
  }
  std::shared_ptr<const predict::Engine> engine;
  if (!options.no_picks) {
    setup::ModelOptions model = options.model;
    if (model.deep.empty()) model.deep = "none";  // a decoder is for those who ask: it is slow here
    auto opened = open_engine(model);
    if (!opened) return std::move(opened).error();
    engine = std::move(opened).value();
  }
  Result<eval::Simulator> simulator = eval::Simulator::make(options.typist, engine.get());
  if (!simulator) return std::move(simulator).error();
  const std::vector<std::string> all = eval::text_lines(text);
  const std::vector<std::string_view> lines = eval::chosen_lines(all, options.lines);
  if (lines.empty()) {
    return Error{ErrorCode::BadArgument, options.file + ": has no line that is not blank"};
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Result<eval::KeySession> session = simulator->type(lines[i]);
    if (!session) return session.error();
    if (Status status = use(*session); !status) return status;
    progress.show("typing", static_cast<double>(i + 1) / static_cast<double>(lines.size()));
  }
  return {};
}

/// Lines typed<TAB>meant<TAB>before: of every line about each third word that is long enough, with
/// one slip in it.
Status write_slips(const SimulateOptions& options, const std::string& text, Output& out,
                   Counts& counts) {
  constexpr std::size_t kMinLetters = 3;
  model::SplitMix random(options.typist.seed);
  const std::vector<std::string> all = eval::text_lines(text);
  for (const std::string_view line : eval::chosen_lines(all, options.lines)) {
    if (line.find('\t') != std::string_view::npos) continue;
    for (const std::string_view word : eval::words_of(line)) {
      const bool plain =
          word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'") ==
          std::string_view::npos;
      if (!plain || word.size() < kMinLetters || random.unit() >= 1.0 / 3) continue;
      const std::optional<std::string> typed = eval::slipped_word(word, random, nullptr);
      if (!typed) continue;
      const auto before = line.substr(0, static_cast<std::size_t>(word.data() - line.data()));
      if (Status status =
              out.write(*typed + '\t' + std::string(word) + '\t' + std::string(before) + '\n');
          !status) {
        return status;
      }
      ++counts.slip_lines;
    }
  }
  return {};
}

Result<Counts> simulate(const SimulateOptions& options) {
  const Result<std::string> text = read_text(options.file);
  if (!text) return text.error();
  Result<Output> log = Output::create(options.log);
  if (!log) return std::move(log).error();
  Result<Output> pairs = Output::create(options.pairs);
  if (!pairs) return std::move(pairs).error();
  Result<Output> slips = Output::create(options.slips);
  if (!slips) return std::move(slips).error();
  Counts counts;
  if (log->is_wanted() || pairs->is_wanted()) {
    const auto use = [&](const eval::KeySession& session) -> Status {
      counts.add(session);
      std::string lines;
      if (log->is_wanted()) eval::append_key_log(session, &lines);
      if (Status status = log->write(lines); !status) return status;
      lines.clear();
      for (const eval::TypingPair& pair :
           pairs->is_wanted() ? eval::typing_pairs(session) : std::vector<eval::TypingPair>()) {
        ++counts.pairs[static_cast<std::size_t>(pair.kind)];
        eval::append_pair(pair, &lines);
      }
      return pairs->write(lines);
    };
    if (Status status = each_session(options, *text, use); !status) return status.error();
  }
  if (slips->is_wanted()) {
    if (Status status = write_slips(options, *text, *slips, counts); !status) {
      return status.error();
    }
  }
  for (Output* output : {&*log, &*pairs, &*slips}) {
    if (Status status = output->commit(); !status) return status.error();
  }
  return counts;
}

void run_simulate(const SimulateOptions& options, Outcome& outcome) {
  if (options.log.empty() && options.pairs.empty() && options.slips.empty()) {
    return fail_usage(outcome, "simulate: nothing to write: give --out, --pairs or --slips a file");
  }
  if (options.from_log && (!options.log.empty() || !options.slips.empty())) {
    return fail_usage(outcome, "simulate: --from-log reads a log and gives --pairs alone");
  }
  const Result<Counts> counts = simulate(options);
  if (!counts) return fail(outcome, counts.error());
  if (options.json) {
    std::cout << to_line(to_json(*counts)) << std::endl;
  } else {
    print(*counts);
  }
}

void add_typist_options(CLI::App& command, eval::SimulatorOptions& typist) {
  command.add_option("--seed", typist.seed, "another one gives another typist")
      ->capture_default_str();
  command
      .add_option("--slip-rate,--typo-rate", typist.slip_rate,
                  "share of the characters that go wrong, of those where something can")
      ->check(CLI::Range(0.0, 0.5))
      ->capture_default_str();
  command.add_option("--wpm", typist.words_per_minute, "words of five characters a minute")
      ->check(CLI::Range(1.0, 1000.0))
      ->capture_default_str();
  const auto add_share = [&](const char* name, double& share, const char* help) {
    command.add_option(name, share, help)->check(CLI::Range(0.0, 1.0))->capture_default_str();
  };
  add_share("--at-once", typist.notice_at_once, "share of the slips seen within two keys");
  add_share("--word-end", typist.notice_at_word_end, "... at the end of the word");
  add_share("--later", typist.notice_later,
            "... when the text is there; the caret jumps back. The rest is never seen");
  add_share("--reword", typist.reword_rate, "share of the words before which another one is begun");
  add_share("--look", typist.look_rate, "share of the keys at which list and ghost are looked at");
  command.add_option("--list", typist.list, "entries of the list that are seen")
      ->check(CLI::Range(std::size_t{0}, predict::Reply::kMaxCandidates))
      ->capture_default_str();
}

}  // namespace

void add_simulate_command(CLI::App& app, Outcome& outcome) {
  auto options = std::make_shared<SimulateOptions>();
  CLI::App* command = app.add_subcommand(
      "simulate", "text typed as people type it: key logs with slips, deletions, jumps and picks");
  command
      ->add_option("file,-f,--file", options->file,
                   "UTF-8 text, one utterance a line; - is standard input")
      ->required();
  command->add_option("-o,--out", options->log, "the key log (JSON lines; src/eval/KEYLOG.md)");
  command->add_option("--pairs", options->pairs,
                      "training pairs (JSON lines): completions, picks, edits");
  command->add_option("--slips", options->slips,
                      "lines typed<TAB>meant<TAB>before: words with one slip (laya eval correct)");
  command->add_flag("--from-log", options->from_log, "FILE is a key log: only --pairs are made");
  command->add_option("--lines", options->lines,
                      "only the first N lines that are not blank (0: all)");
  command->add_flag("--no-picks", options->no_picks, "types without the engine: nothing is picked");
  command->add_flag("--json", options->json, "what was written as one JSON object on one line");
  add_typist_options(*command, options->typist);
  add_model_options(*command, options->model);
  command->footer(
      "The same seed gives the same log. The pairs come from what was done alone, so a log that\n"
      "somebody recorded of themselves gives them too.\n"
      "example: laya simulate mails.txt --out mails.jsonl --seed 7\n"
      "         laya simulate mails.txt --slips slips.tsv\n"
      "         laya simulate mails.jsonl --from-log --pairs pairs.jsonl");
  command->callback([options, &outcome] { run_simulate(*options, outcome); });
}

}  // namespace laya::apps
