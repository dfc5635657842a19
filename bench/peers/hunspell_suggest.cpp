// hunspell as a peer: what it offers for a word, by its own library with its own American English
// dictionary.
//   {"word": text} -> {"words": [offers, best first]}; none where it knows the word
//
// usage: hunspell_suggest [AFFIXES DICTIONARY]
#include <fstream>
#include <hunspell/hunspell.hxx>

#include "peer_lines.h"

int main(int argc, char** argv) {
  const char* affixes = argc > 2 ? argv[1] : "/usr/share/hunspell/en_US.aff";
  const char* dictionary = argc > 2 ? argv[2] : "/usr/share/hunspell/en_US.dic";
  if (!std::ifstream(affixes) || !std::ifstream(dictionary)) {
    std::cout
        << laya::peers::Json{{"missing", "hunspell's dictionary en_US (hunspell-en-us)"}}.dump()
        << std::endl;
    return 0;
  }
  Hunspell hunspell(affixes, dictionary);
  return laya::peers::serve({{"name", "hunspell"}}, [&](const laya::peers::Json& command) {
    const auto word = command.at("word").get<std::string>();
    const bool known = hunspell.spell(word);
    return laya::peers::Json{
        {"words", known ? std::vector<std::string>{} : hunspell.suggest(word)}};
  });
}
