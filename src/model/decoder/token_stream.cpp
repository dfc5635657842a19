#include "model/decoder/token_stream.h"

#include <algorithm>
#include <cmath>

#include "simd/dispatch.h"
#include "simd/ops.h"

namespace laya::model {
namespace {

constexpr std::uint32_t kMostKept = 256;  // what simd::top_k takes

}  // namespace

TokenStream::TokenStream(const Decoder& decoder, KvCache& cache, const Sampling& sampling,
                         Threads threads)
    : decoder_(decoder),
      cache_(cache),
      sampling_(sampling),
      workspace_(decoder.make_workspace(threads)),
      hidden_(decoder.config().hidden_dim),
      logits_(decoder.config().vocabulary_size),
      random_(sampling.seed) {
  const std::uint32_t kept =
      sampling_.top_k == 0 ? kMostKept : std::min(sampling_.top_k, kMostKept);
  const std::size_t room = sampling_.temperature > 0 ? kept : 1;
  best_.resize(room);
  best_values_.resize(room);
}

Status TokenStream::start(std::span<const TokenId> prompt, const base::CancelFlag* cancel) {
  if (prompt.empty()) {
    return Error{ErrorCode::BadArgument, "token stream: an empty prompt"};
  }
  if (prompt.back() >= decoder_.config().vocabulary_size) {
    return Error{ErrorCode::BadArgument,
                 "token stream: the prompt's last token is outside the "
                 "vocabulary"};
  }
  if (prompt.size() > 1) {
    if (auto status =
            decoder_.prefill(*workspace_, cache_, prompt.first(prompt.size() - 1), {}, cancel);
        !status) {
      return status;
    }
  }
  pending_ = prompt.back();
  return {};
}

Result<TokenId> TokenStream::next_token(const base::CancelFlag* cancel) {
  if (pending_ == kNoToken) {
    return Error{ErrorCode::BadArgument, "token stream: next_token() before start()"};
  }
  const std::size_t before = cache_.length();
  Status status = decoder_.prefill(*workspace_, cache_, {&pending_, 1}, hidden_, cancel);
  if (!status) {
    return status.error();
  }
  status = decoder_.logits(*workspace_, hidden_, 1, logits_);
  if (!status) {
    cache_.truncate(before);
    return status.error();
  }
  pending_ = choose();
  return pending_;
}

TokenId TokenStream::choose() {
  const std::size_t kept = simd::top_k(simd::best_kernels(), logits_, best_, best_values_);
  if (sampling_.temperature <= 0) {
    return best_[0];
  }
  // Weights of the kept ones, largest first; then the fewest that hold top_p of them.
  double total = 0;
  const auto weight = [this](std::size_t i) {
    return std::exp(static_cast<double>(best_values_[i] - best_values_[0]) / sampling_.temperature);
  };
  for (std::size_t i = 0; i < kept; ++i) {
    total += weight(i);
  }
  std::size_t nucleus = 0;
  double held = 0;
  while (nucleus < kept && (nucleus == 0 || held < total * sampling_.top_p)) {
    held += weight(nucleus++);
  }
  double left = random_.unit() * held;
  for (std::size_t i = 0; i + 1 < nucleus; ++i) {
    left -= weight(i);
    if (left < 0) {
      return best_[i];
    }
  }
  return best_[nucleus - 1];
}

}  // namespace laya::model
