// The module laya_libime.so, which alone links libime; libime_module.cpp loads it.
#include "pinyin/libime_data.h"

#include <libime/core/languagemodel.h>
#include <libime/core/lattice.h>
#include <libime/pinyin/pinyindictionary.h>
#include <libime/pinyin/pinyinencoder.h>

#include <array>
#include <cstring>
#include <exception>
#include <filesystem>
#include <utility>

namespace laya::pinyin {
namespace {

constexpr float kLn10 = 2.302585093F;
constexpr const char* kDictionary = "/usr/share/libime/sc.dict";

class LibimeWords final : public WordModel {
 public:
  explicit LibimeWords(std::shared_ptr<const libime::StaticLanguageModelFile> file)
      : model_(std::move(file)) {}

  WordState start() const override { return to_ours(model_.beginState()); }
  std::uint32_t find(std::string_view word) const override { return model_.index(word); }
  std::uint32_t unknown() const override { return model_.unknown(); }

  float log_prob(const WordState& before, std::uint32_t word, WordState* after) const override {
    static_assert(sizeof(libime::State) <= sizeof(WordState::bytes));
    libime::State from;
    libime::State to;
    std::memcpy(from.data(), before.bytes.data(), from.size());
    const libime::WordNode node({}, word);  // an empty string: nothing is allocated
    const float score = model_.score(from, node, to);
    std::memcpy(after->bytes.data(), to.data(), to.size());
    return kLn10 * score;
  }

  WordState nothing_before() const { return to_ours(model_.nullState()); }

 private:
  static WordState to_ours(const libime::State& state) {
    WordState ours;
    std::memcpy(ours.bytes.data(), state.data(), state.size());
    return ours;
  }
  libime::LanguageModel model_;
};

/// The syllables of libime's two-byte codes.
class Codes {
 public:
  Codes() {
    known_.fill(kNoSyllable);
    using libime::PinyinEncoder;
    for (char initial = PinyinEncoder::firstInitial; initial <= PinyinEncoder::lastInitial;
         ++initial) {
      for (char final = PinyinEncoder::firstFinal; final <= PinyinEncoder::lastFinal; ++final) {
        const auto first = static_cast<libime::PinyinInitial>(initial);
        const auto second = static_cast<libime::PinyinFinal>(final);
        if (PinyinEncoder::isValidInitialFinal(first, second)) {
          std::string letters =
              PinyinEncoder::initialToString(first) + PinyinEncoder::finalToString(second);
          known_[place(initial, final)] = find_syllable(letters);
        }
      }
    }
  }
  SyllableId find(char initial, char final) const { return known_[place(initial, final)]; }

 private:
  static std::size_t place(char initial, char final) {
    return static_cast<std::size_t>(static_cast<unsigned char>(initial)) * 256 +
           static_cast<unsigned char>(final);
  }
  std::array<SyllableId, 65536> known_{};
};

Result<Lexicon> read_lexicon(const libime::PinyinDictionary& dictionary, const LibimeWords& words) {
  const auto codes = std::make_unique<Codes>();
  const auto* trie = dictionary.trie(libime::PinyinDictionary::SystemDict);
  const WordState nothing = words.nothing_before();
  LexiconBuilder builder;
  std::string entry;
  std::vector<SyllableId> syllables;
  Status done;
  trie->foreach ([&](float cost, std::size_t length, libime::PinyinTrie::position_type position) {
    trie->suffix(entry, length, position);
    const std::size_t end = entry.find('!');
    if (end == std::string::npos || end % 2 != 0 || end / 2 > LexiconBuilder::kMaxSyllables) {
      return true;
    }
    syllables.clear();
    for (std::size_t i = 0; i < end; i += 2) {
      syllables.push_back(codes->find(entry[i], entry[i + 1]));
      if (syllables.back() == kNoSyllable) return true;
    }
    const std::string_view text = std::string_view(entry).substr(end + 1);
    const std::uint32_t word = words.find(text);
    WordState after;
    const float log_prob = words.log_prob(nothing, word, &after);
    done = builder.add(syllables, text, word, kLn10 * cost, log_prob + kLn10 * cost);
    return done.has_value();
  });
  if (!done) return done.error();
  return builder.build();
}

Result<PinyinData> load(const std::string& dictionary_path, const std::string& model_path) {
  libime::PinyinDictionary dictionary;
  dictionary.load(libime::PinyinDictionary::SystemDict, dictionary_path.c_str(),
                  libime::PinyinDictFormat::Binary);
  auto file =
      model_path.empty()
          ? libime::DefaultLanguageModelResolver::instance().languageModelFileForLanguage("zh_CN")
          : std::make_shared<const libime::StaticLanguageModelFile>(model_path.c_str());
  if (file == nullptr) {
    return Error{ErrorCode::Io,
                 "pinyin: libime finds no language model for zh_CN; install "
                 "libime-data-language-model"};
  }
  auto words = std::make_unique<LibimeWords>(std::move(file));
  Result<Lexicon> lexicon = read_lexicon(dictionary, *words);
  if (!lexicon) return lexicon.error();
  return PinyinData{std::move(*lexicon), std::move(words)};
}

}  // namespace

namespace {

Result<PinyinData> load_checked(const LibimePaths& paths) {
  const std::string dictionary = paths.dictionary.empty() ? kDictionary : paths.dictionary;
  for (const std::string& path : {dictionary, paths.model}) {
    std::error_code ignored;
    if (!path.empty() && !std::filesystem::is_regular_file(path, ignored)) {
      return Error{ErrorCode::Io, path +
                                      ": no such file; libime's data is in the packages "
                                      "libime-data and libime-data-language-model"};
    }
  }
  try {
    return load(dictionary, paths.model);
  } catch (const std::exception& error) {
    return Error{ErrorCode::Corrupt, dictionary + ": libime: " + error.what()};
  }
}

}  // namespace

extern "C" void laya_libime_load(const LibimePaths& paths, Result<PinyinData>* data) {
  *data = load_checked(paths);
}

}  // namespace laya::pinyin
