#include "train/decision/decision_examples.h"

#include <algorithm>
#include <string>

#include "format/metadata.h"
#include "model/decision/decision_config.h"

namespace laya::train {
namespace {

constexpr std::uint64_t kMaxToken = (1U << 20) - 1;

/// A whole number up to `limit`, or nothing.
const nlohmann::json* number(const nlohmann::json& value, std::uint64_t limit) {
  return value.is_number_unsigned() && value.get<std::uint64_t>() <= limit ? &value : nullptr;
}

}  // namespace

DecisionExamples DecisionExamples::part(std::size_t from, std::size_t to) const {
  DecisionExamples part;
  part.vocabulary_size = vocabulary_size;
  part.actions = actions;
  part.first = {0};
  for (std::size_t i = from; i < to; ++i) {
    const std::span<const TokenId> tokens_of = window(i);
    part.tokens.insert(part.tokens.end(), tokens_of.begin(), tokens_of.end());
    part.first.push_back(static_cast<std::uint32_t>(part.tokens.size()));
    part.action.push_back(action[i]);
  }
  return part;
}

Result<DecisionExamples> parse_decision_examples(std::string_view text, std::string_view source) {
  DecisionExamples examples;
  examples.first = {0};
  std::size_t line_number = 0;
  const auto bad = [&](const std::string& what) {
    return Error{ErrorCode::Corrupt,
                 std::string(source) + ": line " + std::to_string(line_number) + ": " + what};
  };
  while (!text.empty()) {
    ++line_number;
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const auto json = format::parse_json(line, 4);
    if (!json || !json->is_object()) return bad("is no JSON object");
    const auto window = json->find("window");
    if (window == json->end() || !window->is_array() || window->empty() ||
        window->size() > kMaxExampleTokens) {
      return bad("'window' is no list of 1 to " + std::to_string(kMaxExampleTokens) + " tokens");
    }
    const std::size_t kept = std::min(window->size(), model::kMaxDecisionWindow);
    for (std::size_t i = 0; i < window->size(); ++i) {
      const nlohmann::json* token = number((*window)[i], kMaxToken);
      if (token == nullptr) {
        return bad("a token is no number of 0 to " + std::to_string(kMaxToken));
      }
      const auto id = token->get<TokenId>();
      examples.vocabulary_size = std::max(examples.vocabulary_size, id + 1);
      if (i >= window->size() - kept) examples.tokens.push_back(id);
    }
    const auto found = json->find("action");
    const nlohmann::json* action =
        found == json->end() ? nullptr : number(*found, model::kMaxDecisionActions - 1);
    if (action == nullptr) {
      return bad("'action' is no number of 0 to " + std::to_string(model::kMaxDecisionActions - 1));
    }
    examples.action.push_back(action->get<std::uint32_t>());
    examples.actions = std::max(examples.actions, examples.action.back() + 1);
    examples.first.push_back(static_cast<std::uint32_t>(examples.tokens.size()));
  }
  if (examples.action.empty()) {
    return Error{ErrorCode::Corrupt, std::string(source) + ": holds no decision"};
  }
  return examples;
}

}  // namespace laya::train
