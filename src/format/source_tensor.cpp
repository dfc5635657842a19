#include "format/source_tensor.h"

#include <algorithm>
#include <cstring>

#include "base/byte_reader.h"
#include "format/float_bits.h"
#include "format/quantised_blocks.h"

namespace laya::format {
namespace {

constexpr std::string_view kNames[] = {"F32",  "F16",  "BF16", "F64",       "I8",        "U8",
                                       "I16",  "U16",  "I32",  "U32",       "I64",       "U64",
                                       "Bool", "Q4_0", "Q4_1", "Q5_0",      "Q5_1",      "Q8_0",
                                       "Q4_K", "Q5_K", "Q6_K", "MlxAffine", "Int8Groups"};

Error bad(const SourceTensor& tensor, std::string problem) {
  return {ErrorCode::BadArgument, "tensor " + in_quotes(tensor.name) + ": " + std::move(problem)};
}

template <typename T>
T load(const std::byte* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

/// Value `index` of scales or minima, which have a type of their own.
float scale_at(SourceType type, std::span<const std::byte> bytes, std::uint64_t index) {
  if (type == SourceType::F32) {
    return load<float>(bytes.data() + index * 4);
  }
  const auto bits = load<std::uint16_t>(bytes.data() + index * 2);
  return type == SourceType::F16 ? float_from_half(bits) : float_from_bfloat(bits);
}

bool has_own_scales(SourceType type) {
  return type == SourceType::MlxAffine || type == SourceType::Int8Groups;
}

/// Whether the bytes are what type, shape and groups demand: what readers promise, asked again
/// because the struct is open to everybody.
Status check(const SourceTensor& tensor) {
  const Result<std::uint64_t> size = storage_bytes(tensor.type, tensor.shape, tensor.bits);
  if (!size) {
    return bad(tensor, size.error().message);
  }
  if (tensor.bytes.size() != *size) {
    return bad(tensor, std::to_string(tensor.bytes.size()) + " bytes, its shape needs " +
                           std::to_string(*size));
  }
  if (!has_own_scales(tensor.type)) {
    return {};
  }
  const std::uint32_t each = value_bytes(tensor.scale_type);
  if ((tensor.bits != 4 && tensor.bits != 8) || tensor.group == 0 ||
      tensor.columns() % tensor.group != 0 || each == 0 || each > 4) {
    return bad(tensor, "groups of " + std::to_string(tensor.group) + " with " +
                           std::to_string(tensor.bits) + " bits cannot be read");
  }
  const std::uint64_t groups = tensor.elements() / tensor.group;
  const bool has_minima = tensor.type == SourceType::MlxAffine;
  if (tensor.scales.size() != groups * each ||
      tensor.minima.size() != (has_minima ? groups * each : 0)) {
    return bad(tensor, "scales of the wrong size");
  }
  return {};
}

/// Code `index` of MlxAffine (4 or 8 bits, low first) or Int8Groups, centre added.
std::uint8_t own_code(const SourceTensor& tensor, std::uint64_t index) {
  if (tensor.bits == 4) {
    const auto pair = static_cast<std::uint8_t>(tensor.bytes[index / 2]);
    return index % 2 == 0 ? pair & 0xFu : pair >> 4;
  }
  const auto code = static_cast<std::uint8_t>(tensor.bytes[index]);
  return tensor.type == SourceType::Int8Groups ? code ^ 0x80u : code;
}

Status read_plain(const SourceTensor& tensor, std::uint64_t from, std::span<float> out) {
  const std::byte* bytes = tensor.bytes.data() + from * value_bytes(tensor.type);
  switch (tensor.type) {
    case SourceType::F32:
      if (!out.empty()) {
        std::memcpy(out.data(), bytes, out.size_bytes());
      }
      return {};
    case SourceType::F16:
      for (std::size_t i = 0; i < out.size(); ++i) {
        out[i] = float_from_half(load<std::uint16_t>(bytes + i * 2));
      }
      return {};
    case SourceType::BF16:
      for (std::size_t i = 0; i < out.size(); ++i) {
        out[i] = float_from_bfloat(load<std::uint16_t>(bytes + i * 2));
      }
      return {};
    case SourceType::F64:
      for (std::size_t i = 0; i < out.size(); ++i) {
        out[i] = static_cast<float>(load<double>(bytes + i * 8));
      }
      return {};
    default:
      return Error{ErrorCode::Unsupported, "tensor " + in_quotes(tensor.name) + ": " +
                                               std::string(source_type_name(tensor.type)) +
                                               " values are no weights"};
  }
}

/// w = scale·(code − centre) (+ minimum), each operation rounded to fp32 in turn (this file is
/// compiled without contraction to fused multiply-adds), as the formats' own dequantisers do.
void expand(const GroupScheme& scheme, const std::uint8_t* codes, float scale, float minimum,
            std::span<float> out) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    const float product =
        scale * static_cast<float>(static_cast<int>(codes[i]) - static_cast<int>(scheme.centre));
    out[i] = scheme.has_minima ? product + minimum : product;
  }
}

void read_blocks(const SourceTensor& tensor, const BlockFormat& format, std::uint64_t first_row,
                 std::span<float> out) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(tensor.bytes.data()) +
                      first_row * (tensor.columns() / format.values) * format.bytes;
  Block block;
  for (; !out.empty(); out = out.subspan(format.values), bytes += format.bytes) {
    format.take_apart(bytes, block);
    for (std::uint32_t g = 0; g < format.values / format.scheme.group; ++g) {
      expand(format.scheme, block.codes + g * format.scheme.group, block.scales[g],
             format.scheme.has_minima ? block.minima[g] : 0.0f,
             out.subspan(g * format.scheme.group, format.scheme.group));
    }
  }
}

void read_own_scales(const SourceTensor& tensor, const GroupScheme& scheme, std::uint64_t from,
                     std::span<float> out) {
  std::uint8_t codes[128];
  for (std::size_t done = 0; done < out.size();) {  // rows begin with a group
    const std::uint64_t group = (from + done) / scheme.group;
    const std::size_t left_in_group = scheme.group - (from + done) % scheme.group;
    const std::size_t count = std::min(left_in_group, sizeof(codes));
    for (std::size_t i = 0; i < count; ++i) {
      codes[i] = own_code(tensor, from + done + i);
    }
    expand(scheme, codes, scale_at(tensor.scale_type, tensor.scales, group),
           scheme.has_minima ? scale_at(tensor.scale_type, tensor.minima, group) : 0.0f,
           out.subspan(done, count));
    done += count;
  }
}

}  // namespace

std::string_view source_type_name(SourceType type) {
  const auto index = static_cast<std::size_t>(type);
  return index < std::size(kNames) ? kNames[index] : std::string_view();
}

std::uint64_t SourceTensor::rows() const {
  std::uint64_t product = 1;
  for (std::size_t i = 0; i + 1 < shape.size(); ++i) {
    product *= shape[i];
  }
  return product;
}

std::string shape_text(std::span<const std::uint64_t> shape) {
  std::string text = "[";
  for (const std::uint64_t dimension : shape) {
    text += (text.size() > 1 ? ", " : "") + std::to_string(dimension);
  }
  return text + "]";
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kMost = 80;
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string result = "\"";
  for (const char c : text.substr(0, kMost)) {
    if (c >= 0x20 && c < 0x7F && c != '"' && c != '\\') {
      result += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      result += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return result + (text.size() > kMost ? "…\"" : "\"");
}

const SourceTensor* find_sorted(std::span<const SourceTensor> tensors, std::string_view name) {
  const auto found = std::lower_bound(
      tensors.begin(), tensors.end(), name,
      [](const SourceTensor& tensor, std::string_view wanted) { return tensor.name < wanted; });
  return found != tensors.end() && found->name == name ? &*found : nullptr;
}

std::optional<GroupScheme> group_scheme(const SourceTensor& tensor) {
  if (const BlockFormat* format = block_format(tensor.type)) {
    return format->scheme;
  }
  if (tensor.type == SourceType::MlxAffine) {
    return GroupScheme{tensor.bits, tensor.group, 0, true};
  }
  if (tensor.type == SourceType::Int8Groups) {
    return GroupScheme{8, tensor.group, 128, false};
  }
  return std::nullopt;
}

Status read_rows(const SourceTensor& tensor, std::uint64_t first, std::uint64_t count,
                 std::span<float> out) {
  if (Status checked = check(tensor); !checked) {
    return checked;
  }
  if (!base::fits(first, count, tensor.rows())) {
    return bad(tensor, "rows " + std::to_string(first) + " + " + std::to_string(count) + " of " +
                           std::to_string(tensor.rows()));
  }
  if (out.size() != count * tensor.columns()) {
    return bad(tensor, "space for " + std::to_string(out.size()) + " values, " +
                           std::to_string(count * tensor.columns()) + " asked for");
  }
  if (const BlockFormat* format = block_format(tensor.type)) {
    read_blocks(tensor, *format, first, out);
    return {};
  }
  if (has_own_scales(tensor.type)) {
    read_own_scales(tensor, *group_scheme(tensor), first * tensor.columns(), out);
    return {};
  }
  return read_plain(tensor, first * tensor.columns(), out);
}

Status read_groups(const SourceTensor& tensor, std::uint64_t row, std::span<std::uint8_t> codes,
                   std::span<float> scales, std::span<float> minima) {
  if (Status checked = check(tensor); !checked) {
    return checked;
  }
  const std::optional<GroupScheme> scheme = group_scheme(tensor);
  if (!scheme) {
    return bad(tensor, std::string(source_type_name(tensor.type)) + " is not quantised in groups");
  }
  const std::uint64_t columns = tensor.columns();
  const std::uint64_t groups = columns / scheme->group;
  if (row >= tensor.rows() || codes.size() != columns || scales.size() != groups ||
      minima.size() != (scheme->has_minima ? groups : 0)) {
    return bad(tensor, "row " + std::to_string(row) + " of " + std::to_string(tensor.rows()) +
                           ", or space that is not for " + std::to_string(columns) +
                           " codes in groups of " + std::to_string(scheme->group));
  }
  if (const BlockFormat* format = block_format(tensor.type)) {
    const std::uint64_t blocks = columns / format->values;
    const std::uint32_t per_block = format->values / scheme->group;
    const auto* bytes =
        reinterpret_cast<const std::uint8_t*>(tensor.bytes.data()) + row * blocks * format->bytes;
    Block block;
    for (std::uint64_t b = 0; b < blocks; ++b, bytes += format->bytes) {
      format->take_apart(bytes, block);
      std::memcpy(codes.data() + b * format->values, block.codes, format->values);
      for (std::uint32_t g = 0; g < per_block; ++g) {
        scales[b * per_block + g] = block.scales[g];
        if (scheme->has_minima) {
          minima[b * per_block + g] = block.minima[g];
        }
      }
    }
    return {};
  }
  for (std::uint64_t i = 0; i < columns; ++i) {
    codes[i] = own_code(tensor, row * columns + i);
  }
  for (std::uint64_t g = 0; g < groups; ++g) {
    scales[g] = scale_at(tensor.scale_type, tensor.scales, row * groups + g);
    if (scheme->has_minima) {
      minima[g] = scale_at(tensor.scale_type, tensor.minima, row * groups + g);
    }
  }
  return {};
}

}  // namespace laya::format
