// libime as people type into it, key by key: for `laya eval pinyin`. Answers a line
// {"typed":"nihao"} by {"first":["你好",…],"key_ns":[…]}: its first five readings of all the
// letters, and the time from each key to its list. The settings are those of fcitx5's pinyin engine
// (n-best 2 there; here 5, for five are compared).
//
// usage: libime_keys [DICTIONARY [LANGUAGE_MODEL]]
#include <libime/core/lattice.h>
#include <libime/core/userlanguagemodel.h>
#include <libime/pinyin/pinyincontext.h>
#include <libime/pinyin/pinyindictionary.h>
#include <libime/pinyin/pinyinime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace {

constexpr std::size_t kFirst = 5;

nlohmann::json answer(libime::PinyinIME& ime, const std::string& typed) {
  libime::PinyinContext context(&ime);
  context.setMaxSentenceLength(0x7FFF);  // its default looks back over the last syllables only
  nlohmann::json times = nlohmann::json::array();
  for (const char key : typed) {
    const auto begin = std::chrono::steady_clock::now();
    context.type(std::string(1, key));
    context.candidates();
    times.push_back(std::chrono::duration_cast<std::chrono::nanoseconds>(
                        std::chrono::steady_clock::now() - begin)
                        .count());
  }
  std::vector<std::string> first;
  for (const libime::SentenceResult& candidate : context.candidates()) {
    if (candidate.sentence().empty() ||
        candidate.sentence().back()->to()->index() != context.size()) {
      continue;  // a word for the first syllables only
    }
    std::string text = candidate.toString();
    if (first.size() < kFirst && std::find(first.begin(), first.end(), text) == first.end()) {
      first.push_back(std::move(text));
    }
  }
  return {{"first", first}, {"key_ns", times}};
}

int run(int argc, char** argv) {
  auto dictionary = std::make_unique<libime::PinyinDictionary>();
  dictionary->load(libime::PinyinDictionary::SystemDict,
                   argc > 1 ? argv[1] : "/usr/share/libime/sc.dict",
                   libime::PinyinDictFormat::Binary);
  auto model =
      argc > 2 ? std::make_unique<libime::UserLanguageModel>(argv[2])
               : std::make_unique<libime::UserLanguageModel>(
                     libime::DefaultLanguageModelResolver::instance().languageModelFileForLanguage(
                         "zh_CN"));
  libime::PinyinIME ime(std::move(dictionary), std::move(model));
  ime.setNBest(kFirst);
  ime.setScoreFilter(1e6F, -1e6F);  // keep all of the n best
  for (std::string line; std::getline(std::cin, line);) {
    const auto command = nlohmann::json::parse(line);
    std::cout << answer(ime, command.at("typed").get<std::string>()).dump() << std::endl;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "libime_keys: %s\n", error.what());
    return 1;
  }
}
