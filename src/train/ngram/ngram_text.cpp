#include "train/ngram/ngram_text.h"

#include <algorithm>
#include <numeric>

#include "base/utf8.h"
#include "text/units.h"

namespace laya::train {
namespace {

using model::kFirstLexiconWord;

enum class KeyClass { Symbol, Han, Word };

KeyClass class_of(std::string_view key) {
  text::Unit unit{};
  if (!text::next_unit(key, 0, &unit)) {
    return KeyClass::Symbol;
  }
  switch (unit.kind) {
    case text::UnitKind::Word:
      return KeyClass::Word;
    case text::UnitKind::Han:
      return KeyClass::Han;
    default:
      return KeyClass::Symbol;
  }
}

bool is_number(std::string_view key) { return key[0] >= '0' && key[0] <= '9'; }

// In a sentence's first place a capital says nothing.
bool ends_sentence(std::string_view unit) {
  return unit == "." || unit == "!" || unit == "?" || unit == ":" || unit == "\"" || unit == "-" ||
         unit == "*" || unit == "(";
}

// "i" and its contractions are written I whatever chat does.
bool is_first_person(std::string_view key) { return key == "i" || key.starts_with("i'"); }

}  // namespace

std::vector<std::vector<std::uint32_t>> ids_of_sequences(
    const NgramText& text, const std::vector<std::string>& sequences) {
  std::unordered_map<std::string_view, std::uint32_t> index;
  for (std::uint32_t id = kFirstLexiconWord; id < text.common_count; ++id) {
    index.emplace(text.keys[id], id);
  }
  std::vector<std::vector<std::uint32_t>> out;
  for (const std::string& sequence : sequences) {
    std::vector<std::uint32_t> ids;
    bool known = true;
    text::Unit unit{};
    for (std::size_t at = 0; known && text::next_unit(sequence, at, &unit); at = unit.end) {
      std::string key;
      text::append_lower(std::string_view(sequence).substr(unit.begin, unit.end - unit.begin),
                         &key);
      const auto found = index.find(key);
      known = found != index.end();
      ids.push_back(known ? found->second : model::kUnknownWord);
    }
    if (known && !ids.empty()) {
      out.push_back(std::move(ids));
    }
  }
  return out;
}

NgramTextReader::NgramTextReader() : han_index_(0x10000, model::kUnknownWord) {
  keys_.resize(kFirstLexiconWord);
  weights_.resize(kFirstLexiconWord);
  lower_casing_.resize(kFirstLexiconWord);
}

std::uint32_t NgramTextReader::intern(std::string_view key) {
  if (const auto found = index_.find(key); found != index_.end()) {
    return found->second;
  }
  const auto id = static_cast<std::uint32_t>(keys_.size());
  index_.emplace(std::string(key), id);
  keys_.emplace_back(key);
  weights_.push_back(0.0);
  lower_casing_.push_back(0.0);
  return id;
}

void NgramTextReader::add(std::string_view text, double weight, double cased) {
  const std::size_t begin = ids_.size();
  std::string key;
  bool line_open = false;
  bool sentence_start = true;
  const auto push = [&](std::uint32_t id) {
    if (!line_open) {
      ids_.push_back(model::kLineStart);
      line_open = true;
    }
    ids_.push_back(id);
    weights_[id] += weight;
  };
  const auto end_line = [&] {
    if (line_open) {
      push(model::kLineEnd);
      line_open = false;
    }
    sentence_start = true;
  };
  text::Unit unit{};
  for (std::size_t at = 0; text::next_unit(text, at, &unit); at = unit.end) {
    const std::string_view shown = text.substr(unit.begin, unit.end - unit.begin);
    switch (unit.kind) {
      case text::UnitKind::LineEnd:
        end_line();
        continue;
      case text::UnitKind::Number:
        push(shown.size() <= model::kMaxNumberBytes ? intern(shown) : model::kNumber);
        break;
      case text::UnitKind::Email:
        push(model::kEmail);
        break;
      case text::UnitKind::Url:
        push(model::kUrl);
        break;
      case text::UnitKind::Han: {
        const char32_t c = base::decode_utf8(shown).code_point;
        std::uint32_t id = c < han_index_.size() ? han_index_[c] : model::kUnknownWord;
        if (id == model::kUnknownWord) {
          id = intern(shown);
          if (c < han_index_.size()) {
            han_index_[c] = id;
          }
        }
        push(id);
        break;
      }
      case text::UnitKind::Symbol:
        push(intern(shown));
        sentence_start = ends_sentence(shown);
        continue;
      case text::UnitKind::Word: {
        key.clear();
        text::append_lower(shown, &key);
        const std::uint32_t id = intern(key);
        push(id);
        if (!sentence_start && cased > 0.0) {
          if (key == shown || key.size() != shown.size()) {  // ’ shortens: counted as lower case
            lower_casing_[id] += cased;
          } else if (const auto found = upper_casing_.find(shown); found != upper_casing_.end()) {
            found->second += cased;
          } else {
            upper_casing_.emplace(std::string(shown), cased);
          }
        }
        break;
      }
    }
    sentence_start = false;
  }
  end_line();
  stretches_.push_back({begin, ids_.size(), weight});
}

void NgramTextReader::add_words(std::string_view text, double weight) {
  std::string key;
  text::Unit unit{};
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    if (text::next_unit(line, 0, &unit) && unit.kind == text::UnitKind::Word && unit.begin == 0 &&
        unit.end == line.size()) {
      key.clear();
      text::append_lower(line, &key);
      const std::uint32_t id = intern(key);
      weights_[id] = std::max(weights_[id], weight);
      if (key != line && key.size() == line.size() && !upper_casing_.contains(line)) {
        upper_casing_.emplace(std::string(line), 1e-3);
      }
    }
    at = end + 1;
  }
}

NgramText NgramTextReader::finish(const NgramLexiconOptions& options) && {
  NgramText out;
  // Which units stay, most frequent first; ties by key, so that the result does not depend on the
  // order of the hash map.
  struct Kept {
    std::uint32_t old_id;
    KeyClass kind;
    bool rare = false;
  };
  std::vector<Kept> kept;
  for (std::uint32_t id = kFirstLexiconWord; id < keys_.size(); ++id) {
    const KeyClass kind = class_of(keys_[id]);
    const bool valid = base::is_valid_utf8(keys_[id]);
    const double least = kind == KeyClass::Han ? options.min_han_weight : options.min_weight;
    if (valid && weights_[id] >= least) {
      kept.push_back({id, kind});
    }
  }
  std::sort(kept.begin(), kept.end(), [&](const Kept& a, const Kept& b) {
    const double wa = weights_[a.old_id];
    const double wb = weights_[b.old_id];
    return wa != wb ? wa > wb : keys_[a.old_id] < keys_[b.old_id];
  });
  const std::size_t max_common =
      std::min<std::size_t>(options.max_common, 65536) - kFirstLexiconWord;
  for (std::size_t i = max_common; i < kept.size(); ++i) {
    kept[i].rare = true;
  }
  std::erase_if(kept, [](const Kept& k) { return k.rare && k.kind != KeyClass::Word; });
  kept.resize(std::min<std::size_t>(kept.size(), options.max_units - kFirstLexiconWord));
  std::sort(kept.begin(), kept.end(), [&](const Kept& a, const Kept& b) {
    if (a.rare != b.rare) return b.rare;
    if (a.kind != b.kind) return a.kind < b.kind;
    return keys_[a.old_id] < keys_[b.old_id];
  });

  std::vector<std::uint32_t> new_id(keys_.size(), model::kUnknownWord);
  for (std::uint32_t id = 0; id < kFirstLexiconWord; ++id) {
    new_id[id] = id;
  }
  for (std::uint32_t id = kFirstLexiconWord; id < keys_.size(); ++id) {
    if (is_number(keys_[id])) {
      new_id[id] = model::kNumber;  // unless it is kept, below
    }
  }
  const auto unit_count = static_cast<std::uint32_t>(kept.size() + kFirstLexiconWord);
  out.keys.resize(unit_count);
  out.displays.resize(unit_count);
  out.weights.resize(unit_count);
  out.han_begin = out.word_begin = out.common_count = kFirstLexiconWord;
  for (std::uint32_t i = 0; i < kept.size(); ++i) {
    const std::uint32_t id = i + kFirstLexiconWord;
    const Kept& unit = kept[i];
    out.keys[id] = keys_[unit.old_id];
    out.weights[id] = weights_[unit.old_id];
    out.han_begin += unit.kind == KeyClass::Symbol;
    out.word_begin += unit.kind != KeyClass::Word;
    out.common_count += !unit.rare;
    new_id[unit.old_id] = id;
  }
  for (std::uint32_t old_id = model::kLineEnd; old_id < keys_.size(); ++old_id) {
    const std::uint32_t id = new_id[old_id];
    if (id < kFirstLexiconWord) {
      out.weights[id] += weights_[old_id];
    } else if (id >= out.common_count) {
      out.weights[model::kUnknownWord] += weights_[old_id];
    }
  }

  std::vector<double> best_casing = lower_casing_;
  std::vector<const std::string*> best_form(keys_.size(), nullptr);
  std::string key;
  for (const auto& [form, count] : upper_casing_) {
    key.clear();
    text::append_lower(form, &key);
    const std::uint32_t id = index_.find(key)->second;
    if (count > best_casing[id] ||
        (count == best_casing[id] && best_form[id] != nullptr && form < *best_form[id])) {
      best_casing[id] = count;
      best_form[id] = &form;
    }
  }
  for (std::uint32_t old_id = kFirstLexiconWord; old_id < keys_.size(); ++old_id) {
    const std::uint32_t id = new_id[old_id];
    if (id < kFirstLexiconWord) {
      continue;
    }
    if (is_first_person(keys_[old_id])) {
      out.displays[id] = "I" + keys_[old_id].substr(1);
    } else if (best_form[old_id] != nullptr) {
      out.displays[id] = *best_form[old_id];
    }
  }

  out.ids = std::move(ids_);
  for (std::uint32_t& id : out.ids) {
    const std::uint32_t mapped = new_id[id];
    id = mapped < out.common_count ? mapped : model::kUnknownWord;
  }
  out.stretches = std::move(stretches_);
  return out;
}

}  // namespace laya::train
