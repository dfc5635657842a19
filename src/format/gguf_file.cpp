#include "format/gguf_file.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "base/byte_reader.h"
#include "format/quantised_blocks.h"

namespace laya::format {
namespace {

constexpr std::uint32_t kDefaultAlignment = 32;   // of the specification
constexpr std::uint32_t kMinAlignment = 8;        // of the specification
constexpr std::uint32_t kMaxAlignment = 1 << 20;  // beyond any page
constexpr std::uint64_t kMaxWalked = 1 << 25;     // strings in arrays, of the whole file
constexpr std::string_view kAlignmentKey = "general.alignment";

template <typename T>
T load(std::span<const std::byte> bytes, std::uint64_t index = 0) {
  T value;
  std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
  return value;
}

/// Bytes of a scalar; 0 for strings, arrays and numbers that are no type.
std::uint64_t scalar_bytes(GgufValueType type) {
  switch (type) {
    case GgufValueType::U8:
    case GgufValueType::I8:
    case GgufValueType::Bool:
      return 1;
    case GgufValueType::U16:
    case GgufValueType::I16:
      return 2;
    case GgufValueType::U32:
    case GgufValueType::I32:
    case GgufValueType::F32:
      return 4;
    case GgufValueType::U64:
    case GgufValueType::I64:
    case GgufValueType::F64:
      return 8;
    case GgufValueType::String:
    case GgufValueType::Array:
      break;
  }
  return 0;
}

/// Tensor types by their numbers in the file.
struct TypeNumber {
  std::uint32_t number;
  SourceType type;
};
constexpr TypeNumber kTypes[] = {
    {0, SourceType::F32},   {1, SourceType::F16},   {2, SourceType::Q4_0}, {3, SourceType::Q4_1},
    {6, SourceType::Q5_0},  {7, SourceType::Q5_1},  {8, SourceType::Q8_0}, {12, SourceType::Q4_K},
    {13, SourceType::Q5_K}, {14, SourceType::Q6_K}, {24, SourceType::I8},  {25, SourceType::I16},
    {26, SourceType::I32},  {27, SourceType::I64},  {28, SourceType::F64}, {30, SourceType::BF16},
};

/// Names of the types that this build does not read, so that the message can say which one it is.
struct UnreadType {
  std::uint32_t number;
  std::string_view name;
};
constexpr UnreadType kUnread[] = {
    {9, "Q8_1"},     {10, "Q2_K"},  {11, "Q3_K"},   {15, "Q8_K"},  {16, "IQ2_XXS"}, {17, "IQ2_XS"},
    {18, "IQ3_XXS"}, {19, "IQ1_S"}, {20, "IQ4_NL"}, {21, "IQ3_S"}, {22, "IQ2_S"},   {23, "IQ4_XS"},
    {29, "IQ1_M"},   {34, "TQ1_0"}, {35, "TQ2_0"},  {39, "MXFP4"},
};

const SourceType* tensor_type(std::uint32_t number) {
  for (const TypeNumber& entry : kTypes) {
    if (entry.number == number) {
      return &entry.type;
    }
  }
  return nullptr;
}

std::string unread_name(std::uint32_t number) {
  for (const UnreadType& entry : kUnread) {
    if (entry.number == number) {
      return std::string(entry.name);
    }
  }
  return "number " + std::to_string(number);
}

/// Walks over `count` elements of an array. What they claim is only ever compared with what is
/// left, and `budget` bounds the time that a sparse file of zeros can take.
void skip_elements(base::ByteReader& reader, GgufValueType element, std::uint64_t count,
                   unsigned depth, std::uint64_t& budget) {
  constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();  // fits nowhere
  if (const std::uint64_t each = scalar_bytes(element); each != 0) {
    reader.bytes(count > reader.left() / each ? kNever : count * each, "an array's elements");
    return;
  }
  for (std::uint64_t i = 0; i < count && !reader.failed(); ++i) {
    if (budget == 0) {
      reader.bytes(kNever, "an array of more strings than a file may have");
      return;
    }
    --budget;
    if (element == GgufValueType::String) {
      reader.text(reader.u64("the length of a string in an array"), "a string in an array");
    } else if (depth == 0) {
      reader.bytes(kNever, "an array in arrays, too deep,");
    } else {
      const auto inner = static_cast<GgufValueType>(reader.u32("an array's type"));
      const std::uint64_t inner_count = reader.u64("an array's count");
      if (gguf_value_type_name(inner).empty()) {
        reader.bytes(kNever, "an array of no known type");
      }
      skip_elements(reader, inner, inner_count, depth - 1, budget);
    }
  }
}

}  // namespace

/// Everything; behind a pointer, so that moving a GgufFile keeps views valid.
struct GgufFile::Contents {
  std::string name;
  base::MappedFile file;  ///< empty when parse() was given foreign bytes
  std::span<const std::byte> bytes;
  std::uint32_t version = 0;
  std::uint32_t alignment = kDefaultAlignment;
  std::uint64_t strings_left = kMaxWalked;
  std::vector<GgufValue> metadata;
  std::vector<std::uint32_t> keys_sorted;  ///< indices into metadata
  std::vector<SourceTensor> tensors;
  std::vector<std::uint32_t> names_sorted;  ///< indices into tensors

  Error error(ErrorCode code, std::string what) const { return {code, name + ": " + what}; }
  Error corrupt(std::string what) const { return error(ErrorCode::Corrupt, std::move(what)); }

  Status read();
  Status read_value(base::ByteReader& reader);
  Status read_alignment();
  Result<std::uint64_t> read_tensor_info(base::ByteReader& reader);
  Status place_tensors(const std::vector<std::uint64_t>& offsets, std::uint64_t data_start);
};

Status GgufFile::Contents::read() {
  base::ByteReader reader(bytes);
  if (reader.text(4, "the magic number") != "GGUF") {
    return corrupt("not a GGUF file (it does not begin with \"GGUF\")");
  }
  version = reader.u32("the version");
  if (!reader.failed() && version != 2 && version != 3) {
    const bool swapped = (version & 0xFFFFu) == 0 && version != 0;
    return error(ErrorCode::Version,
                 swapped ? std::string("a big-endian GGUF file; only little-endian ones are read")
                         : "GGUF version " + std::to_string(version) +
                               ", versions 2 and 3 are read; convert it anew from its source");
  }
  const std::uint64_t tensor_count = reader.u64("the tensor count");
  const std::uint64_t key_count = reader.u64("the metadata count");
  if (Status fits = reader.status(name); !fits) {
    return fits;
  }
  if (tensor_count > kMaxSourceTensors || key_count > kMaxGgufKeys) {
    return corrupt(std::to_string(tensor_count) + " tensors and " + std::to_string(key_count) +
                   " keys; the limits are " + std::to_string(kMaxSourceTensors) + " and " +
                   std::to_string(kMaxGgufKeys));
  }
  for (std::uint64_t i = 0; i < key_count; ++i) {
    if (Status done = read_value(reader); !done) {
      return done;
    }
  }
  const auto by_key = [&](std::uint32_t i) { return metadata[i].key; };
  keys_sorted.resize(metadata.size());
  for (std::uint32_t i = 0; i < metadata.size(); ++i) keys_sorted[i] = i;
  std::ranges::sort(keys_sorted, {}, by_key);
  const auto twice = std::ranges::adjacent_find(keys_sorted, {}, by_key);
  if (twice != keys_sorted.end()) {
    return corrupt("metadata key " + in_quotes(by_key(*twice)) + " twice");
  }
  if (Status done = read_alignment(); !done) {
    return done;
  }
  std::vector<std::uint64_t> offsets;
  for (std::uint64_t i = 0; i < tensor_count; ++i) {
    Result<std::uint64_t> offset = read_tensor_info(reader);
    if (!offset) {
      return offset.error();
    }
    offsets.push_back(*offset);
  }
  const auto by_name = [&](std::uint32_t i) -> std::string_view { return tensors[i].name; };
  names_sorted.resize(tensors.size());
  for (std::uint32_t i = 0; i < tensors.size(); ++i) names_sorted[i] = i;
  std::ranges::sort(names_sorted, {}, by_name);
  const auto same = std::ranges::adjacent_find(names_sorted, {}, by_name);
  if (same != names_sorted.end()) {
    return corrupt("tensor " + in_quotes(by_name(*same)) + " twice");
  }
  const std::uint64_t position = reader.position();
  return place_tensors(offsets, (position + alignment - 1) / alignment * alignment);
}

Status GgufFile::Contents::read_value(base::ByteReader& reader) {
  GgufValue value;
  const std::uint64_t key_bytes = reader.u64("the length of a metadata key");
  if (!reader.failed() && (key_bytes == 0 || key_bytes > kMaxGgufKeyBytes)) {
    return corrupt("metadata key number " + std::to_string(metadata.size()) + " of " +
                   std::to_string(key_bytes) + " bytes; 1 to " + std::to_string(kMaxGgufKeyBytes) +
                   " are allowed");
  }
  value.key = reader.text(key_bytes, "a metadata key");
  const std::string label = name + ": metadata " + in_quotes(value.key);
  const std::uint32_t type = reader.u32("a value's type");
  value.type = static_cast<GgufValueType>(type);
  if (!reader.failed() && gguf_value_type_name(value.type).empty()) {
    return Error{ErrorCode::Corrupt,
                 label + " is of type " + std::to_string(type) + ", types 0 to 12 are known"};
  }
  std::size_t start = reader.position();
  if (const std::uint64_t each = scalar_bytes(value.type); each != 0) {
    reader.bytes(each, "a value");
  } else if (value.type == GgufValueType::String) {
    const std::uint64_t length = reader.u64("a string's length");
    start = reader.position();
    reader.bytes(length, "a string");
  } else {
    const std::uint32_t element = reader.u32("an array's type");
    value.element = static_cast<GgufValueType>(element);
    value.count = reader.u64("an array's count");
    if (!reader.failed() && gguf_value_type_name(value.element).empty()) {
      return Error{ErrorCode::Corrupt, label + " is an array of type " + std::to_string(element) +
                                           ", types 0 to 12 are known"};
    }
    start = reader.position();
    skip_elements(reader, value.element, value.count, kMaxGgufArrayDepth, strings_left);
  }
  if (Status fits = reader.status(label); !fits) {
    return fits;
  }
  value.bytes = bytes.subspan(start, reader.position() - start);
  if (value.type == GgufValueType::Bool && load<std::uint8_t>(value.bytes) > 1) {
    return Error{ErrorCode::Corrupt, label + " is neither true nor false"};
  }
  metadata.push_back(value);
  return {};
}

Status GgufFile::Contents::read_alignment() {
  for (const GgufValue& value : metadata) {
    if (value.key != kAlignmentKey) {
      continue;
    }
    if (value.type != GgufValueType::U32) {
      return corrupt("metadata \"general.alignment\" is no U32");
    }
    alignment = load<std::uint32_t>(value.bytes);
    if (!std::has_single_bit(alignment) || alignment < kMinAlignment || alignment > kMaxAlignment) {
      return corrupt("metadata \"general.alignment\" is " + std::to_string(alignment) +
                     "; a power of two from 8 to " + std::to_string(kMaxAlignment) + " is allowed");
    }
  }
  return {};
}

/// Appends the tensor without its bytes, and returns its offset in the data.
Result<std::uint64_t> GgufFile::Contents::read_tensor_info(base::ByteReader& reader) {
  const std::uint64_t name_bytes = reader.u64("the length of a tensor's name");
  if (!reader.failed() && (name_bytes == 0 || name_bytes > kMaxSourceNameBytes)) {
    return corrupt("tensor number " + std::to_string(tensors.size()) + " has a name of " +
                   std::to_string(name_bytes) + " bytes; 1 to " +
                   std::to_string(kMaxSourceNameBytes) + " are allowed");
  }
  SourceTensor tensor;
  tensor.name = reader.text(name_bytes, "a tensor's name");
  const std::string label = name + ": tensor " + in_quotes(tensor.name);
  const std::uint32_t rank = reader.u32("a tensor's number of dimensions");
  if (!reader.failed() && (rank == 0 || rank > kMaxGgufDimensions)) {
    return Error{ErrorCode::Corrupt, label + " has " + std::to_string(rank) + " dimensions; 1 to " +
                                         std::to_string(kMaxGgufDimensions) + " are allowed"};
  }
  for (std::uint32_t i = 0; i < rank && !reader.failed(); ++i) {
    tensor.shape.push_back(reader.u64("a tensor's dimension"));
  }
  std::ranges::reverse(tensor.shape);  // the file has the innermost first
  const std::uint32_t type = reader.u32("a tensor's type");
  const std::uint64_t offset = reader.u64("a tensor's offset");
  if (Status fits = reader.status(label); !fits) {
    return fits.error();
  }
  const SourceType* known = tensor_type(type);
  if (known == nullptr) {
    return Error{
        ErrorCode::Unsupported,
        label + " is of type " + unread_name(type) +
            "; F32, F16, BF16, Q8_0, Q4_0, Q4_1, Q5_0, Q5_1, Q4_K, Q5_K and Q6_K are read"};
  }
  tensor.type = *known;
  if (offset % alignment != 0) {
    return Error{ErrorCode::Corrupt, label + " lies at " + std::to_string(offset) +
                                         ", no multiple of the alignment " +
                                         std::to_string(alignment)};
  }
  tensors.push_back(std::move(tensor));
  return offset;
}

Status GgufFile::Contents::place_tensors(const std::vector<std::uint64_t>& offsets,
                                         std::uint64_t data_start) {
  if (tensors.empty()) {
    return {};
  }
  if (data_start > bytes.size()) {
    return corrupt("ends in its directory: no weights (was the download cut?)");
  }
  const std::span<const std::byte> data = bytes.subspan(data_start);
  std::vector<std::uint32_t> by_offset(tensors.size());
  for (std::uint32_t i = 0; i < tensors.size(); ++i) {
    SourceTensor& tensor = tensors[i];
    by_offset[i] = i;
    const Result<std::uint64_t> size = storage_bytes(tensor.type, tensor.shape);
    if (!size) {
      return corrupt("tensor " + in_quotes(tensor.name) + ": " + size.error().message);
    }
    if (!base::fits(offsets[i], *size, data.size())) {
      return corrupt("tensor " + in_quotes(tensor.name) + ": " + std::to_string(*size) +
                     " bytes at " + std::to_string(offsets[i]) + " reach beyond the " +
                     std::to_string(data.size()) +
                     " bytes of weights that are there (was the download cut?)");
    }
    tensor.bytes = data.subspan(offsets[i], *size);
  }
  std::ranges::sort(by_offset, {}, [&](std::uint32_t i) { return offsets[i]; });
  for (std::size_t i = 1; i < by_offset.size(); ++i) {
    const SourceTensor& before = tensors[by_offset[i - 1]];
    if (offsets[by_offset[i]] - offsets[by_offset[i - 1]] < before.bytes.size()) {
      return corrupt("tensors " + in_quotes(before.name) + " and " +
                     in_quotes(tensors[by_offset[i]].name) + " overlap");
    }
  }
  return {};
}

GgufFile::GgufFile(std::unique_ptr<Contents> contents) : contents_(std::move(contents)) {}
GgufFile::GgufFile(GgufFile&&) noexcept = default;
GgufFile& GgufFile::operator=(GgufFile&&) noexcept = default;
GgufFile::~GgufFile() = default;

Result<GgufFile> GgufFile::open(const std::string& path) {
  Result<base::MappedFile> mapped = base::MappedFile::open(path, kMaxCheckpointBytes);
  if (!mapped) {
    return mapped.error();
  }
  auto contents = std::make_unique<Contents>();
  contents->name = path;
  contents->file = std::move(*mapped);
  contents->bytes = contents->file.bytes();
  return read(std::move(contents));
}

Result<GgufFile> GgufFile::parse(std::span<const std::byte> bytes, std::string name_for_errors) {
  auto contents = std::make_unique<Contents>();
  contents->name = std::move(name_for_errors);
  contents->bytes = bytes;
  return read(std::move(contents));
}

Result<GgufFile> GgufFile::read(std::unique_ptr<Contents> contents) {
  if (Status done = contents->read(); !done) {
    return done.error();
  }
  return GgufFile(std::move(contents));
}

const std::string& GgufFile::path() const { return contents_->name; }
std::uint32_t GgufFile::version() const { return contents_->version; }
std::uint32_t GgufFile::alignment() const { return contents_->alignment; }
std::span<const SourceTensor> GgufFile::tensors() const { return contents_->tensors; }
std::span<const GgufValue> GgufFile::metadata() const { return contents_->metadata; }

const SourceTensor* GgufFile::find_tensor(std::string_view name) const {
  const auto name_of = [&](std::uint32_t i) -> std::string_view {
    return contents_->tensors[i].name;
  };
  const auto found = std::ranges::lower_bound(contents_->names_sorted, name, {}, name_of);
  return found != contents_->names_sorted.end() && name_of(*found) == name
             ? &contents_->tensors[*found]
             : nullptr;
}

const GgufValue* GgufFile::find(std::string_view key) const {
  const auto key_of = [&](std::uint32_t i) { return contents_->metadata[i].key; };
  const auto found = std::ranges::lower_bound(contents_->keys_sorted, key, {}, key_of);
  return found != contents_->keys_sorted.end() && key_of(*found) == key
             ? &contents_->metadata[*found]
             : nullptr;
}

}  // namespace laya::format
