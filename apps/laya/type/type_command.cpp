#include "laya/type/type_command.h"

#include <array>
#include <csignal>
#include <iostream>
#include <memory>
#include <optional>

#include "base/printable.h"
#include "common/model_options.h"
#include "laya/type/terminal.h"
#include "laya/type/type_editor.h"
#include "laya/type/type_view.h"
#include "model/gru/language_model.h"
#include "predict/engine/deep_service.h"
#include "setup/remote_answers.h"
#include "setup/settings.h"

namespace laya::apps {
namespace {

constexpr int kEscapeWaitMs = 30;  // a terminal sends an escape sequence at once; ssh adds a few ms
constexpr int kLoadingWaitMs = 50;  // while the decoder is loaded, and only then

std::string about(const predict::Engine& engine) {
  return engine.network() != nullptr ? std::string(engine.network()->backend_name())
                                     : "n-grams only";
}

/// Reads keys until the user or a signal ends it.
void run(Terminal& terminal, TypeEditor& editor, std::string_view model, std::string_view tiers) {
  KeyReader reader;
  std::vector<Key> keys;
  std::string bytes;
  std::optional<Screen> shown;
  editor.decide();
  for (;;) {
    const TerminalSize size = terminal.size();
    Screen screen = draw(editor, size.rows, size.columns, model, tiers);
    terminal.write(screen.update_from(shown ? &*shown : nullptr));
    shown = std::move(screen);

    keys.clear();
    while (keys.empty()) {
      const bool loading = editor.deep_state() == predict::DeepState::Waiting;
      const bool half = reader.waits() || reader.pastes();
      int wait_ms = loading ? kLoadingWaitMs : -1;
      if (half) {
        wait_ms = reader.waits() ? kEscapeWaitMs : KeyReader::kPasteWaitMs;
      }
      const std::array<int, 2> others{editor.deep_fd(), editor.remote_fd()};
      const Terminal::Event event = terminal.wait(wait_ms, others);
      if (event == Terminal::Event::Stop) {
        return;
      }
      if (event == Terminal::Event::Resized) {
        shown.reset();
        break;
      }
      if (event == Terminal::Event::Other) {
        const bool deep = editor.take_deep_answers();  // a better list, or a verified ghost
        if (editor.take_remote_answers() || deep) break;
        continue;
      }
      if (event == Terminal::Event::Timeout) {
        reader.flush(keys);
        // Loaded: what stands there can be looked at with both tiers now.
        const bool loaded = loading && editor.deep_state() != predict::DeepState::Waiting;
        if (keys.empty() && loaded && !editor.is_hidden()) {
          editor.decide();
          break;
        }
        continue;
      }
      bytes.clear();
      if (!terminal.read(bytes)) {
        return;
      }
      reader.feed(bytes, keys);
    }
    for (const Key& key : keys) {
      if (editor.handle(key) == TypeEditor::Outcome::Quit) {
        return;
      }
      if (key.kind == KeyKind::Redraw) {
        shown.reset();
      }
    }
    if (!editor.is_hidden() && !keys.empty()) {
      editor.decide();
    }
  }
}

struct TypeOptions {
  setup::ModelOptions model;
  bool no_remote = false;
};

/// The completion server of the settings, if there is one. One that cannot be asked is left out,
/// and `problem` says why: without it everything works.
std::unique_ptr<setup::RemoteAnswers> open_remote(const predict::Engine& engine, std::string& name,
                                                  std::string& problem) {
  const Result<setup::RemoteSetup> setup = setup::read_remote_setup();
  if (!setup) {
    problem = setup.error().message;
    return nullptr;
  }
  if (!setup->is_on) {
    return nullptr;
  }
  Result<std::unique_ptr<setup::RemoteAnswers>> remote =
      setup::RemoteAnswers::create(setup->client, engine.block_list());
  if (!remote) {
    problem = remote.error().message;
    return nullptr;
  }
  name = setup->name;
  return std::move(remote).value();
}

void type(const TypeOptions& options, Outcome& outcome) {
  const auto engine = open_engine(options.model, predict::DeepLoading::WhenWanted);
  if (!engine) return fail(outcome, engine.error());
  std::string server;
  std::string remote_problem;
  const std::unique_ptr<setup::RemoteAnswers> remote =
      options.no_remote ? nullptr : open_remote(**engine, server, remote_problem);
  std::string tiers = setup::deep_name(options.model);
  if (remote != nullptr) {
    tiers += (tiers.empty() ? "" : " ") + std::string("\xE2\x86\x97 ") + base::printable(server);
  }
  int stop_signal = 0;
  std::string figures;
  {
    Result<Terminal> terminal = Terminal::open();
    if (!terminal) {
      return fail_usage(outcome, terminal.error().message);
    }
    TypeEditor editor(**engine, predict::kRestOfFrame, remote.get());
    run(*terminal, editor, about(**engine), tiers);
    stop_signal = terminal->stop_signal();
    figures = status_line(editor);
  }
  if (stop_signal != 0) {
    std::raise(stop_signal);  // its default action, now that the terminal is as it was
    return;
  }
  std::cout << "laya: " << figures << std::endl;
  if ((*engine)->deep_service() != nullptr) {
    if (const std::optional<Error> failure = (*engine)->deep_service()->failure(); failure) {
      std::cerr << "laya: the pretrained model was not used: " << base::printable(failure->message)
                << std::endl;
    }
  }
  if (remote != nullptr) {
    remote_problem = remote->last_error();
  }
  if (!remote_problem.empty()) {
    std::cerr << "laya: the completion server was not used, or not to the end: "
              << base::printable(remote_problem) << std::endl;
  }
}

}  // namespace

void add_type_command(CLI::App& app, Outcome& outcome) {
  auto options = std::make_shared<TypeOptions>();
  CLI::App* command = app.add_subcommand(
      "type", "type in this terminal, with a ghost in grey and a list to pick from");
  add_model_options(*command, options->model);
  command->add_flag("--no-remote", options->no_remote,
                    "do not ask the completion server that laya.toml names");
  command->footer(
      "keys:    Tab accepts the ghost's next word, Right or End (Ctrl-E) all of it, Alt+1...5 or "
      "F1...F5 pick from\n"
      "         the list, Esc hides both, Ctrl-U erases the line, Ctrl-W a word, Ctrl-C or Ctrl-D "
      "quits.\n"
      "pinyin:  Ctrl-Space turns it on and off: space or 1...5 chooses, = and - turn the page, "
      "Enter keeps the\n"
      "         letters, Esc drops them, ' ends a syllable.\n"
      "example: laya type\n"
      "         laya type --deep none\n"
      "What is typed stays in this process: it is neither stored nor sent. Unless you configured "
      "a\n"
      "completion server ([remote] url in ~/.config/laya/laya.toml): then it gets the text left of "
      "the\n"
      "caret when you pause; its candidates carry an arrow, and the title names it.");
  command->callback([options, &outcome] { type(*options, outcome); });
}

}  // namespace laya::apps
