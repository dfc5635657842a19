#include "remote/completion_answer.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/utf8.h"

namespace laya::remote {
namespace {

using Json = nlohmann::json;

bool may_be_shown(std::string_view text) {
  if (text.empty() || !base::is_valid_utf8(text)) {
    return false;
  }
  bool letters = false;
  for (const base::Decoded& code : base::CodePoints(text)) {
    const char32_t c = code.code_point;
    if (c < 0x20 || (c >= 0x7F && c < 0xA0) || (c >= 0x200B && c <= 0x200F) ||
        (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069)) {
      return false;  // control characters, and those that turn the direction of text
    }
    letters = letters || c != U' ';
  }
  return letters;
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
