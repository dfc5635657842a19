// The one interface behind which every decoder stands: reference, cpu and mlx backends
// (decoder_loading.h makes them).
//
//   auto file = format::ModelFile::open(path);             // must outlive the decoder
//   auto decoder = model::load_decoder(*file, model::Backend::Cpu);
//   auto ws = (*decoder)->make_workspace();                // one per session or thread
//   model::KvCache cache((*decoder)->config());
//   (*decoder)->prefill(*ws, cache, tokens, hidden);       // hidden [d]
//   (*decoder)->logits(*ws, hidden, 1, logits);            // logits [V]
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "base/cancel_flag.h"
#include "base/result.h"
#include "base/token_id.h"
#include "model/core/workspace.h"
#include "model/decoder/decoder_config.h"
#include "model/decoder/kv_cache.h"

namespace laya::model {

/// Immutable after loading: any number of threads may call the const functions, each with its own
/// Workspace and KvCache.
///
/// Columns: a pass takes 1…kMaxColumns tokens and reads the weights once for all of them. n columns
/// give the same bits as n single calls. After the first call with a given workspace nothing is
/// allocated (except by the mlx backend, whose library allocates).
///
/// Errors: BadArgument (a count, a length, a token, a node or a KvCache that does not fit, no room
/// in the tree, a position beyond max_context; told before anything is computed), Corrupt (the
/// result holds a NaN or an infinity: damaged weights) and Cancelled (the flag was set; looked at
/// once a layer). After an error the cache is as before (a prefill of more than 64 tokens into a
/// cache that is full may leave it empty: see KvCache::truncate); outputs are unspecified but
/// finite or untouched.
class Decoder {
 public:
  virtual ~Decoder() = default;

  virtual const DecoderConfig& config() const = 0;
  /// "reference", "cpu avx512-vnni", "mlx", … for reports.
  virtual std::string_view backend_name() const = 0;
  /// Bytes of weights that one token with all logits reads.
  virtual std::size_t weights_bytes() const = 0;
  virtual std::unique_ptr<Workspace> make_workspace(Threads threads = Threads::One) const = 0;

  /// Appends `tokens` (at least one, any number) to the main sequence, kMaxColumns a pass.
  /// `hidden_last` receives the last token's vector [d], or is empty. The cache's tree must be
  /// empty.
  Status prefill(Workspace& workspace, KvCache& cache, std::span<const TokenId> tokens,
                 std::span<float> hidden_last, const base::CancelFlag* cancel = nullptr) const;

  /// Adds 1…kMaxColumns nodes to the tree in one pass. A parent is kRoot, a node, or an earlier
  /// column of the same call: its KvNodeId is node_count() before the call + its index. `hidden`
  /// receives each column's vector [n, d], or is empty.
  Status grow(Workspace& workspace, KvCache& cache, std::span<const Column> columns,
              std::span<float> hidden, const base::CancelFlag* cancel = nullptr) const;

  /// Scores of every vocabulary row for n vectors: hidden [n, d] → out [n, V], not normalised, soft
  /// cap applied.
  virtual Status logits(Workspace& workspace, std::span<const float> hidden, std::size_t columns,
                        std::span<float> out) const = 0;

  /// The same for chosen rows only: rows [r] (any order, repeats allowed) → out [n, r]. Costs r/V
  /// of logits().
  virtual Status logits_rows(Workspace& workspace, std::span<const float> hidden,
                             std::size_t columns, std::span<const TokenId> rows,
                             std::span<float> out) const = 0;

  /// log Σ_v exp(logit_v) for each column: hidden [n, d] → out [n]. log p(v) = logit_v − out. As
  /// costly as logits(); a caller that holds the logits uses log_sum_exp (language_model.h).
  virtual Status log_normalizers(Workspace& workspace, std::span<const float> hidden,
                                 std::size_t columns, std::span<float> out) const = 0;

 protected:
  /// Whose tokens one pass computes.
  enum class Pass { Main, Tree };
  /// One pass over the weights, arguments checked: Main appends the columns' tokens to the main
  /// sequence from cache.length() on (their parents mean nothing); Tree computes the last
  /// columns.size() nodes. Keys and values go to their slots of `cache`, whose lengths the caller
  /// sets. `hidden` is [n, d], [d] (the last column only), or empty.
  virtual Status forward(Workspace& workspace, KvCache& cache, Pass pass,
                         std::span<const Column> columns, std::span<float> hidden,
                         const base::CancelFlag* cancel) const = 0;
};

}  // namespace laya::model
