// The optional parts of this build: which are in it, and what is lost without the others. The table is
// written by cmake/optional_parts.cmake when the build is configured.
#pragma once

#include <span>
#include <string_view>

namespace laya::apps {

/// One part that a build may lack, as CMake found it.
struct OptionalPart {
  std::string_view name;
  std::string_view lost;    ///< what does not work without it
  std::string_view reason;  ///< why it is absent; empty: it is built in
  std::string_view remedy;  ///< the command that brings it
};

/// Every part that was looked for. Constant; any thread.
std::span<const OptionalPart> optional_parts();

}  // namespace laya::apps
