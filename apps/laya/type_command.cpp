#include "type_command.h"

#include <csignal>
#include <iostream>
#include <memory>
#include <optional>

#include "model/language_model.h"
#include "model_lookup.h"
#include "predict/deep_service.h"
#include "printable.h"
#include "terminal.h"
#include "type_editor.h"
#include "type_view.h"

namespace laya::apps {
namespace {

constexpr int kEscapeWaitMs = 30;  // a terminal sends an escape sequence at once; ssh adds a few ms
constexpr int kLoadingWaitMs = 50;  // while the decoder is loaded, and only then

std::string about(const predict::Engine& engine) {
  return engine.network() != nullptr ? std::string(engine.network()->backend_name())
                                     : "n-grams only";
}

/// Reads keys until the user or a signal ends it.
void run(Terminal& terminal, TypeEditor& editor, std::string_view model, std::string_view deep) {
  KeyReader reader;
  std::vector<Key> keys;
  std::string bytes;
  std::optional<Screen> shown;
  editor.decide();
  for (;;) {
    const TerminalSize size = terminal.size();
    Screen screen = draw(editor, size.rows, size.columns, model, deep);
    terminal.write(screen.update_from(shown ? &*shown : nullptr));
    shown = std::move(screen);

    keys.clear();
    while (keys.empty()) {
      const bool loading = editor.deep_state() == predict::DeepState::Waiting;
      const int wait_ms = reader.waits() ? kEscapeWaitMs : loading ? kLoadingWaitMs : -1;
      const Terminal::Event event = terminal.wait(wait_ms, editor.deep_fd());
      if (event == Terminal::Event::Stop) {
        return;
      }
      if (event == Terminal::Event::Resized) {
        shown.reset();
        break;
      }
      if (event == Terminal::Event::Other) {
        if (editor.take_deep_answers()) break;  // a better list, or a verified ghost: draw
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
    bool hidden = false;
    for (const Key& key : keys) {
      if (editor.handle(key) == TypeEditor::Outcome::Quit) {
        return;
      }
      if (key.kind == KeyKind::Redraw) {
        shown.reset();
      }
      hidden = key.kind == KeyKind::Escape;
    }
    if (!hidden && !keys.empty()) {
      editor.decide();
    }
  }
}

void type(const ModelOptions& options, Outcome& outcome) {
  Result<predict::Engine> engine = open_engine(options, predict::DeepLoading::WhenWanted);
  if (!engine) return fail(outcome, engine.error());
  int stop_signal = 0;
  std::string figures;
  {
    Result<Terminal> terminal = Terminal::open();
    if (!terminal) {
      return fail_usage(outcome, terminal.error().message);
    }
    TypeEditor editor(*engine);
    run(*terminal, editor, about(*engine), deep_name(options));
    stop_signal = terminal->stop_signal();
    figures = status_line(editor);
  }
  if (stop_signal != 0) {
    std::raise(stop_signal);  // its default action, now that the terminal is as it was
    return;
  }
  std::cout << "laya: " << figures << std::endl;
  if (engine->deep_service() != nullptr) {
    if (const std::optional<Error> failure = engine->deep_service()->failure(); failure) {
      std::cerr << "laya: the pretrained model was not used: " << printable(failure->message)
                << std::endl;
    }
  }
}

}  // namespace

void add_type_command(CLI::App& app, Outcome& outcome) {
  auto options = std::make_shared<ModelOptions>();
  CLI::App* command = app.add_subcommand(
      "type", "type in this terminal, with a ghost in grey and a list to pick from");
  add_model_options(*command, *options);
  command->footer(
      "keys:    Tab accepts the ghost's next word, Right or End (Ctrl-E) all of it, Alt+1...5 or "
      "F1...F5 pick from\n"
      "         the list, Esc hides both, Ctrl-U erases the line, Ctrl-W a word, Ctrl-C or Ctrl-D "
      "quits.\n"
      "example: laya type\n"
      "         laya type --deep none\n"
      "What is typed stays in this process: it is neither stored nor sent.");
  command->callback([options, &outcome] { type(*options, outcome); });
}

}  // namespace laya::apps
