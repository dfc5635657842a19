// How far two decoders are apart, measured on text: logits, distributions, and whether the same
// candidates are offered. What `laya convert` prints, and `laya inspect --compare`.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/cancel_flag.h"
#include "base/result.h"
#include "base/token_id.h"
#include "format/model_file.h"
#include "model/decoder/decoder.h"
#include "text/subword_tokenizer.h"

namespace laya::convert {

/// The candidates compared: the most probable next tokens.
inline constexpr std::size_t kParityCandidates = 10;
/// Those that a list of three slots would show.
inline constexpr std::size_t kParityShown = 3;

/// Means over the contexts where both have seen the same text.
struct Parity {
  std::size_t contexts = 0;
  double max_logit_error = 0;  ///< largest |exact − other| of any row that both have
  double mean_kl = 0;          ///< Σ p ln(p/q), nats; p the exact one's, over the rows both have
  double overlap = 0;          ///< of the ten most probable tokens: mean share that both name
  double same_first = 0;       ///< share of contexts with the same most probable token
  double same_shown = 0;       ///< share with the same three most probable ones
  double same_order = 0;       ///< share with the same three in the same order
};

/// Scores of every vocabulary row after each context, or what decided them: an exact pass
/// (convert_forward.h) or a decoder.
class ParityMeter {
 public:
  /// `rows`: for each row of `other` the exact one's row; empty where they are the same.
  explicit ParityMeter(std::span<const TokenId> rows = {}) : rows_(rows) {}

  /// One context: logits of both.
  void add(std::span<const float> exact, std::span<const float> other);
  Parity result() const;

 private:
  std::span<const TokenId> rows_;
  std::vector<float> scratch_;
  std::size_t contexts_ = 0, common_ = 0, same_first_ = 0, same_shown_ = 0, same_order_ = 0;
  double max_error_ = 0, kl_ = 0;
};

/// A decoder of a file with what is needed to feed it text. Views into the file.
struct OpenedDecoder {
  std::unique_ptr<model::Decoder> decoder;
  text::SubwordTokenizer tokenizer;
  std::vector<TokenId> kept;  ///< original ids of its rows; empty: all

  /// The original id of a row.
  TokenId original(TokenId row) const { return kept.empty() ? row : kept[row]; }
};

/// `file` must outlive the result. Errors: those of load_decoder and SubwordTokenizer::parse.
Result<OpenedDecoder> open_decoder(const format::ModelFile& file);

/// Runs `decoder` over a sequence of tokens (rows), sixteen a pass, and calls visit(i, logits [V])
/// for each wanted token i, in order: the scores of what follows it. `wanted` [tokens] holds 0
/// or 1.
Status run_over(const model::Decoder& decoder, model::Workspace& workspace,
                std::span<const TokenId> tokens, std::span<const std::uint8_t> wanted,
                const std::function<void(std::size_t, std::span<const float>)>& visit,
                const base::CancelFlag* cancel = nullptr);

struct CompareOptions {
  std::size_t contexts = 300;
  std::function<void(double done)> progress;
  const base::CancelFlag* cancel = nullptr;
};

/// Compares two files of the same model (pruned or not) at places all over `texts`. A context is
/// the text up to a place where both have a token's end and no word is cut; both encode it
/// themselves, BOS in front where they want it. BadArgument: rows that do not belong to the same
/// vocabulary, no text.
Result<Parity> compare_decoders(const OpenedDecoder& exact, const OpenedDecoder& other,
                                std::span<const std::string_view> texts,
                                const CompareOptions& options = {});

}  // namespace laya::convert
