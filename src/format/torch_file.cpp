#include "format/torch_file.h"

#include <algorithm>
#include <utility>

#include "base/byte_reader.h"
#include "format/pickled_tensors.h"
#include "format/quantised_blocks.h"
#include "format/stored_zip.h"

namespace laya::format {
namespace {

constexpr std::string_view kRemedy =
    "; convert it where you trust it: python -c \"import sys, torch, safetensors.torch as s; "
    "s.save_file({k: v.clone().contiguous() for k, v in torch.load(sys.argv[1], "
    "weights_only=True).items()}, 'model.safetensors')\" FILE";
constexpr std::string_view kPickle = "data.pkl";

/// Errors that come from what the file is, not from damage, end with the way out.
Error with_remedy(Error error) {
  if (error.code == ErrorCode::Unsupported) {
    error.message += kRemedy;
  }
  return error;
}

bool is_contiguous(const PickledTensor& tensor) {
  std::uint64_t expected = 1;
  for (std::size_t i = tensor.shape.size(); i-- > 0;) {
    if (tensor.shape[i] != 1 && tensor.strides[i] != expected) {
      return false;
    }
    expected *= tensor.shape[i];  // the caller has checked the product
  }
  return true;
}

const ZipEntry* find_entry(std::span<const ZipEntry> entries, std::string_view name) {
  const auto found = std::ranges::lower_bound(entries, name, {}, &ZipEntry::name);
  return found != entries.end() && found->name == name ? &*found : nullptr;
}

/// The tensor with its bytes, which must lie inside the storage's entry.
Result<SourceTensor> place(const std::string& file, std::span<const ZipEntry> entries,
                           const std::string& folder, PickledTensor&& described) {
  const std::string label = file + ": tensor " + in_quotes(described.name);
  const Result<std::uint64_t> size = storage_bytes(described.type, described.shape);
  if (!size) {
    return Error{ErrorCode::Corrupt, label + ": " + size.error().message};
  }
  if (!is_contiguous(described)) {
    return Error{ErrorCode::Unsupported, label + " is not contiguous (a transposed or cut view)"};
  }
  const std::string name = folder + "data/" + std::string(described.storage);
  const ZipEntry* storage = find_entry(entries, name);
  if (storage == nullptr) {
    return Error{ErrorCode::Corrupt, label + ": its storage " + in_quotes(name) + " is missing"};
  }
  const std::uint64_t each = value_bytes(described.type);
  if (storage->data.size() % each != 0 ||
      storage->data.size() / each != described.storage_elements ||
      !base::fits(described.offset, *size / each, described.storage_elements)) {
    return Error{ErrorCode::Corrupt, label + ": " + std::to_string(*size / each) + " values at " +
                                         std::to_string(described.offset) + " of a storage of " +
                                         std::to_string(described.storage_elements) +
                                         ", which has " + std::to_string(storage->data.size()) +
                                         " bytes"};
  }
  SourceTensor tensor;
  tensor.name = std::move(described.name);
  tensor.type = described.type;
  tensor.shape = std::move(described.shape);
  tensor.bytes = storage->data.subspan(described.offset * each, *size);
  return tensor;
}

}  // namespace

Result<TorchFile> TorchFile::open(const std::string& path) {
  Result<base::MappedFile> mapped = base::MappedFile::open(path, kMaxCheckpointBytes);
  if (!mapped) {
    return mapped.error();
  }
  TorchFile file;
  file.name_ = path;
  file.file_ = std::move(*mapped);
  if (Status read = file.read(file.file_.bytes()); !read) {
    return with_remedy(read.error());
  }
  return file;
}

Result<TorchFile> TorchFile::parse(std::span<const std::byte> bytes, std::string name_for_errors) {
  TorchFile file;
  file.name_ = std::move(name_for_errors);
  if (Status read = file.read(bytes); !read) {
    return with_remedy(read.error());
  }
  return file;
}

Status TorchFile::read(std::span<const std::byte> bytes) {
  if (!bytes.empty() && bytes[0] == std::byte{0x80}) {  // a bare pickle begins with PROTO
    return Error{ErrorCode::Unsupported, name_ + ": a PyTorch file of the form before 1.6"};
  }
  const Result<std::vector<ZipEntry>> entries = read_stored_zip(bytes, name_);
  if (!entries) {
    return entries.error();
  }
  const ZipEntry* pickle = nullptr;
  for (const ZipEntry& entry : *entries) {
    if (entry.name == kPickle || entry.name.ends_with("/data.pkl")) {
      if (pickle != nullptr) {
        return Error{ErrorCode::Corrupt, name_ + ": two entries data.pkl"};
      }
      pickle = &entry;
    }
  }
  if (pickle == nullptr) {
    return Error{ErrorCode::Unsupported, name_ + ": a zip archive without data.pkl"};
  }
  if (pickle->data.size() > kMaxPickleBytes) {
    return Error{ErrorCode::TooLarge,
                 name_ + ": data.pkl has " + std::to_string(pickle->data.size()) +
                     " bytes, the limit is " + std::to_string(kMaxPickleBytes)};
  }
  const std::string folder(pickle->name.substr(0, pickle->name.size() - kPickle.size()));
  if (const ZipEntry* order = find_entry(*entries, folder + "byteorder")) {
    const std::string_view text(reinterpret_cast<const char*>(order->data.data()),
                                order->data.size());
    if (text != "little") {
      return Error{ErrorCode::Unsupported, name_ + ": byte order " + in_quotes(text)};
    }
  }
  Result<std::vector<PickledTensor>> described =
      read_pickled_tensors(pickle->data, name_ + ": data.pkl");
  if (!described) {
    return described.error();
  }
  for (PickledTensor& tensor : *described) {
    Result<SourceTensor> placed = place(name_, *entries, folder, std::move(tensor));
    if (!placed) {
      return placed.error();
    }
    tensors_.push_back(std::move(*placed));
  }
  std::ranges::sort(tensors_, {}, &SourceTensor::name);
  const auto twice = std::ranges::adjacent_find(tensors_, {}, &SourceTensor::name);
  if (twice != tensors_.end()) {
    return Error{ErrorCode::Corrupt, name_ + ": tensor " + in_quotes(twice->name) + " twice"};
  }
  return {};
}

const SourceTensor* TorchFile::find_tensor(std::string_view name) const {
  return find_sorted(tensors_, name);
}

}  // namespace laya::format
