// How long a decoder's passes take on this machine, against the time to read its weights: what
// `laya bench --deep` prints and the README quotes.
#pragma once

#include <cstddef>

#include "base/result.h"
#include "model/decoder/decoder.h"
#include "model/decoder/kv_cache.h"

namespace laya::model {

/// Medians in microseconds unless said otherwise. A "token" is one column and all its logits.
struct DecoderTiming {
  std::size_t weights_bytes = 0;  ///< read by one token
  double floor_us = 0;     ///< reading as many bytes of other memory, on the same number of threads
  double token_us = 0;     ///< one token after 64 of context
  double body_us = 0;      ///< the same without logits
  double columns8_us = 0;  ///< eight tokens in one pass, all logits of each
  double body8_us = 0;     ///< the same without logits
  double columns16_us = 0;  ///< sixteen
  double prefill64_us = 0;  ///< 64 tokens, no logits

  /// Log-probabilities of eight candidates of four tokens after 64 tokens of context: with the
  /// context in a cache that they share, and each from nothing.
  double shared_us = 0;
  double unshared_us = 0;

  /// TokenStream::next_token over `stream_tokens` tokens, greedy.
  std::size_t stream_tokens = 0;
  double next_token_us = 0;
  double next_token_p99_us = 0;

  std::size_t session_bytes = 0;  ///< reserved by one KvCache of the options given

  double ratio() const { return token_us / floor_us; }
};

struct DecoderBenchOptions {
  Threads threads = Threads::One;
  std::size_t turns = 5;    ///< each takes every figure once or more, in turns
  std::size_t passes = 20;  ///< passes of each kind a turn
  std::size_t stream_tokens = 200;
  KvOptions cache;
};

/// Measures, and checks its answers on the way: eight columns, the tree and the candidates with and
/// without the shared context must give the same numbers (Internal otherwise).
Result<DecoderTiming> time_decoder(const Decoder& decoder, const DecoderBenchOptions& options = {});

}  // namespace laya::model
