// The pass of a decoder straight from a foreign checkpoint, in fp32, a layer at a time for all
// tokens of some sequences: what `laya convert` measures against, and where the second moments that
// the quantiser weighs errors with come from. Needs the memory of one layer, not of the model.
//
// The formulas are those of decoder_reference.cpp; kept apart on purpose, so that each checks
// the other (convert_test.cpp).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/token_id.h"
#include "convert/convert_source.h"
#include "model/decoder/decoder_rope.h"
#include "simd/thread_pool.h"

namespace laya::convert {

/// Fills out [rows, cols] with the weights of `part` in our row order. `inputs` [tokens, cols] is
/// what they are about to be multiplied with.
using MatrixReader = std::function<Status(const SourcePart& part, std::span<const float> inputs,
                                          std::span<float> out)>;

/// Fills out [cols] with row i of something.
using RowReader = std::function<Status(std::size_t i, std::span<float> out)>;

/// The weights as they are in the checkpoint.
Status read_matrix(const SourceModel& source, const SourcePart& part, std::span<float> out);
/// A vector as we keep it: fp32, norm weights effective, rows in our order. Corrupt: a NaN or an
/// infinity.
Result<std::vector<float>> read_vector(const SourceModel& source, const SourcePart& part);
/// The source row of each of our rows; `kept` (original ids) for embedding and head, or empty.
std::vector<std::uint32_t> row_order(const SourcePart& part, const model::DecoderConfig& config,
                                     std::span<const TokenId> kept);

/// One thread at a time (it uses two inside).
class SourcePass {
 public:
  /// `sequences`: original ids, each at most 4,096 long; must outlive the pass, as `source` must.
  SourcePass(const SourceModel& source, std::span<const std::vector<TokenId>> sequences);

  std::size_t tokens() const { return tokens_; }
  simd::ThreadPool& pool() { return *pool_; }
  /// The residual stream [tokens, d], all sequences one after the other.
  std::span<const float> stream() const { return stream_; }

  /// The embedding. BadArgument: an id outside the vocabulary.
  Status embed();
  /// Layer l.
  Status layer(std::size_t l, const MatrixReader& read);
  /// What the head is multiplied with: the final norm of all tokens, [tokens, d].
  Status final_inputs(std::vector<float>& out);
  /// The scores of `rows` rows of a head for the chosen tokens: out [chosen, rows]. `read` fills
  /// [d] with row i.
  Status scores(std::span<const std::size_t> chosen, std::size_t rows, const RowReader& read,
                std::vector<float>& out);

 private:
  Status multiply(const SourcePart& part, std::span<const float> x, const MatrixReader& read,
                  std::vector<float>& y);
  void multiply_rows(std::span<const float> weights, std::size_t rows, std::size_t cols,
                     std::span<const float> x, std::size_t count, std::span<float> out,
                     std::size_t stride);
  Status add_bias(std::size_t l, const char* name, std::vector<float>& y);
  Status norm(const std::string& name, std::span<const float> x, std::vector<float>& y);
  Status rotate_heads(std::size_t l, const char* norm_name, std::size_t heads,
                      std::vector<float>& x);
  void attend(std::size_t l);
  const SourcePart& part(std::size_t l, const char* name) const;

  const SourceModel& source_;
  std::span<const std::vector<TokenId>> sequences_;
  model::RopeFrequencies rope_;
  std::unique_ptr<simd::ThreadPool> pool_;
  std::size_t tokens_ = 0;
  std::vector<float> stream_, normed_, q_, k_, v_, attended_, gate_, up_, y_, weights_;
};

}  // namespace laya::convert
