// From a name or a file to an installed model: fetch, agree to the licence, convert, verify, put in
// place. What `laya model get` and `laya model add` do, without the command line.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "catalog/fetch.h"
#include "catalog/folders.h"
#include "catalog/known_models.h"
#include "catalog/store.h"
#include "setup/progress.h"

namespace laya::setup {

/// What a converter is asked for.
struct ConvertRequest {
  std::string source;  ///< a checkpoint: file or folder
  std::string target;  ///< the .laya to write
  std::string title;   ///< of the model; empty: the checkpoint's own, as is
  std::string licence;
  std::vector<std::string> origins;  ///< where it comes from, for the metadata
  std::string keep_languages;        ///< "zh,en"; empty: the whole vocabulary
};
using Convert = std::function<Status(const ConvertRequest&, Progress&)>;

/// The converter of src/convert.
Status convert_checkpoint(const ConvertRequest& request, Progress& progress);

struct InstallOptions {
  catalog::Folders folders;
  std::string mirror;
  std::string python = "python3";
  enum class Source : std::uint8_t { Remove, Keep } source = Source::Remove;
  std::string keep_languages;  ///< overrides the catalogue's; "all": the whole vocabulary
  /// Asked where a licence must be agreed to, with the files of its texts. An error ends it all.
  std::function<Status(const catalog::KnownModel&, const std::vector<std::string>& texts)> agree;
  Convert convert = convert_checkpoint;
};

/// Fetches `model`, converts it and installs it under its name, licence texts beside it. Whatever
/// fails, what was installed before is as it was and what was downloaded is kept.
Result<catalog::Installed> install_known(const catalog::KnownModel& model,
                                         const InstallOptions& options, Progress& progress);

/// Installs a checkpoint (converted) or a .laya (copied) as `name`.
Result<catalog::Installed> install_file(const std::string& path, const std::string& name,
                                        const InstallOptions& options, Progress& progress);

/// A name made of what the file is called: "My Model.Q4.gguf" gives "my-model.q4". Empty when
/// nothing is left of it.
std::string name_from_path(const std::string& path);

}  // namespace laya::setup
