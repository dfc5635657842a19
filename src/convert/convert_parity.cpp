#include "convert/convert_parity.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "model/backends/cpu.h"
#include "model/decoder/decoder_loading.h"
#include "model/gru/language_model.h"
#include "simd/dispatch.h"
#include "simd/ops.h"

namespace laya::convert {
namespace {

using model::Decoder;

constexpr std::size_t kLongestLine = 256;  // tokens; the rest of a longer line is not looked at
constexpr std::size_t kContextsPerLine = 8;

/// A line as one decoder sees it.
struct EncodedLine {
  std::vector<TokenId> tokens;      ///< with BOS where wanted
  std::vector<std::uint32_t> ends;  ///< [tokens] bytes of the line seen after each; BOS: 0
};

EncodedLine encode_line(const text::SubwordTokenizer& tokenizer, std::string_view line) {
  EncodedLine encoded;
  if (tokenizer.add_bos()) {
    encoded.tokens.push_back(tokenizer.bos());
    encoded.ends.push_back(0);
  }
  tokenizer.encode(line, encoded.tokens, &encoded.ends);
  const std::size_t size = std::min(encoded.tokens.size(), kLongestLine);
  encoded.tokens.resize(size);
  encoded.ends.resize(size);
  return encoded;
}

/// Places where both have seen the same bytes, as indices into each one's tokens: at most
/// kContextsPerLine, spread over the line.
std::vector<std::pair<std::size_t, std::size_t>> common_places(const EncodedLine& a,
                                                               const EncodedLine& b,
                                                               std::string_view line) {
  const auto in_word = [&](std::uint32_t end) {
    const auto part = [&](std::size_t at) {
      return at < line.size() && ((line[at] >= 'a' && line[at] <= 'z') ||
                                  (line[at] >= 'A' && line[at] <= 'Z') || line[at] == '\'');
    };
    return end > 0 && part(end - 1) && part(end);
  };
  std::vector<std::pair<std::size_t, std::size_t>> places;
  for (std::size_t i = 0, j = 0; i < a.ends.size() && j < b.ends.size();) {
    // Bytes of one character may end at the same place: its last token counts.
    if (a.ends[i] == b.ends[j]) {
      while (i + 1 < a.ends.size() && a.ends[i + 1] == a.ends[i]) ++i;
      while (j + 1 < b.ends.size() && b.ends[j + 1] == b.ends[j]) ++j;
      if (!in_word(a.ends[i])) places.emplace_back(i, j);
      ++i;
      ++j;
    } else if (a.ends[i] < b.ends[j]) {
      ++i;
    } else {
      ++j;
    }
  }
  if (places.size() <= kContextsPerLine) return places;
  std::vector<std::pair<std::size_t, std::size_t>> spread;
  for (std::size_t k = 0; k < kContextsPerLine; ++k) {
    spread.push_back(places[(2 * k + 1) * places.size() / (2 * kContextsPerLine)]);
  }
  return spread;
}

template <std::size_t kMost>
std::array<std::uint32_t, kMost> best_of(std::span<const float> scores) {
  std::array<std::uint32_t, kMost> ids{};
  std::array<float, kMost> values{};
  simd::top_k(simd::best_kernels(), scores, ids, values);
  return ids;
}

}  // namespace

void ParityMeter::add(std::span<const float> exact, std::span<const float> other) {
  // Over the rows that both have; `own` is what the exact one says of them.
  std::span<const float> own = exact;
  if (!rows_.empty()) {
    scratch_.resize(rows_.size());
    for (std::size_t i = 0; i < rows_.size(); ++i) scratch_[i] = exact[rows_[i]];
    own = scratch_;
  }
  const double norm_own = model::log_sum_exp(own), norm_other = model::log_sum_exp(other);
  double kl = 0;
  for (std::size_t i = 0; i < own.size(); ++i) {
    max_error_ = std::max(max_error_, std::abs(static_cast<double>(own[i]) - other[i]));
    const double log_p = own[i] - norm_own;
    kl += std::exp(log_p) * (log_p - (other[i] - norm_other));
  }
  kl_ += std::max(kl, 0.0);
  // Candidates of the exact one may be rows that the other lacks: those it cannot name.
  const auto exact_best = best_of<kParityCandidates>(exact);
  auto other_best = best_of<kParityCandidates>(other);
  if (!rows_.empty()) {
    for (std::uint32_t& id : other_best) id = rows_[id];
  }
  for (const std::uint32_t id : other_best) {
    common_ += std::ranges::find(exact_best, id) != exact_best.end() ? 1 : 0;
  }
  same_first_ += exact_best[0] == other_best[0] ? 1 : 0;
  const auto shown = std::span(exact_best).first<kParityShown>();
  const auto other_shown = std::span(other_best).first<kParityShown>();
  same_order_ += std::ranges::equal(shown, other_shown) ? 1 : 0;
  same_shown_ += std::ranges::is_permutation(shown, other_shown) ? 1 : 0;
  ++contexts_;
}

Parity ParityMeter::result() const {
  Parity parity;
  parity.contexts = contexts_;
  if (contexts_ == 0) return parity;
  const auto contexts = static_cast<double>(contexts_);
  parity.max_logit_error = max_error_;
  parity.mean_kl = kl_ / contexts;
  parity.overlap =
      static_cast<double>(common_) / (contexts * static_cast<double>(kParityCandidates));
  parity.same_first = static_cast<double>(same_first_) / contexts;
  parity.same_shown = static_cast<double>(same_shown_) / contexts;
  parity.same_order = static_cast<double>(same_order_) / contexts;
  return parity;
}

Result<OpenedDecoder> open_decoder(const format::ModelFile& file) {
  auto blob = file.blob("tokenizer");
  if (!blob) return blob.error();
  auto tokenizer = text::SubwordTokenizer::parse(*blob);
  if (!tokenizer)
    return Error{tokenizer.error().code, file.path() + ": " + tokenizer.error().message};
  auto decoder = model::load_decoder(file, model::cpu_backend());
  if (!decoder) return decoder.error();
  OpenedDecoder opened{std::move(*decoder), std::move(*tokenizer), {}};
  if (file.has("kept_tokens")) {
    auto bytes = file.blob("kept_tokens");
    if (!bytes) return bytes.error();
    const std::size_t rows = opened.decoder->config().vocabulary_size;
    if (bytes->size() != rows * sizeof(TokenId)) {
      return Error{ErrorCode::Corrupt, file.path() + ": kept_tokens has " +
                                           std::to_string(bytes->size()) + " bytes for " +
                                           std::to_string(rows) + " rows"};
    }
    opened.kept.resize(rows);
    std::copy_n(bytes->data(), bytes->size(), reinterpret_cast<std::byte*>(opened.kept.data()));
    if (!std::ranges::is_sorted(opened.kept)) {
      return Error{ErrorCode::Corrupt, file.path() + ": kept_tokens is not ascending"};
    }
  }
  return opened;
}

Status run_over(const Decoder& decoder, model::Workspace& workspace,
                std::span<const TokenId> tokens, std::span<const std::uint8_t> wanted,
                const std::function<void(std::size_t, std::span<const float>)>& visit,
                const base::CancelFlag* cancel) {
  const std::size_t d = decoder.config().hidden_dim, v = decoder.config().vocabulary_size;
  model::KvOptions options;
  options.tree_nodes = model::kMaxColumns;
  model::KvCache cache(decoder.config(), options);
  std::vector<float> hidden(model::kMaxColumns * d), logits(model::kMaxColumns * v);
  std::array<model::Column, model::kMaxColumns> columns;
  std::array<std::size_t, model::kMaxColumns> places{};
  for (std::size_t first = 0; first < tokens.size(); first += model::kMaxColumns) {
    const std::size_t count = std::min(model::kMaxColumns, tokens.size() - first);
    for (std::size_t c = 0; c < count; ++c) {
      columns[c] = {static_cast<model::KvNodeId>(c) - 1, tokens[first + c]};
    }
    if (auto status = decoder.grow(workspace, cache, std::span(columns).first(count),
                                   std::span(hidden).first(count * d), cancel);
        !status) {
      return status;
    }
    cache.commit(static_cast<model::KvNodeId>(count) - 1);
    std::size_t chosen = 0;
    for (std::size_t c = 0; c < count; ++c) {
      if (wanted[first + c] == 0) continue;
      std::copy_n(hidden.begin() + static_cast<std::ptrdiff_t>(c * d), d,
                  hidden.begin() + static_cast<std::ptrdiff_t>(chosen * d));
      places[chosen++] = first + c;
    }
    if (chosen == 0) continue;
    if (auto status = decoder.logits(workspace, std::span(hidden).first(chosen * d), chosen,
                                     std::span(logits).first(chosen * v));
        !status) {
      return status;
    }
    for (std::size_t c = 0; c < chosen; ++c) {
      visit(places[c], std::span<const float>(logits).subspan(c * v, v));
    }
  }
  return {};
}

Result<Parity> compare_decoders(const OpenedDecoder& exact, const OpenedDecoder& other,
                                std::span<const std::string_view> texts,
                                const CompareOptions& options) {
  const std::size_t exact_rows = exact.decoder->config().vocabulary_size;
  std::vector<TokenId> rows;  // of the exact one, for each of the other's
  if (exact.kept != other.kept) {
    if (!exact.kept.empty() || other.kept.back() >= exact_rows) {
      return Error{ErrorCode::BadArgument,
                   "the first model is to have all rows that the second has: compare the whole "
                   "vocabulary with a part of it"};
    }
    rows = other.kept;
  } else if (exact_rows != other.decoder->config().vocabulary_size) {
    return Error{ErrorCode::BadArgument,
                 "the two have vocabularies of " + std::to_string(exact_rows) + " and " +
                     std::to_string(other.decoder->config().vocabulary_size) +
                     " rows: they are not the same model"};
  }
  ParityMeter meter(rows);
  const auto exact_workspace = exact.decoder->make_workspace(model::Threads::Two);
  const auto other_workspace = other.decoder->make_workspace(model::Threads::Two);
  // Lines all over the text, a coprime step apart, until there are enough contexts.
  std::size_t contexts = 0;
  for (std::size_t n = 0; n < texts.size() && contexts < options.contexts; ++n) {
    const std::size_t lines = std::max<std::size_t>(options.contexts / kContextsPerLine, 1);
    const std::size_t stride = std::max<std::size_t>(texts.size() / lines, 1);
    const std::size_t rounds = (texts.size() + stride - 1) / stride;
    const std::size_t line = n % rounds * stride + n / rounds;
    if (line >= texts.size()) continue;
    const EncodedLine a = encode_line(exact.tokenizer, texts[line]);
    const EncodedLine b = encode_line(other.tokenizer, texts[line]);
    auto places = common_places(a, b, texts[line]);
    if (places.size() > options.contexts - contexts) places.resize(options.contexts - contexts);
    if (places.empty()) continue;
    std::vector<std::uint8_t> wanted_a(a.tokens.size()), wanted_b(b.tokens.size());
    for (const auto& [i, j] : places) wanted_a[i] = wanted_b[j] = 1;
    std::vector<std::vector<float>> scores;
    auto status = run_over(
        *exact.decoder, *exact_workspace, a.tokens, wanted_a,
        [&](std::size_t, std::span<const float> logits) {
          scores.emplace_back(logits.begin(), logits.end());
        },
        options.cancel);
    if (!status) return status.error();
    std::size_t at = 0;
    status = run_over(
        *other.decoder, *other_workspace, b.tokens, wanted_b,
        [&](std::size_t, std::span<const float> logits) { meter.add(scores[at++], logits); },
        options.cancel);
    if (!status) return status.error();
    contexts += places.size();
    if (options.progress) {
      options.progress(static_cast<double>(contexts) / static_cast<double>(options.contexts));
    }
  }
  if (contexts == 0) {
    return Error{ErrorCode::BadArgument, "no text to compare on"};
  }
  return meter.result();
}

}  // namespace laya::convert
