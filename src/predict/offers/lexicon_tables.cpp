#include "predict/offers/lexicon_tables.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>

#include "predict/source/casing.h"
#include "text/units.h"

namespace laya::predict {
namespace {

constexpr float kCodeStep = 0.08F;  // nats: 254 codes reach down to e^-20
constexpr std::uint8_t kNeverBest = 255;
constexpr double kUnseenLetters = 0.3;  // of every continuation, on top of what was counted

struct Word {
  std::string key;
  std::string written;
  double form_weight = 0;
  double weight = 0;
  bool is_silent = true;
};

std::vector<Word> merged(std::span<const LexiconEntry> entries) {
  std::vector<Word> words;
  words.reserve(entries.size());
  for (const LexiconEntry& entry : entries) {
    Word word;
    text::append_lower(entry.written, &word.key);
    if (word.key.empty() || word.key.size() > kLexiconMaxWordBytes || !(entry.weight > 0)) {
      continue;
    }
    word.written = entry.written.size() == word.key.size() ? entry.written : word.key;
    word.weight = word.form_weight = entry.weight;
    word.is_silent = entry.is_silent;
    words.push_back(std::move(word));
  }
  std::stable_sort(words.begin(), words.end(),
                   [](const Word& a, const Word& b) { return a.key < b.key; });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (kept > 0 && words[kept - 1].key == words[i].key) {
      Word& have = words[kept - 1];
      have.weight += words[i].weight;
      have.is_silent = have.is_silent && words[i].is_silent;
      if (words[i].form_weight > have.form_weight) {
        have.form_weight = words[i].form_weight;
        have.written = words[i].written;
      }
    } else {
      std::swap(words[kept++], words[i]);
    }
  }
  words.resize(kept);
  return words;
}

std::uint8_t code_of(double log_prob) {
  return static_cast<std::uint8_t>(
      std::clamp(std::lround(-log_prob / kCodeStep), 0L, static_cast<long>(kNeverBest - 1)));
}

LexiconForm form_of(const Word& word) {
  if (word.written == word.key) {
    return LexiconForm::Lower;
  }
  std::string title(word.key.size(), '\0');
  title.resize(write_rest({}, word.key, SentenceStart::Yes, title));
  if (word.written == title) {
    return LexiconForm::Title;
  }
  std::string upper = word.key;
  for (char& c : upper) {
    c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  }
  return word.written == upper ? LexiconForm::Upper : LexiconForm::Written;
}

std::vector<std::uint8_t> spelling(const std::vector<Word>& words) {
  std::vector<double> counts(kLetterKinds * kLetterKinds * kLetterKinds, kUnseenLetters);
  for (const Word& word : words) {
    std::size_t a = kLetterEdge;
    std::size_t b = kLetterEdge;
    for (std::size_t i = 0; i <= word.key.size(); ++i) {
      const std::size_t c =
          i < word.key.size() ? letter_kind(static_cast<unsigned char>(word.key[i])) : kLetterEdge;
      counts[letter_index(a, b, c)] +=
          1;  // spellings, not uses: rare words are spelt like rare ones
      a = b;
      b = c;
    }
  }
  std::vector<std::uint8_t> codes(counts.size());
  for (std::size_t row = 0; row < counts.size(); row += kLetterKinds) {
    double sum = 0;
    for (std::size_t c = 0; c < kLetterKinds; ++c) {
      sum += counts[row + c];
    }
    for (std::size_t c = 0; c < kLetterKinds; ++c) {
      codes[row + c] = static_cast<std::uint8_t>(
          std::clamp(std::lround(std::log(sum / counts[row + c]) / kLetterStep), 0L, 255L));
    }
  }
  return codes;
}

template <typename T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

// Words [begin, end) whose first `depth` bytes are the node's path.
struct Family {
  std::size_t begin;
  std::size_t end;
  std::size_t depth;
};

}  // namespace

std::span<const std::byte> LexiconTables::blob(std::string_view name) const {
  const auto found = blobs_.find(name);
  return found == blobs_.end() ? std::span<const std::byte>{} : std::span(found->second);
}

Result<LexiconTables> LexiconTables::make(std::span<const LexiconEntry> entries,
                                          double unknown_weight) {
  const std::vector<Word> words = merged(entries);
  if (words.empty()) {
    return Error{ErrorCode::BadArgument, "lexicon: has no word"};
  }
  double total = unknown_weight;
  for (const Word& word : words) {
    total += word.weight;
  }
  std::vector<std::uint8_t> word_codes(words.size());
  for (std::size_t i = 0; i < words.size(); ++i) {
    word_codes[i] = code_of(std::log(words[i].weight / total));
  }

  std::vector<std::uint8_t> labels = {0};
  std::vector<std::uint8_t> best;
  std::vector<LexiconBlock> blocks;
  std::vector<std::uint8_t> codes;
  std::vector<std::uint8_t> forms;
  std::vector<std::uint32_t> written;
  std::vector<std::uint32_t> written_offsets = {0};
  std::vector<char> written_text;
  std::deque<Family> queue = {{0, words.size(), 0}};
  std::vector<bool> is_last = {true};
  for (std::size_t node = 0; !queue.empty(); ++node) {
    if (labels.size() > kLexiconMaxNodes) {
      return Error{ErrorCode::TooLarge, "lexicon: more than " + std::to_string(kLexiconMaxNodes) +
                                            " nodes; leave rare words out"};
    }
    Family family = queue.front();
    queue.pop_front();
    const std::uint64_t bit = std::uint64_t{1} << (node % kLexiconBlockNodes);
    if (node % kLexiconBlockNodes == 0) {
      blocks.push_back({0, 0, 0, 0, static_cast<std::uint32_t>(codes.size())});
    }
    std::uint8_t least = kNeverBest;
    for (std::size_t i = family.begin; i < family.end; ++i) {
      least = words[i].is_silent ? least : std::min(least, word_codes[i]);
    }
    best.push_back(least);
    if (is_last[node]) {
      blocks.back().last |= bit;
    }
    if (words[family.begin].key.size() == family.depth) {  // sorted: the shortest comes first
      const Word& word = words[family.begin];
      const LexiconForm form = form_of(word);
      blocks.back().word |= bit;
      if (form == LexiconForm::Written) {
        written.push_back(static_cast<std::uint32_t>(codes.size()));
        written_text.insert(written_text.end(), word.written.begin(), word.written.end());
        written_offsets.push_back(static_cast<std::uint32_t>(written_text.size()));
      }
      codes.push_back(word_codes[family.begin]);
      forms.push_back(static_cast<std::uint8_t>(static_cast<std::uint8_t>(form) |
                                                (word.is_silent ? kLexiconSilent : 0)));
      ++family.begin;
    }
    if (family.begin == family.end) {
      continue;
    }
    if (blocks.back().parent == 0) {
      blocks.back().first_child = static_cast<std::uint32_t>(labels.size());
    }
    blocks.back().parent |= bit;
    for (std::size_t i = family.begin; i < family.end;) {
      const char label = words[i].key[family.depth];
      std::size_t end = i + 1;
      while (end < family.end && words[end].key[family.depth] == label) {
        ++end;
      }
      labels.push_back(static_cast<std::uint8_t>(label));
      is_last.push_back(end == family.end);
      queue.push_back({i, end, family.depth + 1});
      i = end;
    }
  }

  LexiconHeader header{};
  header.magic = kLexiconMagic;
  header.version = kLexiconVersion;
  header.node_count = static_cast<std::uint32_t>(labels.size());
  header.word_count = static_cast<std::uint32_t>(codes.size());
  header.written_count = static_cast<std::uint32_t>(written.size());
  header.code_step = kCodeStep;
  header.log_unknown =
      static_cast<float>(std::clamp(std::log(std::max(unknown_weight, 1e-9) / total), -50.0, 0.0));
  LexiconTables tables;
  auto& blobs = tables.blobs_;
  blobs["lexicon.header"] = bytes_of(std::vector<LexiconHeader>{header});
  blobs["lexicon.labels"] = bytes_of(labels);
  blobs["lexicon.best"] = bytes_of(best);
  blobs["lexicon.blocks"] = bytes_of(blocks);
  blobs["lexicon.codes"] = bytes_of(codes);
  blobs["lexicon.forms"] = bytes_of(forms);
  blobs["lexicon.written"] = bytes_of(written);
  blobs["lexicon.written_offsets"] = bytes_of(written_offsets);
  blobs["lexicon.written_text"] = bytes_of(written_text);
  blobs["lexicon.letters"] = bytes_of(spelling(words));
  return tables;
}

}  // namespace laya::predict
