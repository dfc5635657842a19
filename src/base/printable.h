// Shows text that nobody vouches for.
#pragma once

#include <string>
#include <string_view>

namespace laya::base {

/// Text made safe for a terminal: ill-formed bytes and control characters (newline included) are
/// replaced, so that nothing in a text can move the cursor or change colours.
std::string printable(std::string_view text);

}  // namespace laya::base
