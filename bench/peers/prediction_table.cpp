// libime's prediction table as a peer: what fcitx5 offers after a word was committed. Its language
// model cuts text into words too: word starts are where libime itself sees them.
//   {"segment": Han text}        -> {"words": [its words]}
//   {"before": text, "count": n} -> {"words": [words that may follow]}
//
// usage: prediction_table [LANGUAGE_MODEL]     (default: libime's own for zh_CN)
#include <libime/core/languagemodel.h>
#include <libime/core/lattice.h>
#include <libime/core/prediction.h>
#include <libime/core/userlanguagemodel.h>

#include <array>
#include <limits>
#include <memory>

#include "peer_lines.h"

namespace {

using laya::peers::Json;

constexpr std::size_t kLongestWord = 8;  // characters

bool is_han(std::string_view character) {
  return character.size() == 3 && static_cast<unsigned char>(character[0]) >= 0xE3 &&
         static_cast<unsigned char>(character[0]) <= 0xE9 && character >= "\u4e00" &&
         character <= "\u9fff";
}

std::vector<std::string> characters_of(const std::string& text) {
  std::vector<std::string> characters;
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const std::size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    characters.push_back(text.substr(i, length));
    i += length;
  }
  return characters;
}

class Peer {
 public:
  explicit Peer(std::unique_ptr<libime::UserLanguageModel> model) : model_(std::move(model)) {
    prediction_.setUserLanguageModel(model_.get());
  }

  Json answer(const Json& command) {
    if (command.contains("segment")) {
      return {{"words", segment(characters_of(command.at("segment").get<std::string>()))}};
    }
    std::vector<std::string> run = characters_of(command.at("before").get<std::string>());
    std::size_t begin = run.size();
    while (begin > 0 && is_han(run[begin - 1])) --begin;
    run.erase(run.begin(), run.begin() + static_cast<std::ptrdiff_t>(begin));
    if (run.empty()) return {{"words", Json::array()}};
    const std::vector<std::string> words = segment(run);
    libime::State state = model_->nullState();
    for (const std::string& word : words) {
      libime::State next;
      model_->score(state, libime::WordNode(word, model_->index(word)), next);
      state = next;
    }
    return {{"words", prediction_.predict(state, words, command.at("count").get<std::size_t>())}};
  }

 private:
  /// The likeliest cut into words by the language model; one best path a place.
  std::vector<std::string> segment(const std::vector<std::string>& characters) const {
    struct Place {
      float score = -std::numeric_limits<float>::infinity();
      std::size_t begin = 0;
      libime::State state;
    };
    std::vector<Place> places(characters.size() + 1);
    places[0].score = 0;
    places[0].state = model_->beginState();
    for (std::size_t i = 0; i < characters.size(); ++i) {
      std::string word;
      for (std::size_t j = i; j < std::min(characters.size(), i + kLongestWord); ++j) {
        word += characters[j];
        const libime::WordIndex index = model_->index(word);
        if (j > i && model_->isUnknown(index, word)) continue;
        Place next;
        next.score = places[i].score +
                     model_->score(places[i].state, libime::WordNode(word, index), next.state);
        next.begin = i;
        if (next.score > places[j + 1].score) places[j + 1] = next;
      }
    }
    std::vector<std::string> words;
    for (std::size_t end = characters.size(); end > 0; end = places[end].begin) {
      std::string word;
      for (std::size_t i = places[end].begin; i < end; ++i) word += characters[i];
      words.insert(words.begin(), word);
    }
    return words;
  }

  std::unique_ptr<libime::UserLanguageModel> model_;
  libime::Prediction prediction_;
};

}  // namespace

int main(int argc, char** argv) {
  try {
    auto model =
        argc > 1
            ? std::make_unique<libime::UserLanguageModel>(argv[1])
            : std::make_unique<libime::UserLanguageModel>(
                  libime::DefaultLanguageModelResolver::instance().languageModelFileForLanguage(
                      "zh_CN"));
    Peer peer(std::move(model));
    return laya::peers::serve({{"name", "libime's prediction table"}},
                              [&](const Json& command) { return peer.answer(command); });
  } catch (const std::exception& error) {
    std::cout << Json{{"missing", error.what()}}.dump() << std::endl;
    return 3;
  }
}
