#include "model/gru/gru_state.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string>

#include "base/byte_reader.h"
#include "base/fnv1a.h"

namespace laya::model {
namespace {

constexpr std::uint32_t kMagic = 0x5453'594CU;  // "LYST" in memory
constexpr std::uint32_t kVersion = 1;
// Counting to the position, plus a window, must not wrap.
constexpr std::uint64_t kMostTokens = std::uint64_t{1} << 62;

std::array<std::uint32_t, 7> dimensions(const GruConfig& config) {
  return {config.vocabulary_size, config.embedding_dim, config.hidden_dim, config.layers,
          config.heads,           config.head_dim,      config.window};
}

std::size_t rings_floats(const GruConfig& config) {
  return std::size_t{config.layers} * config.window * config.attention_dim();
}

std::size_t state_floats(const GruConfig& config) {
  return std::size_t{config.layers} * config.hidden_dim + 2 * rings_floats(config) +
         config.embedding_dim;
}

}  // namespace

State::State(const GruConfig& config)
    : config_(config),
      output_offset_(state_floats(config) - config.embedding_dim),
      buffer_(state_floats(config), 0.0F) {}

Status State::copy_from(const State& other) {
  if (!(config_ == other.config_) || buffer_.size() != other.buffer_.size()) {
    return Error{ErrorCode::BadArgument, "state: copy between states of different model shapes"};
  }
  position_ = other.position_;
  std::ranges::copy(other.buffer_, buffer_.begin());
  return {};
}

void State::reset() {
  position_ = 0;
  std::ranges::fill(buffer_, 0.0F);
}

std::span<float> State::hidden(std::size_t layer) {
  return std::span(buffer_).subspan(layer * config_.hidden_dim, config_.hidden_dim);
}

std::span<const float> State::hidden(std::size_t layer) const {
  return std::span(buffer_).subspan(layer * config_.hidden_dim, config_.hidden_dim);
}

std::size_t State::key_offset(std::size_t layer, std::uint64_t token) const {
  const std::size_t slot = static_cast<std::size_t>(token % config_.window);
  return std::size_t{config_.layers} * config_.hidden_dim +
         (layer * config_.window + slot) * config_.attention_dim();
}

std::size_t State::value_offset(std::size_t layer, std::uint64_t token) const {
  return key_offset(layer, token) + rings_floats(config_);
}

std::span<float> State::key(std::size_t layer, std::uint64_t token) {
  return std::span(buffer_).subspan(key_offset(layer, token), config_.attention_dim());
}

std::span<const float> State::key(std::size_t layer, std::uint64_t token) const {
  return std::span(buffer_).subspan(key_offset(layer, token), config_.attention_dim());
}

std::span<float> State::value(std::size_t layer, std::uint64_t token) {
  return std::span(buffer_).subspan(value_offset(layer, token), config_.attention_dim());
}

std::span<const float> State::value(std::size_t layer, std::uint64_t token) const {
  return std::span(buffer_).subspan(value_offset(layer, token), config_.attention_dim());
}

std::span<const float> State::keys(std::size_t layer) const {
  return std::span(buffer_).subspan(key_offset(layer, 0), config_.window * config_.attention_dim());
}

std::span<const float> State::values(std::size_t layer) const {
  return std::span(buffer_).subspan(value_offset(layer, 0),
                                    config_.window * config_.attention_dim());
}

std::vector<std::byte> State::serialise() const {
  const auto shape = dimensions(config_);
  const auto numbers = std::as_bytes(std::span<const float>(buffer_));
  std::vector<std::byte> out(2 * sizeof(std::uint32_t) + sizeof(shape) + sizeof(config_.norm_eps) +
                             sizeof(position_) + numbers.size() + sizeof(std::uint64_t));
  std::byte* at = out.data();
  const auto put = [&at](const void* from, std::size_t size) {
    std::memcpy(at, from, size);
    at += size;
  };
  put(&kMagic, sizeof(kMagic));
  put(&kVersion, sizeof(kVersion));
  put(shape.data(), sizeof(shape));
  put(&config_.norm_eps, sizeof(config_.norm_eps));
  put(&position_, sizeof(position_));
  put(numbers.data(), numbers.size());
  const std::uint64_t checksum =
      base::fnv1a_64(std::span(out).first(out.size() - sizeof(std::uint64_t)));
  put(&checksum, sizeof(checksum));
  return out;
}

Result<State> State::deserialise(std::span<const std::byte> bytes, const GruConfig& config) {
  if (auto valid = config.validate(); !valid) {
    return valid.error();
  }
  base::ByteReader reader(bytes);
  if (reader.u32("magic") != kMagic || reader.failed()) {
    return Error{ErrorCode::Corrupt, "saved state: not a saved state (bad magic)"};
  }
  const std::uint32_t version = reader.u32("version");
  if (!reader.failed() && version != kVersion) {
    return Error{ErrorCode::Version, "saved state: version " + std::to_string(version) +
                                         ", this build reads " + std::to_string(kVersion)};
  }
  bool same = true;
  for (const std::uint32_t dimension : dimensions(config)) {
    same = (reader.u32("configuration") == dimension) && same;
  }
  same = (reader.f32("norm_eps") == config.norm_eps) && same;
  if (!reader.failed() && !same) {
    return Error{ErrorCode::BadArgument, "saved state: belongs to a model of another shape"};
  }
  State state(config);
  state.position_ = reader.u64("position");
  const auto numbers = reader.bytes(state.buffer_.size() * sizeof(float), "numbers");
  const std::uint64_t stated = reader.u64("checksum");
  if (auto status = reader.status("saved state"); !status) {
    return status.error();
  }
  if (reader.left() != 0) {
    return Error{ErrorCode::Corrupt,
                 "saved state: " + std::to_string(reader.left()) + " bytes too many"};
  }
  if (base::fnv1a_64(bytes.first(bytes.size() - sizeof(std::uint64_t))) != stated) {
    return Error{ErrorCode::Corrupt, "saved state: checksum differs"};
  }
  if (state.position_ > kMostTokens) {
    return Error{ErrorCode::Corrupt, "saved state: position " + std::to_string(state.position_) +
                                         " is beyond what anyone can type"};
  }
  std::memcpy(state.buffer_.data(), numbers.data(), numbers.size());
  for (const float number : state.buffer_) {
    if (!std::isfinite(number)) {
      return Error{ErrorCode::Corrupt, "saved state: holds a NaN or an infinity"};
    }
  }
  return state;
}

StateHistory::StateHistory(const GruConfig& config, std::size_t capacity)
    : config_(config),
      capacity_(std::max<std::size_t>(capacity, 1)),
      // The newest state, the `capacity` before it, and the pairs of the W-2 tokens before the
      // oldest of them.
      slots_(capacity_ + config.past_tokens()),
      pairs_floats_(std::size_t{config.layers} * 2 * config.attention_dim()),
      slot_floats_(pairs_floats_ + std::size_t{config.layers} * config.hidden_dim +
                   config.embedding_dim),
      buffer_(slots_ * slot_floats_, 0.0F) {}

// The slot of position p: (key, value) of token p-1 for each layer, then h of each layer and y
// after that token. The zero state is position 0 and has no token, so its pairs are never read.
std::span<float> StateHistory::slot(std::uint64_t position) {
  const auto index = static_cast<std::size_t>(position % slots_);
  return std::span(buffer_).subspan(index * slot_floats_, slot_floats_);
}

std::uint64_t StateHistory::oldest_pairs(std::uint64_t position) const {
  const std::uint64_t kept = config_.past_tokens();
  return position < kept ? 1 : position - kept + 1;
}

void StateHistory::store_pairs(const State& state, std::uint64_t position) {
  float* out = slot(position).data();
  for (std::size_t layer = 0; layer < config_.layers; ++layer) {
    out = std::ranges::copy(state.key(layer, position - 1), out).out;
    out = std::ranges::copy(state.value(layer, position - 1), out).out;
  }
}

void StateHistory::store_newest(const State& state) {
  float* out = slot(state.position()).data() + pairs_floats_;
  for (std::size_t layer = 0; layer < config_.layers; ++layer) {
    out = std::ranges::copy(state.hidden(layer), out).out;
  }
  std::ranges::copy(state.output(), out);
  position_ = state.position();
  empty_ = false;
}

Status StateHistory::reset(const State& state) {
  if (!(state.config() == config_)) {
    return Error{ErrorCode::BadArgument, "state history: the state is of another model shape"};
  }
  for (std::uint64_t p = oldest_pairs(state.position()); p <= state.position(); ++p) {
    store_pairs(state, p);
  }
  store_newest(state);
  available_ = 0;
  return {};
}

Status StateHistory::push(const State& state) {
  if (!(state.config() == config_)) {
    return Error{ErrorCode::BadArgument, "state history: the state is of another model shape"};
  }
  if (empty_ || state.position() != position_ + 1) {
    return reset(state);
  }
  store_pairs(state, state.position());
  store_newest(state);
  available_ = std::min(available_ + 1, capacity_);
  return {};
}

Status StateHistory::truncate(std::size_t tokens, State& state) {
  if (!(state.config() == config_)) {
    return Error{ErrorCode::BadArgument, "state history: the state is of another model shape"};
  }
  if (empty_ || tokens > available_) {
    return Error{ErrorCode::BadArgument, "state history: " + std::to_string(tokens) +
                                             " tokens to take back, " + std::to_string(available_) +
                                             " are recorded"};
  }
  position_ -= tokens;
  available_ -= tokens;
  state.reset();
  state.set_position(position_);
  for (std::uint64_t p = oldest_pairs(position_); p <= position_; ++p) {
    const float* in = slot(p).data();
    for (std::size_t layer = 0; layer < config_.layers; ++layer) {
      std::ranges::copy_n(in, config_.attention_dim(), state.key(layer, p - 1).begin());
      in += config_.attention_dim();
      std::ranges::copy_n(in, config_.attention_dim(), state.value(layer, p - 1).begin());
      in += config_.attention_dim();
    }
  }
  const float* in = slot(position_).data() + pairs_floats_;
  for (std::size_t layer = 0; layer < config_.layers; ++layer) {
    std::ranges::copy_n(in, config_.hidden_dim, state.hidden(layer).begin());
    in += config_.hidden_dim;
  }
  std::ranges::copy_n(in, config_.embedding_dim, state.mutable_output().begin());
  return {};
}

}  // namespace laya::model
