// What `laya eval … --json` printed, read back for the report: figures with a name, a system, a
// text.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "eval/interval.h"

namespace laya::eval {

/// One number of one system on one text.
struct Figure {
  std::string measure;  ///< "ksr", "next", …
  std::string set;      ///< "frozen", "replay" or "file"
  std::string text;     ///< the file's name, or "en", "zh"
  std::string system;   ///< "instant", the decoder's name, a peer's name
  std::string name;     ///< where it stood in the JSON: "saved.3", "words.0.top1"
  double value = 0;
  std::optional<Interval> interval;
};

/// One threshold of a ghost's curve (GhostResult::AtLeast).
struct CurvePoint {
  double probability = 0;
  double shown = 0;
  double precision = 0;
  double harm = 0;
};

struct GhostCurve {
  std::string set;
  std::string text;
  std::string system;
  std::vector<CurvePoint> points;
};

/// Keys saved by accepting from each source, as shares of all keys.
struct SourceShares {
  std::string set;
  std::string text;
  std::string system;
  std::string slots;
  std::map<std::string, double> saved;
};

struct Results {
  std::vector<Figure> figures;
  std::vector<GhostCurve> curves;
  std::vector<SourceShares> sources;
  std::string version;  ///< of the first line that says it
};

/// Reads JSON lines of any of the measures; later lines replace earlier figures of the same name.
/// Errors name the line: Corrupt for what is no JSON object, TooLarge beyond 4 MiB a line.
Result<Results> parse_results(std::string_view lines);

}  // namespace laya::eval
