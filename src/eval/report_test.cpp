#include <gtest/gtest.h>

#include <algorithm>

#include "eval/report_data.h"
#include "eval/report_page.h"
#include "eval/report_plot.h"

namespace laya::eval {
namespace {

constexpr std::string_view kLines =
    R"({"measure":"ksr","set":"frozen","text":"en","version":"0.2.0","lines":3,"keystrokes":90,"saved":{"1":0.4,"3":0.5},"saved_interval":{"1":[0.38,0.42],"3":[0.47,0.53]},"sources":{"3":{"both":{"picks":4,"saved":0.3},"deep":{"picks":1,"saved":0.2}}},"key_us":{"p50":300,"p99":900},"deep_model":"some-decoder","instant":{"saved":{"3":0.45},"saved_interval":{"3":[0.4,0.5]},"key_us":{"p50":200,"p99":800}}}
{"measure":"next","set":"frozen","text":"en","words":[{"letters":0,"top1":0.2,"top1_interval":[0.1,0.3],"top3":0.4},{"letters":1,"top1":0.5,"top3":0.7}],"deep_model":null,"instant":null}
{"measure":"ghost","set":"replay","text":"a<b>&\"c\".jsonl","precision":0.6,"precision_interval":[0.5,0.7],"curve":[{"p":0.3,"shown":0.2,"precision":0.6,"harm":0.08},{"p":0.6,"shown":0.1,"precision":0.8,"harm":0.02}]}
{"lines":10,"keystrokes":50,"systems":[{"name":"presage","saved":{"3":0.3},"saved_interval":{"3":[0.2,0.4]},"key_us":{"p50":4000,"p99":9000}}]}
)";

const Figure* find(const Results& results, std::string_view system, std::string_view name) {
  for (const Figure& figure : results.figures) {
    if (figure.system == system && figure.name == name) return &figure;
  }
  return nullptr;
}

TEST(Report, ReadsFiguresWithTheirIntervalsAndSystems) {
  const Result<Results> results = parse_results(kLines);
  ASSERT_TRUE(results);
  EXPECT_EQ(results->version, "0.2.0");
  const Figure* saved = find(*results, "some-decoder", "saved.3");
  ASSERT_NE(saved, nullptr);
  EXPECT_DOUBLE_EQ(saved->value, 0.5);
  EXPECT_EQ(saved->set, "frozen");
  ASSERT_TRUE(saved->interval);
  EXPECT_DOUBLE_EQ(saved->interval->low, 0.47);
  ASSERT_NE(find(*results, "instant", "saved.3"), nullptr);
  ASSERT_NE(find(*results, "instant", "words.1.top3"), nullptr);
  const Figure* peer = find(*results, "presage", "saved.3");
  ASSERT_NE(peer, nullptr);
  EXPECT_EQ(peer->measure, "ksr");
  ASSERT_EQ(results->curves.size(), 1U);
  EXPECT_DOUBLE_EQ(results->curves[0].points[1].precision, 0.8);
  ASSERT_EQ(results->sources.size(), 1U);
  EXPECT_DOUBLE_EQ(results->sources[0].saved.at("deep"), 0.2);
}

TEST(Report, NamesTheLineThatIsNoResult) {
  EXPECT_EQ(parse_results("{}\n[1]\n").error().message.substr(0, 7), "line 2:");
  EXPECT_EQ(parse_results("{\"a\":").error().code, ErrorCode::Corrupt);
}

TEST(Report, RefersToNothingOutside) {
  const Results now = parse_results(kLines).value();
  const std::string page = report_page(now, now);
  for (const char* outside : {"http:", "https:", "src=", "href=", "url(", "@import", "<script",
                              "<link", "<iframe", "xlink", "//"}) {
    EXPECT_EQ(page.find(outside), std::string::npos) << outside;
  }
}

// Every element that is opened is closed, in order: a page that a browser need not mend.
TEST(Report, IsWellFormed) {
  const Results now = parse_results(kLines).value();
  const std::string page = report_page(now, {});
  std::vector<std::string> open;
  for (std::size_t at = page.find('<'); at != std::string::npos; at = page.find('<', at + 1)) {
    const std::size_t end = page.find('>', at);
    ASSERT_NE(end, std::string::npos);
    const std::string tag = page.substr(at + 1, end - at - 1);
    if (tag.starts_with('!') || tag.starts_with("meta") || tag.ends_with('/')) continue;
    if (tag.starts_with('/')) {
      ASSERT_FALSE(open.empty());
      ASSERT_EQ(open.back(), tag.substr(1)) << "at byte " << at;
      open.pop_back();
    } else {
      open.push_back(tag.substr(0, tag.find(' ')));
    }
  }
  EXPECT_TRUE(open.empty());
}

TEST(Report, EscapesNames) {
  const std::string page = report_page(parse_results(kLines).value(), {});
  EXPECT_EQ(page.find("a<b>"), std::string::npos);
  EXPECT_NE(page.find("a&lt;b&gt;&amp;&quot;c&quot;.jsonl"), std::string::npos);
}

TEST(Report, KeepsFrozenReplayAndOtherTextApart) {
  const std::string page = report_page(parse_results(kLines).value(), {});
  const std::size_t frozen = page.find("The frozen set");
  const std::size_t replay = page.find("The replay set");
  const std::size_t other = page.find("Other text");
  ASSERT_LT(frozen, replay);
  ASSERT_LT(replay, other);
  ASSERT_NE(other, std::string::npos);
  EXPECT_EQ(page.substr(frozen, replay - frozen).find("presage"), std::string::npos);
}

TEST(Report, ShowsTheLastReleaseBesideAndTheDifference) {
  const Results now = parse_results(kLines).value();
  Results before = now;
  for (Figure& figure : before.figures) figure.value -= 0.05;
  before.version = "0.1.0";
  const std::string page = report_page(now, before);
  EXPECT_NE(page.find("last release: 45.00"), std::string::npos);
  EXPECT_NE(page.find("<td class=\"n\">5.00</td>"), std::string::npos);
  EXPECT_EQ(report_page(now, {}).find("last release: "), std::string::npos);
}

TEST(Report, PlotsSurviveEqualAndEmptyValues) {
  EXPECT_EQ(dot_plot({{"a", 0}, {"b", 0}}, "x").find("nan"), std::string::npos);
  EXPECT_EQ(scatter_plot({{"a", 7.4, 5}}, "x", "y", 7.4, "m").find("nan"), std::string::npos);
  EXPECT_EQ(bar_plot({{"a", {}}}, {}, "x").find("nan"), std::string::npos);
  EXPECT_EQ(line_plot({{.label = "a", .points = {{1, 1}}}}, "x", "y").find("nan"),
            std::string::npos);
}

}  // namespace
}  // namespace laya::eval
