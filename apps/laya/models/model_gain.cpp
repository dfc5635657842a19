#include "laya/models/model_gain.h"

#include <cstdio>
#include <string>
#include <vector>

#include "base/printable.h"
#include "common/model_options.h"
#include "predict/session/session.h"

namespace laya::apps {
namespace {

constexpr std::size_t kShown = 3;
constexpr const char* kEnglish[] = {"I want to go to the ", "Thanks for your help, I really appr",
                                    "Could you please send me the lat"};
constexpr const char* kChinese[] = {"我们明天一起去", "谢谢你的", "I'm on my way, 大概"};

/// The list at the end of `text`, in one line.
std::string offers(const predict::Engine& engine, std::string_view text) {
  predict::Session session(engine);
  predict::FieldText field;
  field.before = text;
  session.set_text(field);
  predict::DecideOptions options;
  options.candidates = kShown;
  options.deep_wait_us = predict::kUntilDone;
  std::string line;
  for (const predict::Candidate& candidate : session.decide(options).candidates) {
    line += (line.empty() ? "" : ", ") + base::printable(candidate.text);
  }
  return line.empty() ? "nothing" : line;
}

}  // namespace

void print_gain(const catalog::Installed& installed, std::string_view languages) {
  setup::ModelOptions without;
  without.deep = "none";
  setup::ModelOptions with;
  with.deep = installed.path;
  const auto before = open_engine(without);
  const auto after = before ? open_engine(with) : before;
  if (!after) {
    std::printf("examples cannot be shown: %s\n", after.error().message.c_str());
    return;
  }
  std::vector<const char*> texts(std::begin(kEnglish), std::end(kEnglish));
  if (languages.find("zh") != std::string_view::npos) {
    texts.insert(texts.end(), std::begin(kChinese), std::end(kChinese));
  }
  std::printf("what it changes, by example:\n");
  for (const char* text : texts) {
    std::printf("  %s\xE2\x80\xA6\n    without  %s\n    with     %s\n", text,
                offers(**before, text).c_str(), offers(**after, text).c_str());
  }
}

}  // namespace laya::apps
