#include "eval/evaluate_ghost.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "eval/ghost_match.h"
#include "eval/measured_share.h"
#include "eval/quantile.h"
#include "eval/typist.h"
#include "text/grapheme.h"

namespace laya::eval {
namespace {

using predict::Reply;

constexpr double kStep = 0.05;

struct Shown {
  float probability;
  bool right;
};

struct Measuring {
  explicit Measuring(const predict::Engine& engine) : typist(engine) {}

  Status line(std::string_view text);
  void key(const Reply& reply, std::string_view follows);

  Typist typist;
  MeasuredShare shown;
  MeasuredShare precision;
  MeasuredShare useful;
  MeasuredShare harm;
  std::vector<Shown> all;
  std::vector<float> key_us;
  double accepted = 0;
  double offered = 0;
  std::uint64_t deep = 0;
};

void Measuring::key(const Reply& reply, std::string_view follows) {
  key_us.push_back(reply.latency.total_us);
  shown.add(reply.has_ghost ? 1 : 0, 1);
  bool wrong = false;
  if (reply.has_ghost) {
    const GhostMatch match = match_ghost(reply.ghost.text, follows);
    precision.add(match.whole ? 1 : 0, 1);
    useful.add(match.accepted > 0 ? 1 : 0, 1);
    accepted += static_cast<double>(text::count_graphemes(follows.substr(0, match.accepted)));
    offered += static_cast<double>(text::count_graphemes(reply.ghost.text));
    deep += reply.ghost_tier == predict::Tier::Deep ? 1 : 0;
    all.push_back({std::exp(reply.ghost.log_prob), match.whole});
    wrong = !match.whole;
  }
  harm.add(wrong ? 1 : 0, 1);
}

Status Measuring::line(std::string_view text) {
  typist.new_line();
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t next = text::next_grapheme(text, at);
    key(typist.session.decide({.deep_wait_us = predict::kUntilDone}), text.substr(at));
    if (Status status = typist.type(text.substr(at, next - at)); !status) {
      return status;
    }
    at = next;
  }
  for (MeasuredShare* share : {&shown, &precision, &useful, &harm}) {
    share->next_line();
  }
  return {};
}

GhostResult::Share share_of(const MeasuredShare& measured) {
  return {measured.value(), measured.interval()};
}

std::vector<GhostResult::AtLeast> curve_of(const std::vector<Shown>& all, double keys) {
  std::vector<GhostResult::AtLeast> curve;
  for (int step = 0; step * kStep < 0.975; ++step) {
    const double least = step * kStep;
    double shown = 0;
    double right = 0;
    for (const Shown& ghost : all) {
      if (ghost.probability >= least) {
        shown += 1;
        right += ghost.right ? 1 : 0;
      }
    }
    if (shown == 0) {
      break;
    }
    if (!curve.empty() && curve.size() == 1 && shown == curve[0].shown * keys) {
      curve.clear();  // nothing was shown between: begin where it does
    }
    curve.push_back({least, shown / keys, right / shown, (shown - right) / keys});
  }
  return curve;
}

}  // namespace

Result<GhostResult> evaluate_ghost(const predict::Engine& engine,
                                   const std::vector<std::string>& lines,
                                   const GhostOptions& options) {
  const std::vector<std::string_view> chosen = chosen_lines(lines, options.max_lines);
  if (chosen.empty()) {
    return Error{ErrorCode::BadArgument, "eval ghost: the text has no line that is not blank"};
  }
  Measuring measuring(engine);
  for (std::size_t n = 0; n < chosen.size(); ++n) {
    if (Status status = measuring.line(chosen[n]); !status) {
      return status.error();
    }
    if (options.progress) {
      options.progress(n + 1, chosen.size());
    }
  }
  GhostResult result;
  result.lines = chosen.size();
  result.keys = static_cast<std::uint64_t>(measuring.shown.below());
  result.shown_count = measuring.all.size();
  result.shown = share_of(measuring.shown);
  result.precision = share_of(measuring.precision);
  result.useful = share_of(measuring.useful);
  result.harm = share_of(measuring.harm);
  const auto count = static_cast<double>(std::max<std::size_t>(1, measuring.all.size()));
  result.accepted_graphemes = measuring.accepted / count;
  result.shown_graphemes = measuring.offered / count;
  result.deep_shown = measuring.deep;
  result.curve = curve_of(measuring.all, measuring.shown.below());
  result.key_us_p50 = quantile(measuring.key_us, 0.5);
  result.key_us_p99 = quantile(measuring.key_us, 0.99);
  result.deep = measuring.typist.session.deep_statistics();
  return result;
}

std::string to_json(const GhostResult& result) {
  nlohmann::ordered_json json;
  json["lines"] = result.lines;
  json["keys"] = result.keys;
  json["shown_count"] = result.shown_count;
  const auto put = [&](const std::string& name, const GhostResult::Share& share) {
    json[name] = share.value;
    json[name + "_interval"] = to_json(share.interval);
  };
  put("shown", result.shown);
  put("precision", result.precision);
  put("useful", result.useful);
  put("harm", result.harm);
  json["accepted_graphemes"] = result.accepted_graphemes;
  json["shown_graphemes"] = result.shown_graphemes;
  json["deep_shown"] = result.deep_shown;
  json["curve"] = nlohmann::ordered_json::array();
  for (const GhostResult::AtLeast& at : result.curve) {
    json["curve"].push_back({{"p", at.probability},
                             {"shown", at.shown},
                             {"precision", at.precision},
                             {"harm", at.harm}});
  }
  json["key_us"] = {{"p50", result.key_us_p50}, {"p99", result.key_us_p99}};
  return json.dump();
}

}  // namespace laya::eval
