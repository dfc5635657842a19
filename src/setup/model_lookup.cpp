#include "setup/model_lookup.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "base/printable.h"
#include "catalog/folders.h"
#include "catalog/known_models.h"
#include "format/model_file.h"
#include "setup/data_files.h"

namespace laya::setup {
namespace {

namespace fs = std::filesystem;

constexpr const char* kNetworkFile = "gru.laya";
constexpr const char* kNgramFile = "ngram.laya";
constexpr std::string_view kNgramBlobs = "ngram.";
constexpr std::string_view kDecoder = "decoder";  // architecture in the metadata
constexpr std::string_view kNone = "none";

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

Result<predict::EnginePaths> from_folder(const fs::path& folder) {
  predict::EnginePaths paths;
  if (is_there(folder / kNetworkFile)) paths.network_path = folder / kNetworkFile;
  if (is_there(folder / kNgramFile)) paths.ngram_path = folder / kNgramFile;
  if (paths.network_path.empty() && paths.ngram_path.empty()) {
    return Error{ErrorCode::BadArgument, folder.string() + ": has neither " + kNetworkFile +
                                             " nor " + kNgramFile +
                                             "; give --model a folder that has one"};
  }
  return paths;
}

/// A file says by its contents which source it is; it may be both.
Status add_file(const std::string& path, predict::EnginePaths& paths) {
  Result<format::ModelFile> file = format::ModelFile::open(path);
  if (!file) {
    return std::move(file).error();
  }
  bool has_ngrams = false;
  bool has_tensors = false;
  for (const format::Entry& entry : file->entries()) {
    has_ngrams = has_ngrams || entry.name.starts_with(kNgramBlobs);
    has_tensors = has_tensors || entry.kind == format::EntryKind::Tensor;
  }
  if (!has_ngrams && !has_tensors) {
    return Error{ErrorCode::Unsupported, path + ": holds neither a network nor an n-gram table"};
  }
  if (has_ngrams) paths.ngram_path = path;
  if (has_tensors) paths.network_path = path;
  return {};
}

Result<predict::EnginePaths> from_paths(const std::vector<std::string>& given) {
  predict::EnginePaths paths;
  for (const std::string& path : given) {
    std::error_code ignored;
    if (!is_there(path)) {
      return Error{ErrorCode::BadArgument, path + ": no such model file or folder"};
    }
    if (fs::is_directory(path, ignored)) {
      Result<predict::EnginePaths> folder = from_folder(path);
      if (!folder) return folder;
      if (!folder->network_path.empty()) paths.network_path = folder->network_path;
      if (!folder->ngram_path.empty()) paths.ngram_path = folder->ngram_path;
    } else if (Status status = add_file(path, paths); !status) {
      return std::move(status).error();
    }
  }
  return paths;
}

/// A file or folder that ships, and where its path goes.
struct Shipped {
  const char* name;  ///< of --without; nullptr: may not be left out
  const char* path;
  std::string predict::EnginePaths::*member;
};
constexpr std::array<Shipped, 4> kShipped = {{
    {"lexicon", "models/lexicon/en.laya", &predict::EnginePaths::lexicon_path},
    {"emoji", "models/emoji/emoji.tsv", &predict::EnginePaths::emoji_path},
    {nullptr, "models/block", &predict::EnginePaths::block_list_path},
    {"ranker", "models/ranker/ranker.laya", &predict::EnginePaths::ranker_path},
}};

/// What ships beside the model, as far as it is there and wanted.
void add_shipped(const ModelOptions& options, predict::EnginePaths& paths) {
  for (const Shipped& shipped : kShipped) {
    const bool left_out = shipped.name != nullptr &&
                          std::find(options.without.begin(), options.without.end(), shipped.name) !=
                              options.without.end();
    Result<std::string> found = find_data_file(shipped.path);
    if (!left_out && found) paths.*shipped.member = std::move(found).value();
  }
  if (!options.ranker.empty()) paths.ranker_path = options.ranker;
  if (!options.block.empty()) paths.block_list_path = options.block;
}

bool is_usable(const catalog::Installed& model) {
  return model.problem.empty() && model.architecture == kDecoder;
}

/// `given`: what --deep or $LAYA_DEEP holds, not empty.
Result<std::string> deep_from(const std::string& given) {
  if (given == kNone) {
    return std::string();
  }
  if (given.find('/') != std::string::npos || given.ends_with(".laya")) {
    if (!is_there(given)) {
      return Error{ErrorCode::BadArgument, given + ": no such model file"};
    }
    return given;
  }
  const Result<catalog::Folders> folders = catalog::user_folders();
  if (!folders) return folders.error();
  const catalog::Store store(folders->models);
  const Result<catalog::Installed> installed = store.find(given);
  if (!installed) {
    const bool known = catalog::find_known(given) != nullptr;
    return Error{installed.error().code,
                 known ? "'" + given + "' is not installed; get it: laya model get " + given
                       : installed.error().message};
  }
  return installed->path;
}

/// Somebody named a decoder.
bool is_asked_for(const ModelOptions& options) {
  const char* set = std::getenv("LAYA_DEEP");
  return !options.deep.empty() || (set != nullptr && *set != '\0');
}

}  // namespace

std::string default_deep_path(const catalog::Store& store) {
  const auto installed = store.list();
  if (!installed) {
    return {};
  }
  for (const catalog::KnownModel& known : catalog::known_models()) {
    for (const catalog::Installed& model : *installed) {
      if (model.name == known.name && is_usable(model)) return model.path;
    }
  }
  for (const catalog::Installed& model : *installed) {
    if (is_usable(model)) return model.path;
  }
  return {};
}

Result<std::string> find_deep(const ModelOptions& options) {
  if (!options.deep.empty()) {
    return deep_from(options.deep);
  }
  if (const char* set = std::getenv("LAYA_DEEP"); set != nullptr && *set != '\0') {
    Result<std::string> path = deep_from(set);
    if (!path) {
      return Error{path.error().code, path.error().message + " (from $LAYA_DEEP)"};
    }
    return path;
  }
  const Result<catalog::Folders> folders = catalog::user_folders();
  return folders ? default_deep_path(catalog::Store(folders->models)) : std::string();
}

namespace {

Result<predict::EnginePaths> find_network_and_table(const ModelOptions& options) {
  if (!options.paths.empty()) {
    return from_paths(options.paths);
  }
  if (const char* set = std::getenv("LAYA_MODEL"); set != nullptr && *set != '\0') {
    Result<predict::EnginePaths> paths = from_paths({set});
    if (!paths) {
      return Error{paths.error().code, paths.error().message + " (from $LAYA_MODEL)"};
    }
    return paths;
  }
  for (const fs::path& root : data_roots()) {
    const fs::path folder = root / "models" / "instant";
    if (is_there(folder / kNetworkFile) || is_there(folder / kNgramFile)) {
      return from_folder(folder);
    }
  }
  return Error{ErrorCode::BadArgument,
               "no model found: neither models/instant beside the program nor in /usr/share/laya; "
               "give --model FOLDER or set $LAYA_MODEL"};
}

}  // namespace

Result<predict::EnginePaths> find_model(const ModelOptions& options) {
  Result<predict::EnginePaths> paths = find_network_and_table(options);
  if (paths) add_shipped(options, *paths);
  return paths;
}

std::string deep_name(const ModelOptions& options) {
  const Result<std::string> path = find_deep(options);
  return path && !path->empty() ? fs::path(*path).stem().string() : "";
}

Result<OpenedEngine> find_engine(const ModelOptions& options, predict::DeepLoading loading) {
  Result<predict::EnginePaths> paths = find_model(options);
  if (!paths) {
    return std::move(paths).error();
  }
  Result<std::string> deep = find_deep(options);
  if (!deep) {
    return std::move(deep).error();
  }
  paths->deep_path = std::move(deep).value();
  predict::EngineOptions engine_options;
  engine_options.threads = options.threads;
  engine_options.deep_loading = loading;
  auto engine = predict::Engine::open(*paths, engine_options);
  std::string warning;
  if (!engine && !paths->deep_path.empty() && !is_asked_for(options)) {
    warning = "going on without the pretrained model: " + base::printable(engine.error().message);
    paths->deep_path.clear();
    engine = predict::Engine::open(*paths, engine_options);
  }
  if (!engine) {
    return std::move(engine).error();
  }
  return OpenedEngine{std::move(engine).value(), std::move(warning)};
}

}  // namespace laya::setup
