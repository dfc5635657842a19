// What the model knows after the tokens so far, as a value; and the last 128 of them, so that
// backspace is a look-up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "model/gru/gru_config.h"

namespace laya::model {

/// State of one sequence: each layer's h, the (key, value) pairs of the last W-1 tokens, the output
/// vector y of the last token, and how many tokens were read. All of it lies in one buffer whose
/// size depends on the config only (15 KiB by default), so forking a beam is one copy. Belongs to
/// one thread at a time; models never keep a reference to it.
class State {
 public:
  /// The zero state: nothing read, not even BOS. Allocates. `config` must be valid
  /// (GruConfig::validate).
  explicit State(const GruConfig& config);

  State(const State&) = default;             ///< allocates; on the hot path use copy_from
  State& operator=(const State&) = default;  ///< does not allocate between states of one config
  State(State&&) noexcept = default;  ///< the moved-from state may only be assigned to or destroyed
  State& operator=(State&&) noexcept = default;

  /// Becomes equal to `other`. Never allocates. BadArgument (and unchanged) where the configs
  /// differ.
  Status copy_from(const State& other);
  /// Back to the zero state. Do this before BOS: training resets the state wherever a sequence
  /// begins.
  void reset();

  const GruConfig& config() const { return config_; }
  /// Tokens read since the zero state, BOS included.
  std::uint64_t position() const { return position_; }
  /// y of the last token, [e]: what LanguageModel::logits takes. Zero in the zero state. Lives as
  /// long as the State, and its numbers change with the next advance.
  std::span<const float> output() const {
    return {buffer_.data() + output_offset_, config_.embedding_dim};
  }

  /// For backends: h of a layer [d].
  std::span<float> hidden(std::size_t layer);
  std::span<const float> hidden(std::size_t layer) const;
  /// For backends: key and value [H*k each, head-major] of the token with absolute number `token`,
  /// counted from 0. They lie in a ring [W, H*k] a layer, slot = token mod W: the last W-1 tokens
  /// read, and a spare slot for the token being read, whose content means nothing until position()
  /// has moved past it.
  std::span<float> key(std::size_t layer, std::uint64_t token);
  std::span<const float> key(std::size_t layer, std::uint64_t token) const;
  std::span<float> value(std::size_t layer, std::uint64_t token);
  std::span<const float> value(std::size_t layer, std::uint64_t token) const;
  /// For backends: a layer's whole ring of keys [W, H*k], and of values.
  std::span<const float> keys(std::size_t layer) const;
  std::span<const float> values(std::size_t layer) const;
  std::span<float> mutable_output() {
    return {buffer_.data() + output_offset_, config_.embedding_dim};
  }
  void set_position(std::uint64_t position) { position_ = position; }
  /// For backends: all numbers of the state in one view, for checks and copies.
  std::span<const float> numbers() const { return buffer_; }

  /// Bytes for a cache on disk: magic, version, config, position, numbers, checksum. Little-endian.
  std::vector<std::byte> serialise() const;
  /// The inverse. Corrupt (bad magic, length, checksum, a NaN or infinity), Version, or BadArgument
  /// where the bytes hold a state of another config than `config`.
  static Result<State> deserialise(std::span<const std::byte> bytes, const GruConfig& config);

 private:
  std::size_t key_offset(std::size_t layer, std::uint64_t token) const;
  std::size_t value_offset(std::size_t layer, std::uint64_t token) const;

  GruConfig config_;
  std::uint64_t position_ = 0;
  std::size_t output_offset_ = 0;
  std::vector<float> buffer_;  ///< h [L, d] · keys [L, W, H*k] · values [L, W, H*k] · y [e]
};

/// The states after each of the last `capacity` tokens, to step back over them without running the
/// model. Per token it keeps h, y and that token's own key and value (7 KiB by default); older keys
/// are those of the tokens before it. One thread; allocates only when constructed.
class StateHistory {
 public:
  static constexpr std::size_t kDefaultCapacity = 128;

  /// `capacity` ≥ 1: so many tokens can be taken back at most.
  explicit StateHistory(const GruConfig& config, std::size_t capacity = kDefaultCapacity);

  /// Forgets all and takes `state` as the point before which nothing can be taken back.
  Status reset(const State& state);
  /// Records `state`, exactly one token after the newest recorded one. Where it is not (a jump),
  /// this is reset(state).
  Status push(const State& state);
  /// Tokens that truncate() can take back now.
  std::size_t available() const { return available_; }
  /// Takes back the newest `tokens` tokens: `state` becomes what it was before them, and they are
  /// forgotten here too; 0 gives the newest state. BadArgument, with nothing changed, where tokens
  /// > available() or nothing was recorded. Never allocates.
  Status truncate(std::size_t tokens, State& state);

 private:
  std::span<float> slot(std::uint64_t position);
  std::uint64_t oldest_pairs(std::uint64_t position) const;
  void store_pairs(const State& state, std::uint64_t position);
  void store_newest(const State& state);

  GruConfig config_;
  std::size_t capacity_;
  std::size_t slots_;           ///< capacity + W - 1
  std::size_t pairs_floats_;    ///< L*2*H*k
  std::size_t slot_floats_;     ///< pairs, L*d and e
  std::vector<float> buffer_;   ///< [slots, slot_floats]; the slot of position p is p mod slots
  std::uint64_t position_ = 0;  ///< position() of the newest state
  std::size_t available_ = 0;
  bool empty_ = true;
};

}  // namespace laya::model
