#include "laya/replay_command.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <memory>
#include <vector>

#include "base/printable.h"
#include "common/model_options.h"
#include "common/program_output.h"
#include "laya/type/simulated_user.h"
#include "laya/type/type_editor.h"
#include "setup/data_files.h"
#include "text/grapheme.h"

namespace laya::apps {
namespace {

constexpr std::size_t kTextColumns = 28;  // of the line typed so far
constexpr std::size_t kGhostColumns = 20;
constexpr std::size_t kMaxBytes = 1u << 20;

struct ReplayOptions {
  setup::ModelOptions model;
  std::string file;
  bool quiet = false;
  bool json = false;
};

/// The end of `text` that fits into `columns`, by whole clusters.
std::string_view tail(std::string_view text, std::size_t columns) {
  std::size_t start = text.size();
  std::size_t width = 0;
  while (start > 0) {
    const std::size_t before = text::previous_grapheme(text, start);
    width += text::display_width(text.substr(before, start - before));
    if (width > columns) break;
    start = before;
  }
  return text.substr(start);
}

std::string_view head(std::string_view text, std::size_t columns) {
  std::size_t end = 0;
  std::size_t width = 0;
  while (end < text.size()) {
    const std::size_t next = text::next_grapheme(text, end);
    width += text::display_width(text.substr(end, next - end));
    if (width > columns) break;
    end = next;
  }
  return text.substr(0, end);
}

std::string padded(std::string text, std::size_t columns) {
  const std::size_t width = text::display_width(text);
  text.append(columns - std::min(columns, width), ' ');
  return text;
}

std::string name_of(const Key& key) {
  switch (key.kind) {
    case KeyKind::Text:
      return key.text == " " ? "space" : key.text;
    case KeyKind::Enter:
      return "Enter";
    case KeyKind::Tab:
      return "Tab";
    case KeyKind::Right:
      return "Right";
    case KeyKind::Pick:
      return "Alt+" + std::to_string(key.number);
    default:
      return "?";
  }
}

/// One line: the key, the line it left, the ghost behind it in brackets (grey on a terminal), the
/// list, the time.
void print_step(const TypeEditor& editor, const Key& key, bool colours) {
  const std::string_view before = editor.before();
  const std::size_t newline = before.rfind('\n');
  const std::string_view line = before.substr(newline == std::string_view::npos ? 0 : newline + 1);
  std::string ghost(head(editor.ghost(), kGhostColumns));
  const std::string typed = base::printable(tail(line, kTextColumns));
  const std::string name = padded(name_of(key), 6) + " ";
  const std::string grey = ghost.empty() ? "" : "[" + base::printable(ghost) + "]";
  const std::size_t columns = kTextColumns + kGhostColumns + 2;
  const std::string padding(columns - std::min(columns, text::display_width(typed + grey)), ' ');
  std::string list;
  std::size_t number = 0;
  for (const TypeEditor::Offer& offer : editor.offers()) {
    list +=
        (number == 0 ? "" : "  ") + std::to_string(number + 1) + " " + base::printable(offer.text);
    ++number;
  }
  if (colours && !grey.empty()) {
    write_terminal(name + typed + "\x1b[90m" + grey + "\x1b[0m");
  } else {
    std::printf("%s%s%s", name.c_str(), typed.c_str(), grey.c_str());
  }
  std::printf("%s  %5.2f ms  %s\n", padding.c_str(), editor.last_us() / 1000, list.c_str());
}

/// Types `text`; false if the editor's text is not what was meant (a bug of ours).
bool type_all(TypeEditor& editor, std::string_view text, const ReplayOptions& options) {
  const bool colours = ::isatty(STDOUT_FILENO) != 0;
  editor.decide();
  while (editor.before().size() < text.size()) {
    const Move move = best_move(editor, text.substr(editor.before().size()));
    editor.handle(move.key);
    editor.decide();
    if (!text.starts_with(editor.before())) {
      return false;
    }
    if (!options.quiet && !options.json) {
      print_step(editor, move.key, colours);
    }
  }
  return true;
}

nlohmann::ordered_json to_json(const TypeEditor& editor) {
  const observe::LatencySummary latency = editor.latency().summary();
  const auto us = [](std::uint64_t ns) { return static_cast<double>(ns) / 1000; };
  return {{"keys", editor.keys()},
          {"characters", editor.characters()},
          {"saved", editor.saved_percent() / 100},
          {"latency_us",
           {{"p50", us(latency.p50_ns)},
            {"p95", us(latency.p95_ns)},
            {"p99", us(latency.p99_ns)},
            {"max", us(latency.max_ns)}}}};
}

void replay(const ReplayOptions& options, Outcome& outcome) {
  std::string path = options.file;
  if (path.empty()) {
    Result<std::string> shipped = setup::find_data_file("testdata/demo.txt");
    if (!shipped) return fail(outcome, shipped.error());
    path = std::move(shipped).value();
  }
  const Result<std::string> text = read_text(path, kMaxBytes);
  if (!text) return fail(outcome, text.error());
  const auto engine = open_engine(options.model);
  if (!engine) return fail(outcome, engine.error());

  TypeEditor editor(**engine, predict::kUntilDone);  // the same every time
  if (!type_all(editor, *text, options)) {
    return fail(outcome, {ErrorCode::Internal,
                          "replay: what was accepted is not what was shown; please report this"});
  }
  if (options.json) {
    std::cout << to_line(to_json(editor)) << std::endl;
    return;
  }
  const observe::LatencySummary latency = editor.latency().summary();
  const auto ms = [](std::uint64_t ns) { return static_cast<double>(ns) / 1e6; };
  std::printf("\n%llu keys for %llu characters: %.1f %% of keystrokes saved\n",
              static_cast<unsigned long long>(editor.keys()),
              static_cast<unsigned long long>(editor.characters()), editor.saved_percent());
  std::printf("per key, list and ghost: p50 %.2f ms, p95 %.2f ms, p99 %.2f ms, slowest %.2f ms\n",
              ms(latency.p50_ns), ms(latency.p95_ns), ms(latency.p99_ns), ms(latency.max_ns));
}

}  // namespace

void add_replay_command(CLI::App& app, Outcome& outcome) {
  auto options = std::make_shared<ReplayOptions>();
  CLI::App* command = app.add_subcommand(
      "replay", "watch a short text being typed: what is offered, taken and saved at each key");
  command->add_option("-f,--file", options->file,
                      "text to type, at most 1 MiB; - is standard input (default: the demo's own)");
  command->add_flag("-q,--quiet", options->quiet, "only the figures at the end");
  command->add_flag("--json", options->json, "the figures as one JSON object");
  add_model_options(*command, options->model);
  command->footer(
      "Each line: the key pressed, the text with the ghost in [ ], the time it took, the list. The "
      "typist takes\n"
      "whatever saves keys: Tab (the ghost's next word), Right (all of it), Alt+n (from the "
      "list).\n"
      "example: laya replay\n"
      "         laya replay --file letter.txt --quiet");
  command->callback([options, &outcome] { replay(*options, outcome); });
}

}  // namespace laya::apps
