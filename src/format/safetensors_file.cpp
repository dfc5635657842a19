#include "format/safetensors_file.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/byte_reader.h"
#include "format/metadata.h"
#include "format/quantised_blocks.h"

namespace laya::format {
namespace {

constexpr std::string_view kMetadataKey = "__metadata__";
constexpr std::size_t kMaxMetadataKeys = 65536;
constexpr std::uint64_t kMaxIndexBytes = 16u << 20;  // 65,536 tensors: 8 MB
constexpr std::uint32_t kMaxIndexDepth = 8;

struct Dtype {
  std::string_view name;
  SourceType type;
};
constexpr Dtype kDtypes[] = {
    {"F32", SourceType::F32},   {"F16", SourceType::F16}, {"BF16", SourceType::BF16},
    {"F64", SourceType::F64},   {"I8", SourceType::I8},   {"U8", SourceType::U8},
    {"I16", SourceType::I16},   {"U16", SourceType::U16}, {"I32", SourceType::I32},
    {"U32", SourceType::U32},   {"I64", SourceType::I64}, {"U64", SourceType::U64},
    {"BOOL", SourceType::Bool},
};

struct Place {
  std::uint64_t begin;
  std::uint64_t end;
};

/// Reads the header as it streams by, and stops at the first thing that no such header holds: so
/// nothing is ever built that a hostile header asks for, and no depth is ever recursed into.
class HeaderHandler final : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit HeaderHandler(std::string name) : name_(std::move(name)) {}

  std::vector<SourceTensor> tensors;
  std::vector<Place> places;  ///< of tensors, in the same order
  std::map<std::string, std::string> metadata;

  const std::optional<Error>& error() const { return error_; }

  bool null() override { return unexpected("null"); }
  bool boolean(bool) override { return unexpected("a boolean"); }
  bool number_integer(number_integer_t) override { return unexpected("a negative number"); }
  bool number_float(number_float_t, const string_t&) override {
    return unexpected("a number that is no integer");
  }
  bool binary(binary_t&) override { return unexpected("binary data"); }

  bool number_unsigned(number_unsigned_t value) override {
    if (where_ == Where::Shape) {
      if (tensors.back().shape.size() == kMaxSourceDimensions) {
        return fail("more than " + std::to_string(kMaxSourceDimensions) + " dimensions");
      }
      tensors.back().shape.push_back(value);
      return true;
    }
    if (where_ == Where::Offsets) {
      if (offsets_ == 2) {
        return fail("more than two \"data_offsets\"");
      }
      (offsets_++ == 0 ? places.back().begin : places.back().end) = value;
      return true;
    }
    return unexpected("a number");
  }

  bool string(string_t& value) override {
    if (where_ == Where::Metadata) {
      metadata[key_] = value;
      return true;
    }
    if (where_ == Where::Tensor && key_ == "dtype") {
      const auto* found = std::ranges::find(kDtypes, std::string_view(value), &Dtype::name);
      if (found == std::end(kDtypes)) {
        error_ = Error{ErrorCode::Unsupported, label() + ": dtype " + in_quotes(value) +
                                                   "; F32, F16, BF16 and integers are read"};
        return false;
      }
      tensors.back().type = found->type;
      return true;
    }
    return unexpected("a string");
  }

  bool start_object(std::size_t) override {
    switch (where_) {
      case Where::Outside:
        where_ = Where::Top;
        return true;
      case Where::Top:
        if (key_ == kMetadataKey) {
          where_ = Where::Metadata;
          return true;
        }
        if (tensors.size() == kMaxSourceTensors) {
          return fail("more than " + std::to_string(kMaxSourceTensors) + " tensors");
        }
        tensors.emplace_back().name = key_;
        places.push_back({});
        fields_ = 0;
        where_ = Where::Tensor;
        return true;
      default:
        return unexpected("an object");
    }
  }

  bool key(string_t& name) override {
    key_ = name;
    if (where_ == Where::Top) {
      if (key_.empty() || key_.size() > kMaxSourceNameBytes) {
        return fail("a tensor's name of " + std::to_string(key_.size()) + " bytes; 1 to " +
                    std::to_string(kMaxSourceNameBytes) + " are allowed");
      }
      if (key_ == kMetadataKey && std::exchange(has_metadata_, true)) {
        return fail("\"__metadata__\" twice");
      }
      return true;
    }
    if (where_ == Where::Metadata) {
      if (metadata.size() == kMaxMetadataKeys || metadata.contains(key_)) {
        return fail("metadata key " + in_quotes(key_) + " twice, or more than " +
                    std::to_string(kMaxMetadataKeys) + " keys");
      }
      return true;
    }
    const unsigned bit = key_ == "dtype"          ? 1u
                         : key_ == "shape"        ? 2u
                         : key_ == "data_offsets" ? 4u
                                                  : 0u;
    if (bit == 0 || (fields_ & bit) != 0) {
      return fail(bit == 0 ? "field " + in_quotes(key_) + " is not one of the format's"
                           : "field " + in_quotes(key_) + " twice");
    }
    fields_ |= bit;
    return true;
  }

  bool end_object() override {
    if (where_ == Where::Tensor) {
      if (fields_ != 7) {
        return fail("lacks one of \"dtype\", \"shape\", \"data_offsets\"");
      }
      where_ = Where::Top;
    } else {
      where_ = where_ == Where::Metadata ? Where::Top : Where::Outside;
    }
    return true;
  }

  bool start_array(std::size_t) override {
    if (where_ == Where::Tensor && key_ == "shape") {
      where_ = Where::Shape;
      return true;
    }
    if (where_ == Where::Tensor && key_ == "data_offsets") {
      where_ = Where::Offsets;
      offsets_ = 0;
      return true;
    }
    return unexpected("an array");
  }

  bool end_array() override {
    if (where_ == Where::Offsets && offsets_ != 2) {
      return fail("\"data_offsets\" needs two numbers");
    }
    where_ = Where::Tensor;
    return true;
  }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    error_ = Error{ErrorCode::Corrupt,
                   name_ + ": the header is not JSON at its byte " + std::to_string(position)};
    return false;
  }

 private:
  enum class Where { Outside, Top, Metadata, Tensor, Shape, Offsets };

  std::string label() const {
    const bool in_tensor =
        where_ == Where::Tensor || where_ == Where::Shape || where_ == Where::Offsets;
    return name_ + (in_tensor ? ": tensor " + in_quotes(tensors.back().name) : ": the header");
  }
  bool fail(std::string what) {
    error_ = Error{ErrorCode::Corrupt, label() + ": " + std::move(what)};
    return false;
  }
  bool unexpected(std::string_view what) {
    return fail("has " + std::string(what) + " where the format has none (after " +
                in_quotes(key_) + ")");
  }

  std::string name_;
  Where where_ = Where::Outside;
  std::string key_;
  unsigned fields_ = 0;   ///< of the tensor at hand: 1 dtype, 2 shape, 4 data_offsets
  unsigned offsets_ = 0;  ///< numbers seen in data_offsets
  bool has_metadata_ = false;
  std::optional<Error> error_;
};

/// Gives each tensor its bytes; the buffer must be covered exactly once.
Status place(const std::string& name, std::span<const std::byte> buffer,
             std::vector<SourceTensor>& tensors, const std::vector<Place>& places) {
  std::vector<std::uint32_t> order(tensors.size());
  for (std::uint32_t i = 0; i < tensors.size(); ++i) {
    SourceTensor& tensor = tensors[i];
    order[i] = i;
    const std::string label = name + ": tensor " + in_quotes(tensor.name);
    const Result<std::uint64_t> size = storage_bytes(tensor.type, tensor.shape);
    if (!size) {
      return Error{ErrorCode::Corrupt, label + ": " + size.error().message};
    }
    const auto [begin, end] = places[i];
    if (begin > end || end > buffer.size()) {
      return Error{ErrorCode::Corrupt, label + ": bytes " + std::to_string(begin) + " to " +
                                           std::to_string(end) + " of a buffer of " +
                                           std::to_string(buffer.size()) +
                                           " (was the download cut?)"};
    }
    if (end - begin != *size) {
      return Error{ErrorCode::Corrupt, label + ": " + std::to_string(end - begin) + " bytes, but " +
                                           std::string(source_type_name(tensor.type)) + " " +
                                           shape_text(tensor.shape) + " needs " +
                                           std::to_string(*size)};
    }
    tensor.bytes = buffer.subspan(begin, *size);
  }
  std::ranges::sort(order, {}, [&](std::uint32_t i) { return places[i].begin; });
  std::uint64_t covered = 0;
  for (const std::uint32_t i : order) {
    if (places[i].begin != covered) {
      return Error{ErrorCode::Corrupt, name + ": tensor " + in_quotes(tensors[i].name) +
                                           " begins at " + std::to_string(places[i].begin) +
                                           " where the one before ends at " +
                                           std::to_string(covered)};
    }
    covered = places[i].end;
  }
  if (covered != buffer.size()) {
    return Error{ErrorCode::Corrupt, name + ": " + std::to_string(buffer.size() - covered) +
                                         " bytes after the last tensor"};
  }
  return {};
}

}  // namespace

Result<SafetensorsFile> SafetensorsFile::open(const std::string& path) {
  Result<base::MappedFile> mapped = base::MappedFile::open(path, kMaxCheckpointBytes);
  if (!mapped) {
    return mapped.error();
  }
  SafetensorsFile file;
  file.name_ = path;
  file.file_ = std::move(*mapped);
  if (Status read = file.read(file.file_.bytes()); !read) {
    return read.error();
  }
  return file;
}

Result<SafetensorsFile> SafetensorsFile::parse(std::span<const std::byte> bytes,
                                               std::string name_for_errors) {
  SafetensorsFile file;
  file.name_ = std::move(name_for_errors);
  if (Status read = file.read(bytes); !read) {
    return read.error();
  }
  return file;
}

Status SafetensorsFile::read(std::span<const std::byte> bytes) {
  base::ByteReader reader(bytes);
  const std::uint64_t header_bytes = reader.u64("the header's length");
  if (header_bytes > kMaxSafetensorsHeaderBytes) {
    return Error{ErrorCode::Corrupt, name_ + ": a header of " + std::to_string(header_bytes) +
                                         " bytes, the limit is " +
                                         std::to_string(kMaxSafetensorsHeaderBytes)};
  }
  const std::string_view header = reader.text(header_bytes, "the header");
  if (Status fits = reader.status(name_); !fits) {
    return fits;
  }
  if (!header.starts_with('{')) {
    return Error{ErrorCode::Corrupt, name_ + ": not safetensors (the header is no JSON object)"};
  }
  HeaderHandler handler(name_);
  if (!nlohmann::json::sax_parse(header, &handler)) {
    return handler.error().value_or(Error{ErrorCode::Corrupt, name_ + ": the header is not JSON"});
  }
  if (Status placed =
          place(name_, bytes.subspan(reader.position()), handler.tensors, handler.places);
      !placed) {
    return placed;
  }
  tensors_ = std::move(handler.tensors);
  metadata_ = std::move(handler.metadata);
  std::ranges::sort(tensors_, {}, &SourceTensor::name);
  const auto twice = std::ranges::adjacent_find(tensors_, {}, &SourceTensor::name);
  if (twice != tensors_.end()) {
    return Error{ErrorCode::Corrupt, name_ + ": tensor " + in_quotes(twice->name) + " twice"};
  }
  return {};
}

const SourceTensor* SafetensorsFile::find_tensor(std::string_view name) const {
  return find_sorted(tensors_, name);
}

Result<std::map<std::string, std::string>> parse_shard_index(std::string_view json,
                                                             std::string_view name_for_errors) {
  const std::string name(name_for_errors);
  const auto corrupt = [&](std::string what) {
    return Error{ErrorCode::Corrupt, name + ": " + std::move(what)};
  };
  if (json.size() > kMaxIndexBytes) {
    return Error{ErrorCode::TooLarge, name + ": " + std::to_string(json.size()) +
                                          " bytes, the limit is " + std::to_string(kMaxIndexBytes)};
  }
  const Result<nlohmann::json> parsed = parse_json(json, kMaxIndexDepth);
  if (!parsed) {
    return corrupt(parsed.error().message);
  }
  const auto map = parsed->is_object() ? parsed->find("weight_map") : parsed->end();
  if (!parsed->is_object() || map == parsed->end() || !map->is_object()) {
    return corrupt("no object \"weight_map\"");
  }
  if (map->size() > kMaxSourceTensors) {
    return corrupt("\"weight_map\" has " + std::to_string(map->size()) + " tensors, the limit is " +
                   std::to_string(kMaxSourceTensors));
  }
  std::map<std::string, std::string> shards;
  for (const auto& [tensor, file] : map->items()) {
    if (!file.is_string()) {
      return corrupt("\"weight_map\": " + in_quotes(tensor) + " is not text");
    }
    const auto& shard = file.get_ref<const std::string&>();
    if (shard.empty() || shard == "." || shard == ".." ||
        shard.find_first_of(std::string_view("/\\\0", 3)) != std::string::npos) {
      return corrupt("\"weight_map\": " + in_quotes(tensor) + " is said to be in " +
                     in_quotes(shard) + ", which is no file of this folder");
    }
    shards.emplace(tensor, shard);
  }
  return shards;
}

}  // namespace laya::format
