#include "format/test_encoding.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "format/float_bits.h"
#include "format/quantised_blocks.h"

namespace laya::format {
namespace {

std::uint8_t rounded(float value, float divisor, int centre, int highest) {
  const float quotient = divisor == 0 ? 0 : value / divisor;
  return static_cast<std::uint8_t>(
      std::clamp(static_cast<int>(std::lround(quotient)) + centre, 0, highest));
}

float largest(std::span<const float> values) {
  float most = 0;
  for (const float value : values) most = std::max(most, std::fabs(value));
  return most;
}

/// Q4_0, Q4_1, Q5_0, Q5_1, Q8_0: fp16 scale (and minimum), fifth bits, codes.
void encode_small(const BlockFormat& format, std::span<const float> values, std::string& out) {
  const GroupScheme& scheme = format.scheme;
  const int highest = (1 << scheme.bits) - 1;
  const auto [low, high] = std::ranges::minmax(values);
  const float step = scheme.has_minima ? (high - low) / static_cast<float>(highest)
                                       : largest(values) / static_cast<float>(highest / 2);
  const std::uint16_t scale = half_from_float(step);
  const std::uint16_t minimum = half_from_float(low);
  append(out, scale);
  if (scheme.has_minima) append(out, minimum);
  std::uint8_t codes[32];
  std::uint32_t fifth = 0;
  for (unsigned i = 0; i < 32; ++i) {
    codes[i] = rounded(values[i] - (scheme.has_minima ? float_from_half(minimum) : 0),
                       float_from_half(scale), static_cast<int>(scheme.centre), highest);
    fifth |= static_cast<std::uint32_t>((codes[i] >> 4) & 1) << i;
  }
  if (scheme.bits == 8) {
    for (const std::uint8_t code : codes) out += static_cast<char>(code ^ 0x80);
    return;
  }
  if (scheme.bits == 5) append(out, fifth);
  for (unsigned i = 0; i < 16; ++i) {
    out += static_cast<char>((codes[i] & 15) | (codes[i + 16] & 15) << 4);
  }
}

/// Q4_K and Q5_K.
void encode_k(const BlockFormat& format, std::span<const float> values, std::string& out) {
  const int highest = (1 << format.scheme.bits) - 1;
  float steps[8];
  float depths[8];  // −minimum, ≥ 0
  for (unsigned g = 0; g < 8; ++g) {
    const auto [low, high] = std::ranges::minmax(values.subspan(g * 32, 32));
    depths[g] = std::max(0.0f, -low);
    steps[g] = (std::max(high, 0.0f) + depths[g]) / static_cast<float>(highest);
  }
  const std::uint16_t d = half_from_float(*std::ranges::max_element(steps) / 63);
  const std::uint16_t dmin = half_from_float(*std::ranges::max_element(depths) / 63);
  append(out, d);
  append(out, dmin);
  std::uint8_t scales[8];
  std::uint8_t minima[8];
  for (unsigned g = 0; g < 8; ++g) {
    scales[g] = rounded(steps[g], float_from_half(d), 0, 63);
    minima[g] = rounded(depths[g], float_from_half(dmin), 0, 63);
  }
  for (unsigned g = 0; g < 4; ++g) out += static_cast<char>(scales[g] | (scales[g + 4] >> 4) << 6);
  for (unsigned g = 0; g < 4; ++g) out += static_cast<char>(minima[g] | (minima[g + 4] >> 4) << 6);
  for (unsigned g = 0; g < 4; ++g) {
    out += static_cast<char>((scales[g + 4] & 15) | (minima[g + 4] & 15) << 4);
  }
  std::uint8_t codes[256];
  for (unsigned i = 0; i < 256; ++i) {
    const unsigned g = i / 32;
    codes[i] = rounded(values[i] + float_from_half(dmin) * static_cast<float>(minima[g]),
                       float_from_half(d) * static_cast<float>(scales[g]), 0, highest);
  }
  if (format.scheme.bits == 5) {
    for (unsigned i = 0; i < 32; ++i) {
      unsigned bits = 0;
      for (unsigned g = 0; g < 8; ++g) bits |= ((codes[g * 32 + i] >> 4) & 1u) << g;
      out += static_cast<char>(bits);
    }
  }
  for (unsigned pair = 0; pair < 4; ++pair) {
    for (unsigned i = 0; i < 32; ++i) {
      out += static_cast<char>((codes[pair * 64 + i] & 15) | (codes[pair * 64 + 32 + i] & 15) << 4);
    }
  }
}

void encode_q6_k(std::span<const float> values, std::string& out) {
  float steps[16];
  for (unsigned g = 0; g < 16; ++g) steps[g] = largest(values.subspan(g * 16, 16)) / 31;
  const std::uint16_t d = half_from_float(*std::ranges::max_element(steps) / 127);
  std::uint8_t scales[16];
  for (unsigned g = 0; g < 16; ++g) scales[g] = rounded(steps[g], float_from_half(d), 0, 127);
  std::uint8_t codes[256];
  for (unsigned i = 0; i < 256; ++i) {
    codes[i] = rounded(values[i], float_from_half(d) * static_cast<float>(scales[i / 16]), 32, 63);
  }
  for (unsigned half = 0; half < 2; ++half) {
    for (unsigned i = 0; i < 64; ++i) {
      const std::uint8_t* c = codes + half * 128;
      out += static_cast<char>((c[i] & 15) | (c[i + 64] & 15) << 4);
    }
  }
  for (unsigned half = 0; half < 2; ++half) {
    for (unsigned i = 0; i < 32; ++i) {
      const std::uint8_t* c = codes + half * 128 + i;
      out +=
          static_cast<char>(c[0] >> 4 | (c[32] >> 4) << 2 | (c[64] >> 4) << 4 | (c[96] >> 4) << 6);
    }
  }
  for (const std::uint8_t scale : scales) out += static_cast<char>(scale);
  append(out, d);
}

}  // namespace

std::uint16_t half_from_float(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000u);
  const float magnitude = std::fabs(value);
  if (!(magnitude < 65520.0f)) {  // rounds to infinity, or is NaN
    return static_cast<std::uint16_t>(sign | (std::isnan(value) ? 0x7E00u : 0x7C00u));
  }
  if (magnitude < 0x1p-14f) {  // subnormal: units of 2^-24; lrint rounds to even
    return static_cast<std::uint16_t>(sign | std::lrint(magnitude * 0x1p24f));
  }
  std::uint32_t rest = std::bit_cast<std::uint32_t>(magnitude) - (112u << 23);
  rest += 0xFFFu + (rest >> 13 & 1u);
  return static_cast<std::uint16_t>(sign | rest >> 13);
}

std::uint16_t bfloat_from_float(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<std::uint16_t>((bits + 0x7FFFu + (bits >> 16 & 1u)) >> 16);
}

std::string encode(SourceType type, std::span<const float> values) {
  std::string out;
  if (const BlockFormat* format = block_format(type)) {
    if (values.size() % format->values != 0) std::abort();
    for (; !values.empty(); values = values.subspan(format->values)) {
      const std::span<const float> block = values.first(format->values);
      if (type == SourceType::Q6_K) {
        encode_q6_k(block, out);
      } else if (format->values == 256) {
        encode_k(*format, block, out);
      } else {
        encode_small(*format, block, out);
      }
    }
    return out;
  }
  for (const float value : values) {
    if (type == SourceType::F32) {
      append(out, value);
    } else if (type == SourceType::F16) {
      append(out, half_from_float(value));
    } else if (type == SourceType::BF16) {
      append(out, bfloat_from_float(value));
    } else {
      std::abort();
    }
  }
  return out;
}

MlxParts encode_mlx(std::span<const float> values, std::uint32_t bits, std::uint32_t group) {
  if ((bits != 4 && bits != 8) || values.size() % group != 0) std::abort();
  const int highest = (1 << bits) - 1;
  MlxParts parts;
  for (; !values.empty(); values = values.subspan(group)) {
    const auto [low, high] = std::ranges::minmax(values.first(group));
    const std::uint16_t scale = half_from_float((high - low) / static_cast<float>(highest));
    const std::uint16_t bias = half_from_float(low);
    append(parts.scales, scale);
    append(parts.biases, bias);
    std::uint8_t pending = 0;
    for (std::uint32_t i = 0; i < group; ++i) {
      const std::uint8_t code =
          rounded(values[i] - float_from_half(bias), float_from_half(scale), 0, highest);
      if (bits == 8) {
        parts.words += static_cast<char>(code);
      } else if (i % 2 == 0) {
        pending = code;
      } else {
        parts.words += static_cast<char>(pending | code << 4);
      }
    }
  }
  return parts;
}

}  // namespace laya::format
