// Where the models are: the instant one that ships, and the decoder of the deep tier that the user
// may have installed. Used by every command that predicts.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "catalog/store.h"
#include "predict/engine/engine.h"

namespace laya::setup {

/// What the user may say about the model; the same in every program.
struct ModelOptions {
  std::vector<std::string> paths;    ///< --model: a folder, or files
  std::string deep;                  ///< --deep: an installed model, a .laya file, "none"; or empty
  std::string block;                 ///< --block: block lists in place of the shipped ones
  std::vector<std::string> without;  ///< --without: further sources left out, by name
  std::string ranker;                ///< --ranker: a .laya ranker in place of the shipped one
  int threads = 1;
};

/// The files to open. In this order: --model, $LAYA_MODEL, models/instant beside the source tree or
/// the binary, /usr/share/laya/models/instant. A folder means its gru.laya and ngram.laya, one of
/// which may be missing; a file is used for what it holds. With it, what ships beside
/// models/instant and is not left out: lexicon, emoji, block list, ranker. BadArgument names what
/// was looked for and the remedy.
Result<predict::EnginePaths> find_model(const ModelOptions& options);

/// The decoder: --deep, $LAYA_DEEP, default_deep_path(), in this order; empty for none. A name is
/// looked for among the installed models; what holds a '/' or ends in .laya is a file. BadArgument
/// names the remedy.
Result<std::string> find_deep(const ModelOptions& options);

/// What is taken where nobody says: of the installed decoders that are sound, the first in the
/// catalogue's order (by what was measured to be saved), then those that the user added, by name.
/// Empty when there is none.
std::string default_deep_path(const catalog::Store& store);

/// What to call that decoder on a screen: its file's name without ".laya"; empty for none.
std::string deep_name(const ModelOptions& options);

struct OpenedEngine {
  std::shared_ptr<const predict::Engine> engine;
  /// What was left out, and why: one line for the user; "" where nothing was.
  std::string warning = {};
};

/// find_model(), find_deep() and Engine::open(). A decoder that nobody asked for and that cannot be
/// used is left out, with a warning: without it everything works.
Result<OpenedEngine> find_engine(const ModelOptions& options,
                                 predict::DeepLoading loading = predict::DeepLoading::Now);

}  // namespace laya::setup
