#include "remote/completion_answer.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/printable.h"
#include "base/utf8.h"

namespace laya::remote {
namespace {

using Json = nlohmann::json;

/// Nothing in it is unseen or changes how its neighbours look: what is accepted is what was read.
bool may_be_shown(std::string_view text) {
  for (const base::Decoded& code : base::CodePoints(text)) {
    if (base::is_deceptive(code.code_point)) return false;
  }
  return text.find_first_not_of(' ') != std::string_view::npos && base::is_valid_utf8(text) &&
         base::printable(text) == text;  // joiners only where they join something
}

}  // namespace

std::string completion_request(std::string_view model, std::string_view prompt, std::size_t tokens,
                               std::size_t count) {
  const Json body = {
      {"model", model},   {"prompt", prompt}, {"max_tokens", tokens},       {"n", count},
      {"temperature", 0}, {"stream", false},  {"stop", Json::array({"\n"})}};
  return body.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<std::vector<std::string>> parse_completions(std::string_view body, std::size_t most) {
  if (body.size() > kMaxAnswerBytes) {
    return Error{ErrorCode::TooLarge, "completion server: the answer has more than " +
                                          std::to_string(kMaxAnswerBytes) + " bytes"};
  }
  // Depth is bounded before parsing: the parser recurses into nothing, but its values are freed so.
  std::size_t depth = 0;
  for (const char c : body) {
    depth += c == '[' || c == '{' ? 1 : 0;
  }
  if (depth > 4096) {
    return Error{ErrorCode::Corrupt, "completion server: the answer is nested too deeply"};
  }
  const Json json = Json::parse(body, nullptr, false);
  const auto choices = json.is_object() ? json.find("choices") : json.end();
  if (json.is_discarded() || !json.is_object() || choices == json.end() || !choices->is_array()) {
    return Error{ErrorCode::Corrupt, "completion server: the answer has no field \"choices\""};
  }
  std::vector<std::string> texts;
  for (const Json& choice : *choices) {
    const auto text = choice.is_object() ? choice.find("text") : choice.end();
    if (!choice.is_object() || text == choice.end() || !text->is_string()) {
      return Error{ErrorCode::Corrupt, "completion server: choices[].text is not a string"};
    }
    std::string line = text->get<std::string>();
    line.resize(std::min(line.find_first_of("\r\n"), line.size()));
    if (line.size() > kMaxContinuationBytes) {
      line.resize(
          base::complete_utf8_length(std::string_view(line).substr(0, kMaxContinuationBytes)));
    }
    if (may_be_shown(line) && texts.size() < most &&
        std::find(texts.begin(), texts.end(), line) == texts.end()) {
      texts.push_back(std::move(line));
    }
  }
  return texts;
}

}  // namespace laya::remote
