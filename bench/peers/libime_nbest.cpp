// libime's own answers to whole pinyin sentences, for comparison: the input method that most Linux
// desktops use, called directly. Reads lines `pinyin<TAB>expected`, writes lines
// `pinyin<TAB>expected{<TAB>candidate<TAB>score}`, best first by libime; score is its own (log10).
// Only candidates that spell the whole of the pinyin are written. Lines that begin with # (the text
// before a sentence, which libime does not ask for) are handed on.
//
// usage: libime_nbest [COUNT [DICTIONARY LANGUAGE_MODEL]] < pinyin.tsv > nbest.tsv
#include <fcitx-utils/log.h>
#include <libime/core/languagemodel.h>
#include <libime/core/lattice.h>
#include <libime/core/userlanguagemodel.h>
#include <libime/pinyin/pinyincontext.h>
#include <libime/pinyin/pinyindictionary.h>
#include <libime/pinyin/pinyinime.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <memory>
#include <string>
#include <unordered_set>

namespace {

void write_answers(libime::PinyinIME& ime, const std::string& line, std::size_t count) {
  const std::size_t tab = line.find('\t');
  if (tab == std::string::npos) {
    return;
  }
  libime::PinyinContext context(&ime);
  context.setMaxSentenceLength(0x7FFF);  // its default looks back over the last syllables only
  context.type(line.substr(0, tab));
  std::cout << line;
  std::unordered_set<std::string> written;
  for (const libime::SentenceResult& candidate : context.candidates()) {
    if (candidate.sentence().back()->to()->index() != context.size()) {
      continue;  // a word for the first syllables only
    }
    std::string text = candidate.toString();
    if (written.size() < count && written.insert(text).second) {
      std::cout << '\t' << text << '\t' << candidate.score();
    }
  }
  std::cout << '\n';
}

int run(int argc, char** argv) {
  const std::size_t count = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 20;
  const char* dictionary_path = argc > 2 ? argv[2] : "/usr/share/libime/sc.dict";
  auto dictionary = std::make_unique<libime::PinyinDictionary>();
  dictionary->load(libime::PinyinDictionary::SystemDict, dictionary_path,
                   libime::PinyinDictFormat::Binary);
  auto model =
      argc > 3 ? std::make_unique<libime::UserLanguageModel>(argv[3])
               : std::make_unique<libime::UserLanguageModel>(
                     libime::DefaultLanguageModelResolver::instance().languageModelFileForLanguage(
                         "zh_CN"));
  libime::PinyinIME ime(std::move(dictionary), std::move(model));
  ime.setNBest(count);
  ime.setBeamSize(std::max<std::size_t>(count, ime.beamSize()));
  ime.setFrameSize(std::max<std::size_t>(2 * count, ime.frameSize()));
  ime.setScoreFilter(1e6F, -1e6F);  // keep all of the n best

  const auto begin = std::chrono::steady_clock::now();
  std::size_t lines = 0;
  for (std::string line; std::getline(std::cin, line); ++lines) {
    if (line.starts_with('#')) {
      std::cout << line << '\n';
    } else {
      write_answers(ime, line, count);
    }
  }
  const std::chrono::duration<double, std::milli> spent = std::chrono::steady_clock::now() - begin;
  std::fprintf(stderr, "libime: %zu sentences, %.2f ms each\n", lines,
               lines > 0 ? spent.count() / static_cast<double>(lines) : 0.0);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "libime_nbest: %s\n", error.what());
    return 1;
  }
}
