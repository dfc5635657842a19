#include "remote/remote_question.h"

#include <algorithm>

namespace laya::remote {

RemoteQuestion remote_question(std::string_view before) {
  RemoteQuestion question;
  question.space_kept_back = before.size() > 1 && before.ends_with(' ') &&
                             before[before.size() - 2] != ' ' && before[before.size() - 2] != '\n';
  if (question.space_kept_back) {
    before.remove_suffix(1);
  }
  question.prompt.assign(before);
  return question;
}

std::string fitting(const RemoteQuestion& question, std::string_view continuation) {
  while (continuation.ends_with(' ')) {
    continuation.remove_suffix(1);
  }
  const char last = question.prompt.empty() ? '\n' : question.prompt.back();
  const bool no_space_fits =
      last == '\n' || last == ' ' || (static_cast<unsigned char>(last) >= 0x80);
  if (question.space_kept_back && !continuation.starts_with(' ')) {
    return {};
  }
  if (continuation.starts_with(' ') && (question.space_kept_back || no_space_fits)) {
    continuation.remove_prefix(1);
    if (continuation.starts_with(' ')) {
      return {};
    }
  }
  return std::string(continuation);
}

}  // namespace laya::remote
