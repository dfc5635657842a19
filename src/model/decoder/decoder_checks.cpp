#include "model/decoder/decoder_checks.h"

#include <string>

#include "model/core/workspace.h"

namespace laya::model {
namespace {

Error bad(const std::string& what) { return Error{ErrorCode::BadArgument, "decoder: " + what}; }

}  // namespace

Status check_scores(const DecoderConfig& config, std::span<const float> hidden, std::size_t columns,
                    std::size_t out_per_column, std::span<const float> out) {
  if (columns < 1 || columns > kMaxColumns) {
    return bad(std::to_string(columns) + " columns, allowed are 1 to " +
               std::to_string(kMaxColumns));
  }
  if (hidden.size() != columns * config.hidden_dim) {
    return bad("hidden has " + std::to_string(hidden.size()) + " numbers, " +
               std::to_string(columns * config.hidden_dim) + " are needed");
  }
  if (out.size() != columns * out_per_column) {
    return bad("out has " + std::to_string(out.size()) + " numbers, " +
               std::to_string(columns * out_per_column) + " are needed");
  }
  return {};
}

Status check_rows(const DecoderConfig& config, std::span<const TokenId> rows) {
  for (const TokenId row : rows) {
    if (row >= config.vocabulary_size) {
      return bad("row " + std::to_string(row) + " is outside the vocabulary of " +
                 std::to_string(config.vocabulary_size));
    }
  }
  return {};
}

}  // namespace laya::model
