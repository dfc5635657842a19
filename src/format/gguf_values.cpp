// Typed access to GGUF metadata.
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "base/byte_reader.h"
#include "format/gguf_file.h"

namespace laya::format {
namespace {

template <typename T>
T load(std::span<const std::byte> bytes, std::uint64_t index) {
  T value;
  std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
  return value;
}

/// Element `index` as an integer; nothing where the type is none or the value is beyond int64.
std::optional<std::int64_t> integer_at(GgufValueType type, std::span<const std::byte> bytes,
                                       std::uint64_t index) {
  switch (type) {
    case GgufValueType::U8:
    case GgufValueType::Bool:
      return load<std::uint8_t>(bytes, index);
    case GgufValueType::I8:
      return load<std::int8_t>(bytes, index);
    case GgufValueType::U16:
      return load<std::uint16_t>(bytes, index);
    case GgufValueType::I16:
      return load<std::int16_t>(bytes, index);
    case GgufValueType::U32:
      return load<std::uint32_t>(bytes, index);
    case GgufValueType::I32:
      return load<std::int32_t>(bytes, index);
    case GgufValueType::I64:
      return load<std::int64_t>(bytes, index);
    case GgufValueType::U64: {
      const auto value = load<std::uint64_t>(bytes, index);
      if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
        return std::nullopt;
      }
      return static_cast<std::int64_t>(value);
    }
    default:
      return std::nullopt;
  }
}

Error wrong(const GgufFile& file, std::string_view key, std::string problem) {
  return {ErrorCode::Corrupt,
          file.path() + ": metadata " + in_quotes(key) + " " + std::move(problem)};
}

Result<const GgufValue*> value_of(const GgufFile& file, std::string_view key) {
  const GgufValue* value = file.find(key);
  if (value == nullptr) {
    return wrong(file, key, "is missing");
  }
  return value;
}

std::string is_a(const GgufValue& value, std::string_view wanted) {
  std::string text = "is ";
  if (value.type == GgufValueType::Array) {
    text += "an array of " + std::string(gguf_value_type_name(value.element));
  } else {
    text += gguf_value_type_name(value.type);
  }
  return text + ", not " + std::string(wanted);
}

}  // namespace

std::string_view gguf_value_type_name(GgufValueType type) {
  constexpr std::string_view kNames[] = {"U8",   "I8",     "U16",   "I16", "U32", "I32", "F32",
                                         "Bool", "String", "Array", "U64", "I64", "F64"};
  const auto index = static_cast<std::uint32_t>(type);
  return index < std::size(kNames) ? kNames[index] : std::string_view();
}

Result<std::uint64_t> GgufFile::integer(std::string_view key, std::uint64_t low,
                                        std::uint64_t high) const {
  const Result<const GgufValue*> value = value_of(*this, key);
  if (!value) {
    return value.error();
  }
  const GgufValueType type = (*value)->type;
  if (type == GgufValueType::Array || type == GgufValueType::String ||
      type == GgufValueType::Bool || type == GgufValueType::F32 || type == GgufValueType::F64) {
    return wrong(*this, key, is_a(**value, "an integer"));
  }
  const std::optional<std::int64_t> number = integer_at(type, (*value)->bytes, 0);
  if (!number || *number < 0 || static_cast<std::uint64_t>(*number) < low ||
      static_cast<std::uint64_t>(*number) > high) {
    return wrong(*this, key,
                 "is " + (number ? std::to_string(*number) : std::string("beyond 2^63")) +
                     "; from " + std::to_string(low) + " to " + std::to_string(high) +
                     " is allowed");
  }
  return static_cast<std::uint64_t>(*number);
}

Result<double> GgufFile::number(std::string_view key) const {
  const Result<const GgufValue*> value = value_of(*this, key);
  if (!value) {
    return value.error();
  }
  const std::span<const std::byte> bytes = (*value)->bytes;
  double number = 0;
  if ((*value)->type == GgufValueType::F32) {
    number = load<float>(bytes, 0);
  } else if ((*value)->type == GgufValueType::F64) {
    number = load<double>(bytes, 0);
  } else if (const auto integer = (*value)->type == GgufValueType::Bool
                                      ? std::nullopt
                                      : integer_at((*value)->type, bytes, 0)) {
    number = static_cast<double>(*integer);
  } else {
    return wrong(*this, key, is_a(**value, "a number"));
  }
  if (!std::isfinite(number)) {
    return wrong(*this, key, "is not finite");
  }
  return number;
}

Result<bool> GgufFile::boolean(std::string_view key) const {
  const Result<const GgufValue*> value = value_of(*this, key);
  if (!value) {
    return value.error();
  }
  if ((*value)->type != GgufValueType::Bool) {
    return wrong(*this, key, is_a(**value, "a Bool"));
  }
  return load<std::uint8_t>((*value)->bytes, 0) == 1;
}

Result<std::string_view> GgufFile::text(std::string_view key) const {
  const Result<const GgufValue*> value = value_of(*this, key);
  if (!value) {
    return value.error();
  }
  if ((*value)->type != GgufValueType::String) {
    return wrong(*this, key, is_a(**value, "a String"));
  }
  const std::span<const std::byte> bytes = (*value)->bytes;
  return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

Result<std::vector<std::string_view>> GgufFile::texts(std::string_view key) const {
  const Result<const GgufValue*> value = value_of(*this, key);
  if (!value) {
    return value.error();
  }
  if ((*value)->type != GgufValueType::Array || (*value)->element != GgufValueType::String) {
    return wrong(*this, key, is_a(**value, "an array of String"));
  }
  std::vector<std::string_view> texts;
  texts.reserve((*value)->count);  // walked at open: that many are there
  base::ByteReader reader((*value)->bytes);
  for (std::uint64_t i = 0; i < (*value)->count; ++i) {
    texts.push_back(reader.text(reader.u64("length"), "string"));
  }
  return texts;
}

Result<std::vector<std::int64_t>> GgufFile::integers(std::string_view key) const {
  const Result<const GgufValue*> value = value_of(*this, key);
  if (!value) {
    return value.error();
  }
  const GgufValueType element = (*value)->element;
  if ((*value)->type != GgufValueType::Array || element == GgufValueType::F32 ||
      element == GgufValueType::F64 || element == GgufValueType::String ||
      element == GgufValueType::Array) {
    return wrong(*this, key, is_a(**value, "an array of integers"));
  }
  std::vector<std::int64_t> integers;
  integers.reserve((*value)->count);
  for (std::uint64_t i = 0; i < (*value)->count; ++i) {
    const std::optional<std::int64_t> number = integer_at(element, (*value)->bytes, i);
    if (!number) {
      return wrong(*this, key, "holds a number beyond 2^63 at " + std::to_string(i));
    }
    integers.push_back(*number);
  }
  return integers;
}

Result<std::vector<float>> GgufFile::numbers(std::string_view key) const {
  const Result<const GgufValue*> value = value_of(*this, key);
  if (!value) {
    return value.error();
  }
  const bool wide = (*value)->element == GgufValueType::F64;
  if ((*value)->type != GgufValueType::Array ||
      (!wide && (*value)->element != GgufValueType::F32)) {
    return wrong(*this, key, is_a(**value, "an array of F32"));
  }
  std::vector<float> numbers;
  numbers.reserve((*value)->count);
  for (std::uint64_t i = 0; i < (*value)->count; ++i) {
    numbers.push_back(wide ? static_cast<float>(load<double>((*value)->bytes, i))
                           : load<float>((*value)->bytes, i));
  }
  return numbers;
}

}  // namespace laya::format
