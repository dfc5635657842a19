#include "format/checkpoint.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "base/atomic_file.h"
#include "base/byte_reader.h"
#include "base/mapped_file.h"
#include "format/mlx_tensors.h"
#include "format/safetensors_file.h"
#include "format/torch_file.h"

namespace laya::format {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxShards = 1024;
constexpr std::size_t kMaxFolderEntries = 65536;
constexpr std::string_view kConfig = "config.json";
constexpr std::uint64_t kMaxConfigBytes = 4u << 20;
constexpr std::string_view kIndexEnd = ".index.json";

enum class FileKind { Gguf, Safetensors, Torch, Llama2c, Index };

/// Whether the first seven integers could be a llama2.c header of version 0, which has no mark.
bool looks_like_llama2c(std::span<const std::byte> bytes) {
  base::ByteReader reader(bytes);
  if (reader.u32("magic") == 0x616B3432) {
    return true;
  }
  reader.seek(0, "header");
  std::int32_t header[7];
  for (std::int32_t& field : header) {
    field = reader.read<std::int32_t>("header");
  }
  constexpr std::int32_t kMost = 1 << 24;
  return !reader.failed() &&
         std::all_of(header, header + 7,
                     [](std::int32_t field) { return field >= -kMost && field <= kMost; }) &&
         std::count_if(header, header + 7, [](std::int32_t field) { return field > 0; }) >= 6 &&
         header[5] != 0;
}

Result<FileKind> kind_of(const std::string& path) {
  if (path.ends_with(kIndexEnd)) {
    return FileKind::Index;
  }
  const Result<base::MappedFile> mapped = base::MappedFile::open(path, kMaxCheckpointBytes);
  if (!mapped) {
    return mapped.error();
  }
  const std::span<const std::byte> bytes = mapped->bytes();
  const std::string_view start(reinterpret_cast<const char*>(bytes.data()),
                               std::min<std::size_t>(bytes.size(), 64));
  if (start.starts_with("GGUF")) {
    return FileKind::Gguf;
  }
  // Before the others: a header's length may begin with any byte.
  if (start.size() > 8 && start[8] == '{' &&
      base::ByteReader(bytes).u64("length") <= kMaxSafetensorsHeaderBytes) {
    return FileKind::Safetensors;
  }
  if (start.starts_with("PK\x03\x04") || start.starts_with('\x80')) {
    return FileKind::Torch;
  }
  if (start.starts_with("\x89LAYA")) {
    return Error{ErrorCode::BadArgument, path + ": is a .laya file already"};
  }
  if (start.starts_with("version https://git-lfs")) {
    return Error{ErrorCode::Corrupt, path + ": a Git LFS pointer: fetch the file itself"};
  }
  if (looks_like_llama2c(bytes)) {
    return FileKind::Llama2c;
  }
  return Error{ErrorCode::Corrupt, path + ": none of GGUF, safetensors, PyTorch, llama2.c (" +
                                       std::to_string(bytes.size()) + " bytes, beginning " +
                                       in_quotes(start.substr(0, 8)) + ")"};
}

/// The checkpoint in a folder; names in the order in which they are preferred.
Result<std::string> find_in_folder(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code failed;
  for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    names.push_back(entry->path().filename().string());
    if (names.size() > kMaxFolderEntries) {
      return Error{ErrorCode::TooLarge,
                   folder + ": more than " + std::to_string(kMaxFolderEntries) + " files"};
    }
  }
  if (failed) {
    return Error{ErrorCode::Io, folder + ": " + failed.message()};
  }
  std::ranges::sort(names);
  const auto has = [&](std::string_view name) { return std::ranges::binary_search(names, name); };
  const auto only = [&](std::string_view end) -> Result<std::string> {
    std::vector<std::string> found;
    std::ranges::copy_if(names, std::back_inserter(found), [&](const std::string& name) {
      return name.ends_with(end) && name != "tokenizer.bin" && name != "training_args.bin" &&
             name != "optimizer.pt" && name != "scheduler.pt";
    });
    if (found.size() > 1) {
      return Error{ErrorCode::BadArgument,
                   folder + ": " + in_quotes(found[0]) + " and " + in_quotes(found[1]) + " (" +
                       std::to_string(found.size()) + " in all): say which one"};
    }
    return found.empty() ? std::string() : found[0];
  };
  const std::string base = folder + "/";
  for (const std::string_view name : {"model.safetensors.index.json", "model.safetensors"}) {
    if (has(name)) return base + std::string(name);
  }
  const Result<std::string> gguf = only(".gguf");
  if (!gguf) return gguf.error();
  if (!gguf->empty()) return base + *gguf;
  for (const std::string_view name : {"pytorch_model.bin.index.json", "pytorch_model.bin"}) {
    if (has(name)) return base + std::string(name);
  }
  for (const std::string_view end : {".safetensors", ".bin", ".pt", ".pth"}) {
    const Result<std::string> one = only(end);
    if (!one) return one.error();
    if (!one->empty()) return base + *one;
  }
  return Error{ErrorCode::BadArgument,
               folder +
                   ": no model.safetensors (or its index), *.gguf, pytorch_model.bin, *.bin, "
                   "*.pt or *.pth in this folder"};
}

bool is_plain_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." &&
         name.find_first_of(std::string_view("/\\\0", 3)) == std::string_view::npos;
}

}  // namespace

std::string_view checkpoint_kind_name(CheckpointKind kind) {
  constexpr std::string_view kNames[] = {"gguf", "safetensors", "mlx", "torch", "llama2c"};
  const auto index = static_cast<std::size_t>(kind);
  return index < std::size(kNames) ? kNames[index] : std::string_view();
}

/// Everything; behind a pointer, so that moving a Checkpoint keeps views valid.
struct Checkpoint::Contents {
  std::string path;
  std::string folder;  ///< of the side files
  CheckpointKind kind = CheckpointKind::Safetensors;
  std::optional<GgufFile> gguf;
  std::optional<Llama2cFile> llama2c;
  std::vector<SafetensorsFile> safetensors;
  std::vector<TorchFile> torch;
  std::vector<SourceTensor> tensors;
  std::mutex side_mutex;                          ///< guards side_files
  std::map<std::string, std::string> side_files;  ///< read so far; entries stay where they are

  Status open(const std::string& file);
  Status open_shards(const std::string& index_path);
  Status open_file(const std::string& file, FileKind kind);
  Status sort_tensors();
  Status join_mlx();
  void take(std::span<const SourceTensor> more) {
    tensors.insert(tensors.end(), more.begin(), more.end());
  }
};

Status Checkpoint::Contents::open(const std::string& file) {
  folder = fs::path(file).parent_path().string();
  if (folder.empty()) {
    folder = ".";
  }
  const Result<FileKind> found = kind_of(file);
  if (!found) {
    return found.error();
  }
  if (Status opened = *found == FileKind::Index ? open_shards(file) : open_file(file, *found);
      !opened) {
    return opened;
  }
  if (Status sorted = sort_tensors(); !sorted) {
    return sorted;
  }
  return kind == CheckpointKind::Safetensors ? join_mlx() : Status();
}

Status Checkpoint::Contents::open_file(const std::string& file, FileKind found) {
  switch (found) {
    case FileKind::Gguf: {
      Result<GgufFile> opened = GgufFile::open(file);
      if (!opened) return opened.error();
      if (opened->has("split.count")) {
        const Result<std::uint64_t> parts = opened->integer("split.count", 0, 65535);
        if (!parts) return parts.error();
        if (*parts > 1) {
          return Error{ErrorCode::Unsupported,
                       file + ": one of " + std::to_string(*parts) +
                           " parts; join them first: llama-gguf-split --merge"};
        }
      }
      kind = CheckpointKind::Gguf;
      take(opened->tensors());
      gguf = std::move(*opened);
      return {};
    }
    case FileKind::Safetensors: {
      Result<SafetensorsFile> opened = SafetensorsFile::open(file);
      if (!opened) return opened.error();
      kind = CheckpointKind::Safetensors;
      take(opened->tensors());
      safetensors.push_back(std::move(*opened));
      return {};
    }
    case FileKind::Torch: {
      Result<TorchFile> opened = TorchFile::open(file);
      if (!opened) return opened.error();
      kind = CheckpointKind::Torch;
      take(opened->tensors());
      torch.push_back(std::move(*opened));
      return {};
    }
    case FileKind::Llama2c: {
      Result<Llama2cFile> opened = Llama2cFile::open(file);
      if (!opened) return opened.error();
      kind = CheckpointKind::Llama2c;
      take(opened->tensors());
      llama2c = std::move(*opened);
      return {};
    }
    case FileKind::Index:
      break;
  }
  return Error{ErrorCode::Corrupt, file + ": an index where weights are expected"};
}

Status Checkpoint::Contents::open_shards(const std::string& index_path) {
  const Result<std::string> json = base::read_file(index_path, kMaxSideFileBytes);
  if (!json) {
    return json.error();
  }
  const auto index = parse_shard_index(*json, index_path);
  if (!index) {
    return index.error();
  }
  std::set<std::string> shards;
  for (const auto& [tensor, shard] : *index) {
    shards.insert(shard);
  }
  if (shards.empty() || shards.size() > kMaxShards) {
    return Error{ErrorCode::Corrupt, index_path + ": " + std::to_string(shards.size()) +
                                         " files; 1 to " + std::to_string(kMaxShards) +
                                         " are allowed"};
  }
  std::optional<FileKind> first;
  for (const std::string& shard : shards) {
    const std::string file = folder + "/" + shard;
    const Result<FileKind> found = kind_of(file);
    if (!found) {
      return found.error();
    }
    if ((*found != FileKind::Safetensors && *found != FileKind::Torch) ||
        first.value_or(*found) != *found) {
      return Error{ErrorCode::Corrupt,
                   file +
                       ": a shard that is neither safetensors nor PyTorch, or not of one kind "
                       "with the others"};
    }
    first = *found;
    const std::size_t before = tensors.size();
    if (Status opened = open_file(file, *found); !opened) {
      return opened;
    }
    std::set<std::string_view> there;
    for (std::size_t i = before; i < tensors.size(); ++i) {
      there.insert(tensors[i].name);
    }
    for (const auto& [tensor, where] : *index) {
      if (where == shard && !there.contains(tensor)) {
        return Error{ErrorCode::Corrupt, index_path + ": tensor " + in_quotes(tensor) +
                                             " is said to be in " + in_quotes(shard) +
                                             ", which does not have it"};
      }
    }
  }
  return {};
}

Status Checkpoint::Contents::sort_tensors() {
  if (tensors.size() > kMaxSourceTensors) {
    return Error{ErrorCode::TooLarge, path + ": " + std::to_string(tensors.size()) +
                                          " tensors, the limit is " +
                                          std::to_string(kMaxSourceTensors)};
  }
  std::ranges::sort(tensors, {}, &SourceTensor::name);
  const auto twice = std::ranges::adjacent_find(tensors, {}, &SourceTensor::name);
  if (twice != tensors.end()) {
    return Error{ErrorCode::Corrupt, path + ": tensor " + in_quotes(twice->name) + " in two files"};
  }
  return {};
}

Status Checkpoint::Contents::join_mlx() {
  const std::string file = folder + "/" + std::string(kConfig);
  std::error_code ignored;
  if (!fs::exists(file, ignored)) {
    return {};
  }
  const Result<std::string> config = base::read_file(file, kMaxConfigBytes);
  if (!config) {
    return config.error();
  }
  const Result<bool> is_mlx = is_mlx_config(*config, path);
  if (!is_mlx) {
    return is_mlx.error();
  }
  if (!*is_mlx) {
    return {};
  }
  Result<std::vector<SourceTensor>> joined = join_mlx_tensors(std::move(tensors), *config, path);
  if (!joined) {
    return joined.error();
  }
  kind = CheckpointKind::Mlx;
  tensors = std::move(*joined);
  return {};
}

Checkpoint::Checkpoint(std::unique_ptr<Contents> contents) : contents_(std::move(contents)) {}
Checkpoint::Checkpoint(Checkpoint&&) noexcept = default;
Checkpoint& Checkpoint::operator=(Checkpoint&&) noexcept = default;
Checkpoint::~Checkpoint() = default;

Result<Checkpoint> Checkpoint::open(const std::string& path) {
  std::error_code failed;
  std::string file = path;
  if (fs::is_directory(path, failed)) {
    const Result<std::string> found = find_in_folder(path);
    if (!found) {
      return found.error();
    }
    file = *found;
  }
  auto contents = std::make_unique<Contents>();
  contents->path = path;
  if (Status opened = contents->open(file); !opened) {
    return opened.error();
  }
  return Checkpoint(std::move(contents));
}

CheckpointKind Checkpoint::kind() const { return contents_->kind; }
const std::string& Checkpoint::path() const { return contents_->path; }
std::span<const SourceTensor> Checkpoint::tensors() const { return contents_->tensors; }

const SourceTensor* Checkpoint::find(std::string_view name) const {
  return find_sorted(contents_->tensors, name);
}

Result<const SourceTensor*> Checkpoint::tensor(std::string_view name,
                                               std::span<const std::uint64_t> shape) const {
  const SourceTensor* found = find(name);
  if (found == nullptr) {
    return Error{ErrorCode::Corrupt, path() + ": tensor " + in_quotes(name) +
                                         " is missing (the configuration says " +
                                         shape_text(shape) + ")"};
  }
  if (!std::ranges::equal(found->shape, shape)) {
    return Error{ErrorCode::Corrupt, path() + ": tensor " + in_quotes(name) + " is " +
                                         shape_text(found->shape) + ", the configuration says " +
                                         shape_text(shape)};
  }
  return found;
}

Result<std::string_view> Checkpoint::side_file(std::string_view name) const {
  if (!is_plain_name(name)) {
    return Error{ErrorCode::BadArgument, path() + ": " + in_quotes(name) + " is no file name"};
  }
  const std::lock_guard lock(contents_->side_mutex);
  const auto known = contents_->side_files.find(std::string(name));
  if (known != contents_->side_files.end()) {
    return std::string_view(known->second);
  }
  Result<std::string> text =
      base::read_file(contents_->folder + "/" + std::string(name), kMaxSideFileBytes);
  if (!text) {
    return text.error();
  }
  const auto placed = contents_->side_files.emplace(std::string(name), std::move(*text)).first;
  return std::string_view(placed->second);
}

bool Checkpoint::has_side_file(std::string_view name) const {
  std::error_code ignored;
  return is_plain_name(name) &&
         fs::is_regular_file(contents_->folder + "/" + std::string(name), ignored);
}

const GgufFile* Checkpoint::gguf() const { return contents_->gguf ? &*contents_->gguf : nullptr; }
const Llama2cConfig* Checkpoint::llama2c() const {
  return contents_->llama2c ? &contents_->llama2c->config() : nullptr;
}

}  // namespace laya::format
