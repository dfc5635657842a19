#include "eval/ghost_cases.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/utf8.h"
#include "eval/interval_json.h"
#include "eval/lines.h"
#include "predict/session/session.h"

namespace laya::eval {
namespace {

constexpr std::size_t kFields = 4;

std::optional<std::string> unescaped(std::string_view field) {
  std::string text;
  for (std::size_t i = 0; i < field.size(); ++i) {
    if (field[i] != '\\') {
      text += field[i];
      continue;
    }
    ++i;
    if (i == field.size()) {
      return std::nullopt;
    }
    switch (field[i]) {
      case 'n':
        text += '\n';
        break;
      case 't':
        text += '\t';
        break;
      case '\\':
        text += '\\';
        break;
      default:
        return std::nullopt;
    }
  }
  return text;
}

Error at_line(std::size_t line, const std::string& what) {
  return {ErrorCode::BadArgument, "line " + std::to_string(line) + ": " + what};
}

Result<GhostCase> parse_case(std::string_view line, std::size_t number) {
  std::array<std::string, kFields> fields;
  for (std::size_t i = 0; i < kFields; ++i) {
    const std::size_t tab = line.find('\t');
    if ((tab == std::string_view::npos) != (i + 1 == kFields)) {
      return at_line(number, "wanted are kind, before, after and expected, divided by tabs");
    }
    const std::optional<std::string> field = unescaped(line.substr(0, tab));
    if (!field || !base::is_valid_utf8(*field)) {
      return at_line(number, "field " + std::to_string(i + 1) +
                                 " is no text (UTF-8; \\n, \\t and \\\\ are known)");
    }
    fields[i] = *field;
    line.remove_prefix(tab == std::string_view::npos ? line.size() : tab + 1);
  }
  GhostCase result{number, fields[0], fields[1], fields[2], {}, {}};
  if (fields[0].empty() || fields[3].empty()) {
    return at_line(number, "kind and expected (\"-\": silence) must not be empty");
  }
  if (fields[3] == "-") {
    return result;
  }
  std::string_view rest = fields[3];
  for (bool more = true; more;) {
    const std::size_t bar = rest.find('|');
    std::string_view text = rest.substr(0, bar);
    const bool forbids = text.starts_with('!');
    text.remove_prefix(forbids ? 1 : 0);
    if (text.empty()) {
      return at_line(number, "an expected text is empty");
    }
    (forbids ? result.forbidden : result.wanted).emplace_back(text);
    more = bar != std::string_view::npos;
    rest.remove_prefix(more ? bar + 1 : rest.size());
  }
  if (!result.wanted.empty() && !result.forbidden.empty()) {
    return at_line(number, "either wanted or forbidden texts, not both");
  }
  return result;
}

enum class Verdict { AsExpected, Wrong, Silent };

Verdict judge(const GhostCase& asked, std::string_view ghost) {
  const std::string shown = lowered(ghost);
  if (!asked.forbidden.empty()) {
    const bool said = std::any_of(
        asked.forbidden.begin(), asked.forbidden.end(),
        [&](const std::string& text) { return shown.find(lowered(text)) != std::string::npos; });
    return said ? Verdict::Wrong : Verdict::AsExpected;
  }
  if (asked.wanted.empty()) {
    return shown.empty() ? Verdict::AsExpected : Verdict::Wrong;
  }
  if (shown.empty()) {
    return Verdict::Silent;
  }
  const bool right =
      std::any_of(asked.wanted.begin(), asked.wanted.end(),
                  [&](const std::string& text) { return shown.starts_with(lowered(text)); });
  return right ? Verdict::AsExpected : Verdict::Wrong;
}

void count(Verdict verdict, GhostCasesResult::Kind* kind) {
  ++kind->cases;
  kind->as_expected += verdict == Verdict::AsExpected ? 1 : 0;
  kind->wrong += verdict == Verdict::Wrong ? 1 : 0;
  kind->silent += verdict == Verdict::Silent ? 1 : 0;
  kind->points += verdict == Verdict::AsExpected ? 1
                  : verdict == Verdict::Silent   ? GhostCasesResult::kSilentPoints
                                                 : 0;
}

}  // namespace

Result<std::vector<GhostCase>> parse_ghost_cases(std::string_view text) {
  std::vector<GhostCase> cases;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('\r')) {
      line.remove_suffix(1);
    }
    if (line.empty() || line.front() == '#') {
      continue;
    }
    Result<GhostCase> parsed = parse_case(line, number);
    if (!parsed) {
      return std::move(parsed).error();
    }
    cases.push_back(std::move(parsed).value());
  }
  return cases;
}

Result<GhostCasesResult> evaluate_ghost_cases(const predict::Engine& engine,
                                              const std::vector<GhostCase>& cases) {
  if (cases.empty()) {
    return Error{ErrorCode::BadArgument, "eval ghost: there are no cases"};
  }
  GhostCasesResult result;
  predict::Session session(engine);
  std::uint64_t revision = 0;
  for (const GhostCase& asked : cases) {
    session.clear();
    session.set_text({.revision = ++revision, .before = asked.before, .after = asked.after});
    const predict::Reply& reply = session.decide({.deep_wait_us = predict::kUntilDone});
    const std::string_view ghost = reply.has_ghost ? reply.ghost.text : std::string_view{};
    const Verdict verdict = judge(asked, ghost);
    count(verdict, &result.kinds[asked.kind]);
    count(verdict, &result.all);
    if (verdict != Verdict::AsExpected) {
      result.failures.push_back({asked.line, asked.kind, std::string(ghost)});
    }
  }
  result.as_expected_interval = wilson(result.all.as_expected, result.all.cases);
  return result;
}

std::string to_json(const GhostCasesResult& result) {
  const auto kind_json = [](const GhostCasesResult::Kind& kind) {
    const auto cases = static_cast<double>(std::max<std::size_t>(1, kind.cases));
    return nlohmann::ordered_json{{"cases", kind.cases},
                                  {"as_expected", static_cast<double>(kind.as_expected) / cases},
                                  {"wrong", static_cast<double>(kind.wrong) / cases},
                                  {"silent", static_cast<double>(kind.silent) / cases},
                                  {"score", kind.points / cases}};
  };
  nlohmann::ordered_json json = kind_json(result.all);
  json["as_expected_interval"] = to_json(result.as_expected_interval);
  json["kinds"] = nlohmann::ordered_json::object();
  for (const auto& [name, kind] : result.kinds) {
    json["kinds"][name] = kind_json(kind);
  }
  json["failures"] = nlohmann::ordered_json::array();
  for (const GhostCasesResult::Failure& failure : result.failures) {
    json["failures"].push_back(
        {{"line", failure.line}, {"kind", failure.kind}, {"shown", failure.shown}});
  }
  return json.dump();
}

}  // namespace laya::eval
