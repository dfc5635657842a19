#include "model/gru/call_checks.h"

#include <string>

#include "model/core/workspace.h"

namespace laya::model {
namespace {

Error bad(std::string message) {
  return Error{ErrorCode::BadArgument, "model: " + std::move(message)};
}

Status check_columns(std::size_t columns) {
  if (columns < 1 || columns > kMaxColumns) {
    return bad(std::to_string(columns) + " columns, allowed are 1 to " +
               std::to_string(kMaxColumns));
  }
  return {};
}

Status check_length(const char* what, std::size_t got, std::size_t wanted) {
  if (got != wanted) {
    return bad(std::string(what) + " has " + std::to_string(got) + " numbers, " +
               std::to_string(wanted) + " are needed");
  }
  return {};
}

}  // namespace

Status check_advance(const GruConfig& config, std::span<State* const> states,
                     std::span<const TokenId> tokens, std::span<const float> hidden) {
  if (auto status = check_columns(states.size()); !status) {
    return status;
  }
  if (tokens.size() != states.size()) {
    return bad(std::to_string(tokens.size()) + " tokens for " + std::to_string(states.size()) +
               " states");
  }
  if (!hidden.empty()) {
    if (auto status = check_length("hidden", hidden.size(), states.size() * config.embedding_dim);
        !status) {
      return status;
    }
  }
  for (std::size_t i = 0; i < states.size(); ++i) {
    if (!(states[i]->config() == config)) {
      return bad("the state of column " + std::to_string(i) + " is of another model shape");
    }
    if (tokens[i] >= config.vocabulary_size) {
      return bad("token of column " + std::to_string(i) + " is outside the vocabulary of " +
                 std::to_string(config.vocabulary_size));
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (states[i] == states[j]) {
        return bad("columns " + std::to_string(j) + " and " + std::to_string(i) +
                   " share one state");
      }
    }
  }
  return {};
}

Status check_read(const GruConfig& config, const State& state, std::span<const TokenId> tokens,
                  std::span<const State> after) {
  if (auto status = check_columns(tokens.size()); !status) {
    return status;
  }
  if (!after.empty() && after.size() != tokens.size()) {
    return bad(std::to_string(after.size()) + " states for " + std::to_string(tokens.size()) +
               " tokens");
  }
  if (!(state.config() == config)) {
    return bad("the state is of another model shape");
  }
  for (const TokenId token : tokens) {
    if (token >= config.vocabulary_size) {
      return bad("token " + std::to_string(token) + " is outside the vocabulary of " +
                 std::to_string(config.vocabulary_size));
    }
  }
  for (const State& behind : after) {
    if (!(behind.config() == config)) {
      return bad("a state to be written is of another model shape");
    }
  }
  return {};
}

Status check_scores(const GruConfig& config, std::span<const float> hidden, std::size_t columns,
                    std::size_t out_per_column, std::span<const float> out) {
  if (auto status = check_columns(columns); !status) {
    return status;
  }
  if (auto status = check_length("hidden", hidden.size(), columns * config.embedding_dim);
      !status) {
    return status;
  }
  return check_length("out", out.size(), columns * out_per_column);
}

Status check_rows(const GruConfig& config, std::span<const TokenId> rows) {
  for (const TokenId row : rows) {
    if (row >= config.vocabulary_size) {
      return bad("row " + std::to_string(row) + " is outside the vocabulary of " +
                 std::to_string(config.vocabulary_size));
    }
  }
  return {};
}

Error not_finite(const char* where) {
  return Error{ErrorCode::Corrupt,
               std::string("model: NaN or infinity in ") + where +
                   "; the weights or the state are damaged (laya inspect --verify)"};
}

}  // namespace laya::model
