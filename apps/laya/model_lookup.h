// Where the model is. Used by every command that predicts.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "base/result.h"
#include "predict/engine.h"

namespace laya::apps {

/// What the user may say about the model; the same options in every command.
struct ModelOptions {
  std::vector<std::string> paths;  ///< --model: a folder, or files
  int threads = 1;
};

void add_model_options(CLI::App& command, ModelOptions& options);

/// The files to open. In this order: --model, $LAYA_MODEL, models/instant beside the source tree or
/// the binary, /usr/share/laya/models/instant. A folder means its gru.laya and ngram.laya, one of
/// which may be missing; a file is used for what it holds. BadArgument names what was looked for
/// and the remedy.
Result<predict::EnginePaths> find_model(const ModelOptions& options);

/// find_model() and Engine::open().
Result<predict::Engine> open_engine(const ModelOptions& options);

}  // namespace laya::apps
