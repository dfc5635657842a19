#include "eval/instant_scorer.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "model/ngram/ngram.h"
#include "predict/source/table_unit.h"
#include "text/script.h"
#include "text/tokenizer.h"
#include "text/units.h"

namespace laya::predict {

InstantScorer::InstantScorer(const Engine& engine) : engine_(&engine) {
  if (const model::LanguageModel* network = engine.network()) {
    workspace_ = network->make_workspace(engine.threads());
    states_.assign(model::kMaxColumns, model::State(network->config()));
    hidden_.resize(model::kMaxColumns * network->config().embedding_dim);
  }
}

// Unit by unit; the share of the two is one number for the whole sentence (even), as their cuts
// differ.
float InstantScorer::table_log_prob(std::string_view before, std::string_view candidate) const {
  const model::NgramModel& table = *engine_->ngrams();
  model::NgramContext context = table.start();
  text::Unit unit;
  for (std::size_t at = 0; text::next_unit(before, at, &unit); at = unit.end) {
    table.push(&context,
               table_unit(table, before.substr(unit.begin, unit.end - unit.begin), unit.kind));
  }
  float sum = 0;
  for (std::size_t at = 0; text::next_unit(candidate, at, &unit); at = unit.end) {
    const model::WordId word =
        table_unit(table, candidate.substr(unit.begin, unit.end - unit.begin), unit.kind);
    sum += table.log_prob(context, word);
    table.push(&context, word);
  }
  return sum;
}

Status InstantScorer::score(std::string_view before, std::span<const std::string_view> candidates,
                            std::span<float> log_probs) {
  if (candidates.size() != log_probs.size()) {
    return Error{ErrorCode::BadArgument, "instant scorer: a score for each candidate"};
  }
  std::fill(log_probs.begin(), log_probs.end(), 0.0F);
  const model::LanguageModel* network = engine_->network();
  if (engine_->ngrams() != nullptr) {
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      log_probs[i] = table_log_prob(before, candidates[i]);
    }
  }
  if (network == nullptr) {
    return {};
  }
  const text::Tokenizer& tokenizer = *engine_->tokenizer();
  model::State start(network->config());
  start.reset();
  std::vector<TokenId> read{tokenizer.vocabulary().begin_id()};
  tokenizer.encode(before, read);
  for (const TokenId token : read) {
    if (auto done = network->advance(*workspace_, start, token); !done) {
      return done;
    }
  }
  const float share = engine_->ngrams() != nullptr ? 0.5F : 1.0F;
  const std::size_t width = network->config().embedding_dim;
  for (std::size_t first = 0; first < candidates.size(); first += model::kMaxColumns) {
    const std::size_t count = std::min(model::kMaxColumns, candidates.size() - first);
    std::vector<std::vector<TokenId>> tokens(count);
    std::size_t longest = 0;
    for (std::size_t i = 0; i < count; ++i) {
      tokens[i] = tokenizer.encode(candidates[first + i]);
      longest = std::max(longest, tokens[i].size());
      log_probs[first + i] *= 1 - share;
      if (auto done = states_[i].copy_from(start); !done) {
        return done;
      }
    }
    for (std::size_t step = 0; step < longest; ++step) {
      std::array<model::State*, model::kMaxColumns> states;
      std::array<TokenId, model::kMaxColumns> next;
      std::array<float, model::kMaxColumns> log_z;
      std::size_t columns = 0;
      for (std::size_t i = 0; i < count; ++i) {
        if (step < tokens[i].size()) {
          std::copy(states_[i].output().begin(), states_[i].output().end(),
                    hidden_.begin() + static_cast<std::ptrdiff_t>(columns * width));
          states[columns] = &states_[i];
          next[columns++] = tokens[i][step];
        }
      }
      const std::span<const float> hidden(hidden_.data(), columns * width);
      if (auto done = network->log_normalizers(*workspace_, hidden, columns,
                                               std::span(log_z).first(columns));
          !done) {
        return done;
      }
      std::size_t column = 0;
      for (std::size_t i = 0; i < count; ++i) {
        if (step < tokens[i].size()) {
          float logit = 0;
          if (auto done =
                  network->logits_rows(*workspace_, hidden.subspan(column * width, width), 1,
                                       std::span(&next[column], 1), std::span(&logit, 1));
              !done) {
            return done;
          }
          log_probs[first + i] += share * (logit - log_z[column]);
          ++column;
        }
      }
      if (auto done = network->advance(*workspace_, std::span(states.data(), columns),
                                       std::span<const TokenId>(next.data(), columns), {});
          !done) {
        return done;
      }
    }
  }
  return {};
}

}  // namespace laya::predict
