// The one interface behind which every network stands: reference, cpu and mlx backends
// (model_loading.h makes them).
//
//   auto file = format::ModelFile::open(path);          // keeps the weights mapped; must outlive
//                                                       // the model
//   auto model = model::load_language_model(*file, model::Backend::Cpu);
//   auto workspace = (*model)->make_workspace();        // one per session or thread
//   model::State state((*model)->config());
//   (*model)->advance(*workspace, state, token, hidden);  // hidden [e]
//   (*model)->logits(*workspace, hidden, 1, logits);     // logits [V]
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "base/result.h"
#include "base/token_id.h"
#include "model/core/workspace.h"
#include "model/gru/gru_config.h"
#include "model/gru/gru_state.h"

namespace laya::model {

/// Immutable after loading: any number of threads may call the const functions, each with its own
/// Workspace and States.
///
/// Columns: each call takes n = 1…kMaxColumns independent columns (beam hypotheses, candidates) and
/// reads the weights once for all of them. n columns give the same numbers as n single calls. After
/// the first call with a given workspace nothing is allocated (except by the mlx backend, whose
/// library allocates).
///
/// Errors: BadArgument (a count, a length, a token or a State that does not fit, told before
/// anything is computed) and Corrupt (the result holds a NaN or an infinity: damaged weights or
/// state). After an error every State is as it was, and outputs are unspecified but finite or
/// untouched. So NaN and infinity never leave this interface.
class LanguageModel {
 public:
  virtual ~LanguageModel() = default;

  virtual const GruConfig& config() const = 0;
  /// "reference", "cpu avx512vnni", "mlx", … for reports.
  virtual std::string_view backend_name() const = 0;
  /// Bytes of weights that one step with all logits reads.
  virtual std::size_t weights_bytes() const = 0;
  virtual std::unique_ptr<Workspace> make_workspace(Threads threads = Threads::One) const = 0;

  /// Reads one token a column: states[i] (distinct objects) moves past tokens[i]. `hidden` [n, e]
  /// receives y of each column, the same numbers as states[i]->output(); it may be empty. A
  /// sequence begins with BOS on the zero state (State::reset).
  virtual Status advance(Workspace& workspace, std::span<State* const> states,
                         std::span<const TokenId> tokens, std::span<float> hidden) const = 0;

  /// Reads `tokens` (1…kMaxColumns of them) one after the other: the same numbers as so many calls
  /// of advance(), but most weights are read once for all of them where the backend can. `after` is
  /// empty, or as long as `tokens`: after[i] (of the model's config) becomes the state behind
  /// tokens[i].
  virtual Status read(Workspace& workspace, State& state, std::span<const TokenId> tokens,
                      std::span<State> after) const;

  /// Scores of every vocabulary row for n vectors: hidden [n, e] → out [n, V], not normalised.
  virtual Status logits(Workspace& workspace, std::span<const float> hidden, std::size_t columns,
                        std::span<float> out) const = 0;

  /// The same for chosen rows only: hidden [n, e], rows [r] (any order, repeats allowed) → out [n,
  /// r]. Costs r/V of logits().
  virtual Status logits_rows(Workspace& workspace, std::span<const float> hidden,
                             std::size_t columns, std::span<const TokenId> rows,
                             std::span<float> out) const = 0;

  /// log Σ_v exp(logit_v) for each column: hidden [n, e] → out [n]. log p(v) = logit_v − out. As
  /// costly as logits(); a caller that holds the logits already uses log_sum_exp below.
  virtual Status log_normalizers(Workspace& workspace, std::span<const float> hidden,
                                 std::size_t columns, std::span<float> out) const = 0;

  /// advance() for one column; `hidden` [e] or empty.
  Status advance(Workspace& workspace, State& state, TokenId token,
                 std::span<float> hidden = {}) const;
};

/// log Σ exp(x), computed around the maximum; −infinity for an empty span.
float log_sum_exp(std::span<const float> x);

}  // namespace laya::model
