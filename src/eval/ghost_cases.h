// Cases in which the ghost must be silent, or must be right: our own, testdata/eval/ghost.tsv.
//
// One case a line: kind<TAB>before<TAB>after<TAB>expected. `before` and `after` are the text around
// the caret (\n, \t and \\ as written in C). `expected` is "-" for silence, or texts divided by '|'
// with one of which the ghost must begin. '!' before a text forbids it: the ghost may say anything
// else, or nothing. Lines that begin with '#' are comments.
//
// A case gives 1 point for what was expected, 0 for a wrong ghost, and 0.3 for silence where a
// ghost was expected: neither showing always nor never showing wins (the shape of Cotabby's
// evaluation).
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "eval/interval.h"
#include "predict/engine/engine.h"

namespace laya::eval {

struct GhostCase {
  std::size_t line = 0;  ///< in the file, from 1
  std::string kind;      ///< "mid-word", "code", …
  std::string before;
  std::string after;
  std::vector<std::string> wanted;     ///< empty: silence
  std::vector<std::string> forbidden;  ///< then `wanted` is empty and other ghosts are right
};

/// BadArgument names the line and the field.
Result<std::vector<GhostCase>> parse_ghost_cases(std::string_view text);

struct GhostCasesResult {
  static constexpr double kSilentPoints = 0.3;  ///< where a ghost was expected

  struct Kind {
    std::size_t cases = 0;
    std::size_t as_expected = 0;
    std::size_t wrong = 0;   ///< shown where silence was expected, or something else
    std::size_t silent = 0;  ///< where a ghost was expected
    double points = 0;
  };
  struct Failure {
    std::size_t line;
    std::string kind;
    std::string shown;  ///< empty: silence
  };
  std::map<std::string, Kind> kinds;
  Kind all;
  Interval as_expected_interval = {};
  std::vector<Failure> failures;  ///< every case that was not as expected
};

/// Asks a fresh field for each case, the decoder waited for. BadArgument for no cases.
Result<GhostCasesResult> evaluate_ghost_cases(const predict::Engine& engine,
                                              const std::vector<GhostCase>& cases);

/// {"cases":…,"as_expected":…,"as_expected_interval":[…],"wrong":…,"silent":…,"score":…,
/// "kinds":{…},"failures":[{"line":…,"kind":…,"shown":…}]}; shares.
std::string to_json(const GhostCasesResult& result);

}  // namespace laya::eval
