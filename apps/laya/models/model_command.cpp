// list, verify, remove. get and add are in model_get_command.cpp.
#include "laya/models/model_command.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <memory>
#include <vector>

#include "catalog/folders.h"
#include "catalog/known_models.h"
#include "catalog/store.h"
#include "common/progress_line.h"
#include "setup/model_lookup.h"
#include "text/grapheme.h"

namespace laya::apps {
namespace {

Result<catalog::Store> user_store() {
  const Result<catalog::Folders> folders = catalog::user_folders();
  if (!folders) return folders.error();
  return catalog::Store(folders->models);
}

const catalog::Installed* find_in(const std::vector<catalog::Installed>& all,
                                  std::string_view name) {
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const catalog::Installed& one) { return one.name == name; });
  return found == all.end() ? nullptr : &*found;
}

nlohmann::ordered_json to_json(const catalog::Installed& installed) {
  nlohmann::ordered_json problem = nullptr;
  if (!installed.problem.empty()) problem = installed.problem;
  return {{"path", installed.path}, {"bytes", installed.bytes}, {"problem", problem}};
}

nlohmann::ordered_json to_json(const catalog::KnownModel& known) {
  nlohmann::ordered_json sources = nlohmann::ordered_json::array();
  for (const catalog::WheelEntry& part : known.parts) {
    sources.push_back({{"package", part.package}, {"version", part.version}, {"file", part.entry}});
  }
  return {{"name", known.name},
          {"title", known.title},
          {"about", known.about},
          {"languages", known.languages},
          {"licence", known.licence},
          {"licence_must_be_accepted", known.acceptance == catalog::Acceptance::Needed},
          {"parameters", known.parameters},
          {"download_bytes", known.download_bytes},
          {"installed_bytes", known.installed_bytes},
          {"source_file", known.source_file},
          {"source_sha256", known.source_sha256},
          {"sources", sources}};
}

/// Known models first, then what the user added. `used`: the path that commands take by default.
nlohmann::ordered_json list_json(const std::vector<catalog::Installed>& installed,
                                 const std::string& used) {
  nlohmann::ordered_json models = nlohmann::ordered_json::array();
  for (const catalog::KnownModel& known : catalog::known_models()) {
    nlohmann::ordered_json model = to_json(known);
    const catalog::Installed* here = find_in(installed, known.name);
    model["installed"] = here != nullptr ? to_json(*here) : nlohmann::ordered_json(nullptr);
    model["used"] = here != nullptr && here->path == used;
    models.push_back(std::move(model));
  }
  for (const catalog::Installed& here : installed) {
    if (catalog::find_known(here.name) != nullptr) continue;
    models.push_back({{"name", here.name},
                      {"title", here.title},
                      {"licence", here.licence},
                      {"installed", to_json(here)},
                      {"used", here.path == used}});
  }
  return {{"models", models}};
}

std::string padded(std::string text, std::size_t columns) {
  text.append(columns - std::min(columns, text::display_width(text)), ' ');
  return text;
}

void print_row(const std::string& mark, const std::string& name, const std::string& size,
               const std::string& languages, const std::string& licence, const std::string& state) {
  std::printf("%s %s %s  %s  %s  %s\n", mark.c_str(), padded(name, 14).c_str(),
              padded(size, 9).c_str(), padded(languages, 17).c_str(), padded(licence, 10).c_str(),
              state.c_str());
}

std::string state_of(const catalog::Installed& here) {
  return here.problem.empty() ? "installed" : "damaged: " + here.problem;
}

void print_list(const std::vector<catalog::Installed>& installed, const std::string& used) {
  print_row(" ", "name", "size", "languages", "licence", "");
  for (const catalog::KnownModel& known : catalog::known_models()) {
    const catalog::Installed* here = find_in(installed, known.name);
    print_row(here != nullptr && here->path == used ? "*" : " ", std::string(known.name),
              setup::megabytes_text(here != nullptr ? here->bytes : known.installed_bytes),
              std::string(known.languages), std::string(known.licence),
              here != nullptr ? state_of(*here)
                              : setup::megabytes_text(known.download_bytes) + " to download");
    std::printf("    %.*s\n", static_cast<int>(known.about.size()), known.about.data());
  }
  for (const catalog::Installed& here : installed) {
    if (catalog::find_known(here.name) != nullptr) continue;
    print_row(here.path == used ? "*" : " ", here.name, setup::megabytes_text(here.bytes), "",
              here.licence, state_of(here));
    if (!here.title.empty()) std::printf("    %s\n", base::printable(here.title).c_str());
  }
  if (!used.empty()) {
    std::printf(
        "* is used by type, complete, bench and eval; --deep NAME takes another, or none\n");
  } else {
    std::printf(
        "none is installed: predictions come from what ships with Laya alone.\n"
        "get one: laya model get smollm2-135m\n");
  }
}

void list(bool json, Outcome& outcome) {
  const Result<catalog::Store> store = user_store();
  if (!store) return fail(outcome, store.error());
  const auto installed = store->list();
  if (!installed) return fail(outcome, installed.error());
  const std::string used = setup::default_deep_path(*store);
  if (json) {
    std::cout << to_line(list_json(*installed, used)) << std::endl;
  } else {
    print_list(*installed, used);
  }
}

void verify(std::vector<std::string> names, Outcome& outcome) {
  const Result<catalog::Store> store = user_store();
  if (!store) return fail(outcome, store.error());
  if (names.empty()) {
    const auto installed = store->list();
    if (!installed) return fail(outcome, installed.error());
    for (const catalog::Installed& here : *installed) names.push_back(here.name);
    if (names.empty()) std::printf("no model is installed\n");
  }
  for (const std::string& name : names) {
    const Status status = store->verify(name);
    if (status) {
      std::printf("%s: every checksum is right\n", name.c_str());
    } else {
      fail(outcome, status.error());
    }
  }
}

/// A terminal's yes or no; no without one.
bool confirmed(const std::string& question) {
  if (::isatty(STDIN_FILENO) == 0) {
    return false;
  }
  std::cout << question << " [y/N] " << std::flush;
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

void remove(const std::string& name, bool yes, Outcome& outcome) {
  const Result<catalog::Store> store = user_store();
  if (!store) return fail(outcome, store.error());
  const Result<catalog::Installed> here = store->find(name);
  if (!here) return fail(outcome, here.error());
  if (!yes) {
    if (::isatty(STDIN_FILENO) == 0) {
      return fail_usage(outcome, "remove asks on a terminal; elsewhere say --yes");
    }
    if (!confirmed("remove " + name + " (" + setup::megabytes_text(here->bytes) + ")?")) {
      std::printf("nothing was removed\n");
      return;
    }
  }
  if (Status status = store->remove(name); !status) return fail(outcome, status.error());
  std::printf("removed %s, %s\n", name.c_str(), setup::megabytes_text(here->bytes).c_str());
}

}  // namespace

void add_model_command(CLI::App& app, Outcome& outcome) {
  CLI::App* command = app.add_subcommand(
      "model", "pretrained models that make predictions better: list, get, add, verify, remove");
  command->require_subcommand(1);
  command->footer(
      "Models lie in $XDG_DATA_HOME/laya/models (by default ~/.local/share/laya/models).\n"
      "example: laya model list\n"
      "         laya model get smollm2-135m\n"
      "         laya model add checkpoint.gguf --name mine");

  auto json = std::make_shared<bool>(false);
  CLI::App* listing = command->add_subcommand("list", "what can be had, and what is installed");
  listing->add_flag("--json", *json, "one JSON object on one line");
  listing->footer(
      "example: laya model list\n         laya model list --json | jq '.models[].name'");
  listing->callback([json, &outcome] { list(*json, outcome); });

  add_model_get_commands(*command, outcome);

  auto names = std::make_shared<std::vector<std::string>>();
  CLI::App* verifying =
      command->add_subcommand("verify", "read installed models and compare every checksum");
  verifying->add_option("names", *names, "which (default: all)");
  verifying->footer("example: laya model verify\n         laya model verify smollm2-135m");
  verifying->callback([names, &outcome] { verify(*names, outcome); });

  auto name = std::make_shared<std::string>();
  auto yes = std::make_shared<bool>(false);
  CLI::App* removing = command->add_subcommand("remove", "delete an installed model");
  removing->add_option("name", *name, "which")->required();
  removing->add_flag("-y,--yes", *yes, "do not ask");
  removing->footer("example: laya model remove smollm2-135m --yes");
  removing->callback([name, yes, &outcome] { remove(*name, *yes, outcome); });
}

}  // namespace laya::apps
