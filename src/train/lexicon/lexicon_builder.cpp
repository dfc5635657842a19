#include "train/lexicon/lexicon_builder.h"

#include <algorithm>
#include <array>
#include <bit>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "base/utf8.h"
#include "format/model_writer.h"
#include "text/units.h"
#include "train/text/corpus.h"
#include "train/text/overlap.h"

namespace laya::train {
namespace {

// SCOWL's classes: the smaller the number, the commoner the words. `weight`: what a listed word
// counts besides its uses; words above kOffered that no text uses are known but never offered.
struct ListClass {
  int size;
  double weight;
};
constexpr std::array<ListClass, 8> kClasses = {
    {{10, 8.0}, {20, 5.0}, {35, 3.0}, {40, 2.0}, {50, 1.2}, {55, 0.8}, {60, 0.5}, {70, 0.2}}};
constexpr int kOfferedUnused = 60;
constexpr double kShortWeight = 40;  // of words of two letters; rarer ones are slips as a rule
constexpr std::array<std::string_view, 8> kSpellings = {
    "english",  "american",   "british",   "british_z",
    "canadian", "australian", "variant_1", "british_variant_1"};
// Kinds of lists and the largest class taken of each.
struct ListKind {
  std::string_view name;
  int largest;
};
constexpr std::array<ListKind, 5> kKinds = {{{"words", 70},
                                             {"upper", 60},
                                             {"proper-names", 50},
                                             {"contractions", 60},
                                             {"abbreviations", 50}}};

// What only the texts know.
constexpr double kMinWeight = 6;
constexpr std::uint32_t kMinUses = 12;
constexpr std::uint32_t kMinUsesOneSource = 25;
constexpr double kSlipRatio = 40;       // a neighbour so much more frequent: a slip of it ("realy")
constexpr double kSlipRatioLong = 10;   // where the word is so long that it has few neighbours
constexpr std::size_t kLong = 8;        // letters
constexpr double kSwapRatio = 5;        // of a word with two letters swapped ("wierd")
constexpr double kApostropheRatio = 2;  // of its form with an apostrophe ("isnt")
constexpr double kGluedRatio = 4;       // with its space so much more frequent: glued ("atleast")
constexpr std::size_t kShort = 3;       // letters; there, only swapped letters are evidence

struct Hash {
  using is_transparent = void;
  std::size_t operator()(std::string_view s) const { return std::hash<std::string_view>()(s); }
};

struct Counted {
  WordCount count;
  std::uint64_t source_bits = 0;
  double lower = 0;  // trusted uses in lower case
  std::unordered_map<std::string, double, Hash, std::equal_to<>> forms;  // others ▶ the same
};
using Counts = std::unordered_map<std::string, Counted, Hash, std::equal_to<>>;

struct Listed {
  std::string lower;    // the forms that the lists have; empty without
  std::string capital;  // any other
  double weight;
  int size;
};
using Lists = std::unordered_map<std::string, Listed, Hash, std::equal_to<>>;

std::string from_latin1(std::string_view bytes) {
  std::string utf8;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      utf8.push_back(c);
    } else {
      utf8.push_back(static_cast<char>(0xC0 | (byte >> 6)));
      utf8.push_back(static_cast<char>(0x80 | (byte & 0x3F)));
    }
  }
  return utf8;
}

// Letters and inner apostrophes; possessives are left to Lexicon::is_word.
bool is_plain(std::string_view key) {
  text::Unit unit;
  return text::next_unit(key, 0, &unit) && unit.kind == text::UnitKind::Word && unit.begin == 0 &&
         unit.end == key.size();
}

void add_list(const std::filesystem::path& path, std::string_view kind, const ListClass& list_class,
              Lists* lists) {
  std::ifstream file(path, std::ios::binary);
  for (std::string line; std::getline(file, line);) {
    const std::string word = from_latin1(line);
    std::string key;
    text::append_lower(word, &key);
    const bool one_letter = key.size() == 1 && key != "a" && key != "i" && key != "o";
    const bool possessive = key.ends_with("'s") && kind != "contractions";
    if (!is_plain(key) || one_letter || possessive) {
      continue;
    }
    Listed& listed = lists->try_emplace(key, Listed{{}, {}, 0, 100}).first->second;
    if (list_class.size < listed.size) {
      listed.weight = list_class.weight;
      listed.size = list_class.size;
    }
    std::string& form = word == key ? listed.lower : listed.capital;
    if (form.empty()) {
      form = word;
    }
  }
}

Result<Lists> read_lists(const std::filesystem::path& folder) {
  Lists lists;
  for (const ListKind& kind : kKinds) {
    for (const std::string_view spelling : kSpellings) {
      for (const ListClass& list_class : kClasses) {
        if (list_class.size <= kind.largest) {
          add_list(folder / (std::string(spelling) + "-" + std::string(kind.name) + "." +
                             std::to_string(list_class.size)),
                   kind.name, list_class, &lists);
        }
      }
    }
  }
  if (lists.empty()) {
    return Error{ErrorCode::Io, folder.string() +
                                    ": holds none of SCOWL's lists (english-words.10, …); install "
                                    "the package scowl, or name its folder"};
  }
  return lists;
}

void count_line(std::string_view line, std::size_t source, double weight, double cased,
                const Lists& lists, std::string* key, Counts* counts) {
  text::Unit unit;
  bool first = true;
  for (std::size_t offset = 0; text::next_unit(line, offset, &unit); offset = unit.end) {
    if (unit.kind != text::UnitKind::Word) {
      first = first || unit.kind == text::UnitKind::Symbol;  // a sentence may begin
      continue;
    }
    const std::string_view written = line.substr(unit.begin, unit.end - unit.begin);
    key->clear();
    text::append_lower(written, key);
    if (key->ends_with("'s") && lists.find(*key) == lists.end()) {  // not "that's"
      key->resize(key->size() - 2);
    }
    auto at = counts->find(*key);
    if (at == counts->end()) {
      at = counts->emplace(*key, Counted{}).first;
    }
    Counted& word = at->second;
    word.count.weight += weight;
    ++word.count.uses;
    word.source_bits |= std::uint64_t{1} << (source % 64);
    if (!first) {
      const std::string_view form = written.substr(0, std::min(written.size(), key->size()));
      if (form == *key) {
        word.lower += cased;
      } else if (cased > 0 && form.size() == key->size()) {
        const auto known = word.forms.find(form);
        if (known != word.forms.end()) {
          known->second += cased;
        } else {
          word.forms.emplace(form, cased);
        }
      }
    }
    first = false;
  }
}

// How often the words of "at least" stand side by side, for every word that might be two of them.
using Pairs = std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>>;

Pairs possible_pairs(const Counts& counts, const Lists& lists) {
  Pairs pairs;
  for (const auto& [key, word] : counts) {
    if (word.count.uses < kMinUses || lists.find(key) != lists.end()) continue;
    for (std::size_t at = 1; at < key.size(); ++at) {
      const std::string left = key.substr(0, at);
      const std::string right = key.substr(at);
      if (lists.find(left) != lists.end() && lists.find(right) != lists.end()) {
        pairs.emplace(left + " " + right, 0);
      }
    }
  }
  return pairs;
}

void count_pairs(std::string_view line, Pairs* pairs) {
  std::string pair;
  std::string word;
  text::Unit unit;
  for (std::size_t offset = 0; text::next_unit(line, offset, &unit); offset = unit.end) {
    if (unit.kind != text::UnitKind::Word) {
      pair.clear();
      continue;
    }
    word.clear();
    text::append_lower(line.substr(unit.begin, unit.end - unit.begin), &word);
    if (!pair.empty()) {
      pair += ' ';
      pair += word;
      if (const auto at = pairs->find(pair); at != pairs->end()) ++at->second;
    }
    pair = word;
  }
}

std::uint32_t parted_uses(std::string_view key, const Pairs& pairs) {
  std::uint32_t most = 0;
  for (std::size_t at = 1; at < key.size(); ++at) {
    const auto found =
        pairs.find(std::string(key.substr(0, at)) + " " + std::string(key.substr(at)));
    most = found == pairs.end() ? most : std::max(most, found->second);
  }
  return most;
}

std::string usual_form(const std::string& key, const Counted& word) {
  const std::string* best = &key;
  double weight = word.lower;
  for (const auto& [form, uses] : word.forms) {
    if (uses > weight || (uses == weight && form < *best)) {
      best = &form;
      weight = uses;
    }
  }
  return *best;
}

// Of the forms that the lists have, the one that the texts prefer (China, but march).
std::string listed_form(const std::string& key, const Listed& listed, const Counted* word) {
  if (listed.lower.empty() || listed.capital.empty()) {
    return listed.lower.empty() ? listed.capital : listed.lower;
  }
  return word != nullptr && usual_form(key, *word) == listed.capital ? listed.capital
                                                                     : listed.lower;
}

}  // namespace

bool is_found_word(std::string_view key, const WordCount& count,
                   const std::function<double(std::string_view)>& weight_of) {
  if (count.parted_uses > kGluedRatio * count.uses) {
    return false;
  }
  const bool ascii = std::all_of(key.begin(), key.end(),
                                 [](char c) { return (c >= 'a' && c <= 'z') || c == '\''; });
  if (!ascii || key.size() < 2 || count.weight < kMinWeight || count.uses < kMinUses ||
      (count.sources < 2 && count.uses < kMinUsesOneSource)) {
    return false;
  }
  std::string edited(key);
  const double ratio = key.size() >= kLong ? kSlipRatioLong : kSlipRatio;
  const auto is_slip_of = [&](std::string_view word) {
    return weight_of(word) > ratio * count.weight;
  };
  for (std::size_t i = 0; i + 1 < key.size(); ++i) {
    std::swap(edited[i], edited[i + 1]);
    if (weight_of(edited) > kSwapRatio * count.weight) {
      return false;
    }
    std::swap(edited[i], edited[i + 1]);
  }
  for (std::size_t i = 1; i < key.size(); ++i) {
    edited = std::string(key.substr(0, i)) + "'" + std::string(key.substr(i));
    if (weight_of(edited) > kApostropheRatio * count.weight) {
      return false;
    }
  }
  if (key.size() <= kShort) {
    return true;
  }
  for (std::size_t i = 0; i <= key.size(); ++i) {
    const std::string head(key.substr(0, i));
    if (i < key.size() && is_slip_of(head + std::string(key.substr(i + 1)))) {
      return false;
    }
    for (char c = 'a'; c <= 'z'; ++c) {
      if (is_slip_of(head + c + std::string(key.substr(i))) ||
          (i < key.size() && is_slip_of(head + c + std::string(key.substr(i + 1))))) {
        return false;
      }
    }
  }
  return true;
}

Result<LexiconBuild> build_lexicon(const std::filesystem::path& scowl, const Mixture& mixture,
                                   const NgramRecipe& recipe, const LexiconProgress& progress) {
  progress("reading lists", 0);
  Result<Lists> lists = read_lists(scowl);
  if (!lists) return std::move(lists).error();
  std::vector<std::filesystem::path> held_out_files = mixture.held_out;
  for (const MixtureSource& source : mixture.sources) {
    if (!source.dev.empty()) held_out_files.push_back(source.dev);
  }
  Result<HeldOut> held_out = HeldOut::load(held_out_files);
  if (!held_out) return std::move(held_out).error();

  LexiconBuild build;
  Counts counts;
  const auto for_each_text_line =
      [&](const std::function<void(std::string_view, std::size_t, const NgramSourceRecipe&)>& see)
      -> Status {
    std::size_t number = 0;
    for (const MixtureSource& source : mixture.sources) {
      const auto wanted = recipe.sources.find(source.name);
      if (source.language != "en" || wanted == recipe.sources.end()) continue;
      Result<std::string> text = read_text(source.path);
      if (!text) return std::move(text).error();
      if (!source.drop_held_out) {
        if (Status status = held_out->check(*text, source.path); !status) return status;
      }
      for_each_line(*text, [&](std::string_view line, std::size_t) {
        if (!source.drop_held_out || !held_out->contains(line)) see(line, number, wanted->second);
      });
      ++number;
      progress("reading texts",
               static_cast<double>(number) / static_cast<double>(recipe.sources.size()));
    }
    return {};
  };
  std::string key_bytes;
  if (Status status = for_each_text_line(
          [&](std::string_view line, std::size_t number, const NgramSourceRecipe& source) {
            count_line(line, number, source.weight, source.cased, *lists, &key_bytes, &counts);
          });
      !status) {
    return status.error();
  }
  Pairs pairs = possible_pairs(counts, *lists);
  if (Status status =
          for_each_text_line([&](std::string_view line, std::size_t, const NgramSourceRecipe&) {
            count_pairs(line, &pairs);
          });
      !status) {
    return status.error();
  }
  for (const MixtureSource& source : mixture.sources) {
    if (source.language == "en" && recipe.sources.find(source.name) != recipe.sources.end()) {
      build.licences.push_back(source.name + ": " + source.licence);
    }
  }
  if (counts.empty()) {
    return Error{ErrorCode::BadArgument, "lexicon: no English text to count words in"};
  }

  progress("choosing", 0);
  const auto count_of = [&](std::string_view word) {
    const auto at = counts.find(word);
    return at == counts.end() ? 0.0 : at->second.count.weight;
  };
  for (const auto& [key, listed] : *lists) {
    const auto at = counts.find(key);
    predict::LexiconEntry entry;
    entry.written = listed_form(key, listed, at == counts.end() ? nullptr : &at->second);
    entry.weight = listed.weight + count_of(key);
    entry.is_silent = at == counts.end() && listed.size > kOfferedUnused;
    if (key.size() == 2 && entry.weight < kShortWeight) continue;
    build.entries.push_back(std::move(entry));
    ++build.listed;
  }
  const auto weight_of = [&](std::string_view word) {
    return lists->find(word) == lists->end() ? 0.0 : count_of(word);
  };
  for (auto& [key, word] : counts) {
    if (lists->find(key) != lists->end()) continue;
    word.count.parted_uses = parted_uses(key, pairs);
    word.count.sources = static_cast<std::uint32_t>(std::popcount(word.source_bits));
    if (is_found_word(key, word.count, weight_of)) {
      build.entries.push_back({usual_form(key, word), word.count.weight, false});
      ++build.found;
    } else if (key.size() > 1) {
      build.unknown_weight += word.count.weight;
    }
  }
  std::sort(build.entries.begin(), build.entries.end(),
            [](const auto& a, const auto& b) { return a.written < b.written; });
  return build;
}

Status write_lexicon(const LexiconBuild& build, const std::string& path) {
  const auto tables = predict::LexiconTables::make(build.entries, build.unknown_weight);
  if (!tables) return tables.error();
  auto writer = format::ModelWriter::create(path);
  if (!writer) return writer.error();
  for (const auto& [name, bytes] : tables->blobs()) {
    if (Status status = writer->add_blob(name, bytes); !status) return status;
  }
  nlohmann::ordered_json metadata;
  metadata["architecture"] = "lexicon";
  metadata["language"] = "en";
  metadata["licence"] = "word lists: SCOWL (permissive, see the card); counts from the texts";
  metadata["listed_words"] = build.listed;
  metadata["found_words"] = build.found;
  metadata["sources"] = build.licences;
  if (Status status = writer->set_metadata(metadata.dump()); !status) return status;
  return writer->finish();
}

}  // namespace laya::train
