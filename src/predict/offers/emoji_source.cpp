#include "predict/offers/emoji_source.h"

#include <algorithm>

#include "base/utf8.h"
#include "text/script.h"
#include "text/units.h"

namespace laya::predict {
namespace {

// ln p of the first emoji behind a colon: nobody types ":smi" for anything else. Each further one,
// and each letter that its name goes on, makes it less likely.
constexpr float kAsked = -0.2F;
constexpr float kPerRank = 0.5F;
constexpr float kPerLetter = 0.1F;
// ln p that an emoji follows a word that names one. A guess kept low: a list must not lose a word
// to it.
constexpr float kBehindWord = -4.5F;
constexpr std::size_t kMaxScanned = 256;
constexpr std::size_t kMaxHan = 4;

std::string_view first_of(std::string_view emoji) { return emoji.substr(0, emoji.find(' ')); }

bool is_colon(char32_t code) { return code == U':' || code == U'：'; }

bool may_be_named(char32_t code) {
  return text::is_han(code) || text::script_of(code) == text::Script::Latin || code == U'_' ||
         code == U'-' || (code >= U'0' && code <= U'9');
}

/// The last code point of `text`; a replacement character for none.
base::Decoded last_code(std::string_view text) {
  if (text.empty()) {
    return {base::Utf8Status::Invalid, base::kReplacementCharacter, 0};
  }
  return base::decode_utf8(text.substr(base::previous_code_point(text, text.size())));
}

}  // namespace

void EmojiSource::offer(const TypedText& text, const WordQuery& query, const WordPool& pool,
                        OfferList* out) {
  if (offer_asked(text, out)) {
    return;
  }
  offer_behind_latin(text, query, pool, out);
  offer_behind_han(text, out);
}

// ":smi", ":thumbs_up", "：生日"; not "10:30" nor "http:".
bool EmojiSource::offer_asked(const TypedText& text, OfferList* out) const {
  const std::string_view before = text.before();
  std::size_t begin = before.size();
  std::size_t weight = 0;  // letters; a Chinese character says as much as two
  base::Decoded code{};
  while (before.size() - begin <= EmojiTable::kMaxKeyBytes) {
    code = last_code(before.substr(0, begin));
    if (code.length == 0 || !may_be_named(code.code_point)) {
      break;
    }
    begin -= code.length;
    weight += text::is_han(code.code_point) ? 2 : 1;
  }
  if (weight < 2 || !is_colon(code.code_point) ||
      before.size() - begin > EmojiTable::kMaxKeyBytes) {
    return false;
  }
  const std::size_t colon = begin - code.length;
  const base::Decoded left = last_code(before.substr(0, colon));
  const text::Script script = text::script_of(left.code_point);
  if (left.length != 0 && (script == text::Script::Latin || script == text::Script::Digit ||
                           left.code_point == U'/' || is_colon(left.code_point))) {
    return false;
  }
  std::array<char, 2 * text::kMaxUnitBytes> lower;
  const std::size_t length =
      text::copy_lower(before.substr(begin), lower.data(), EmojiTable::kMaxKeyBytes);
  std::replace_if(
      lower.begin(), lower.begin() + static_cast<std::ptrdiff_t>(length),
      [](char c) { return c == '_' || c == '-'; }, ' ');
  const std::string_view key(lower.data(), length);
  bool any = false;
  std::size_t scanned = 0;
  for (std::size_t i = table_->lower_bound(key); i < table_->size() && scanned < kMaxScanned;
       ++i, ++scanned) {
    const EmojiTable::Entry& entry = table_->at(i);
    if (!entry.key.starts_with(key)) {
      break;
    }
    const auto more = static_cast<float>(entry.key.size() - key.size());
    std::string_view rest = entry.emoji;
    for (std::size_t rank = 0; !rest.empty() && rank < kMostAsked; ++rank) {
      const std::string_view emoji = first_of(rest);
      rest.remove_prefix(std::min(rest.size(), emoji.size() + 1));
      out->add({.text = emoji,
                .erase_bytes = static_cast<std::uint16_t>(before.size() - colon),
                .log_prob = kAsked - kPerRank * static_cast<float>(rank) - kPerLetter * more,
                .origin = Origin::Emoji});
      any = true;
    }
  }
  return any;
}

void EmojiSource::offer_behind_latin(const TypedText& text, const WordQuery& query,
                                     const WordPool& pool, OfferList* out) {
  const std::string_view open = text.open_word();
  if (!open.empty()) {
    const EmojiTable::Entry* entry = table_->find(query.prefix);
    if (entry == nullptr || !entry->plain ||
        open.size() + 1 + EmojiTable::kMaxEmojiBytes > bytes_.size()) {
      return;
    }
    const std::string_view emoji = first_of(entry->emoji);
    auto end = std::copy(open.begin(), open.end(), bytes_.begin());
    *end++ = ' ';
    end = std::copy(emoji.begin(), emoji.end(), end);
    // As likely as the word itself here, times that an emoji follows.
    float log_word = kImpossible;
    for (const PoolWord& word : pool.words()) {
      log_word = word.key == query.prefix ? word.score : log_word;
    }
    out->add({.text = {bytes_.data(), static_cast<std::size_t>(end - bytes_.begin())},
              .log_prob = (log_word == kImpossible ? -8.0F : log_word) + kBehindWord,
              .origin = Origin::Emoji});
    return;
  }
  std::string_view before = text.before();
  if (!before.ends_with(' ') || before.ends_with("  ")) {
    return;
  }
  before.remove_suffix(1);
  const std::string_view word = text::trailing_word(before);
  std::array<char, 2 * text::kMaxUnitBytes> lower;
  const EmojiTable::Entry* entry =
      word.empty()
          ? nullptr
          : table_->find({lower.data(), text::copy_lower(word, lower.data(), lower.size())});
  if (entry != nullptr && entry->plain) {
    out->add({.text = first_of(entry->emoji), .log_prob = kBehindWord, .origin = Origin::Emoji});
  }
}

// The longest name that ends at the caret.
void EmojiSource::offer_behind_han(const TypedText& text, OfferList* out) const {
  const std::string_view before = text.before();
  std::array<std::size_t, kMaxHan + 1> begins{};
  std::size_t count = 0;
  for (std::size_t at = before.size(); count < kMaxHan;) {
    const base::Decoded code = last_code(before.substr(0, at));
    if (code.length == 0 || !text::is_han(code.code_point)) {
      break;
    }
    at -= code.length;
    begins[++count] = at;
  }
  for (; count >= 2; --count) {
    const EmojiTable::Entry* entry = table_->find(before.substr(begins[count]));
    if (entry != nullptr && entry->plain) {
      out->add({.text = first_of(entry->emoji), .log_prob = kBehindWord, .origin = Origin::Emoji});
      return;
    }
  }
}

}  // namespace laya::predict
