// What a completion server is asked about a text, and what of its answer fits at the caret.
#pragma once

#include <string>
#include <string_view>

namespace laya::remote {

struct RemoteQuestion {
  std::string prompt;
  /// The text ends in a space that the prompt lacks: models begin a word with its space, and
  /// continue a text that ends in one badly. What comes has to begin with it.
  bool space_kept_back = false;
};

/// `before`: the text left of the caret, whole characters.
RemoteQuestion remote_question(std::string_view before);

/// What accepting `continuation` of that question adds at the caret; "" where it does not fit
/// (another word was continued than the text has) or adds nothing. One space at most is taken off
/// its beginning, where the text has it or is Chinese; spaces at its end are.
std::string fitting(const RemoteQuestion& question, std::string_view continuation);

}  // namespace laya::remote
