// The text room on any bytes: encoding gives the text back, an edited text has the tokens of a text
// encoded anew, clusters and normal forms stay inside the text. The first bytes choose the edits,
// the rest is the text.
#include <algorithm>
#include <string>
#include <string_view>

#include "fuzz_target.h"
#include "text/grapheme.h"
#include "text/incremental.h"
#include "text/normalize.h"
#include "text/script.h"
#include "text/tokenizer.h"
#include "text/units.h"

using laya::fuzz::require;
namespace text = laya::text;

namespace {

/// Small, so that the target needs no file; its pieces meet the shapes that matter.
text::Vocabulary small_vocabulary() {
  using text::PieceType;
  std::vector<text::Piece> pieces = {
      {"", 0, PieceType::Begin}, {"\n", 0, PieceType::Newline}, {"<NUM>", 0, PieceType::Symbol}};
  for (int byte = 0; byte < 256; ++byte) {
    pieces.push_back({std::string(1, static_cast<char>(byte)), 0, PieceType::Byte});
  }
  float score = -2;
  for (const char* piece :
       {" ", "e", "a", "th", "the ", "the", "er", "ing ", "我", "，", "， ", "的", "é", "👍", "."}) {
    pieces.push_back({piece, score -= 0.3f, PieceType::Normal});
  }
  return text::Vocabulary::create(pieces).value();
}

const text::Tokenizer& tokenizer() {
  static const text::Tokenizer kTokenizer(small_vocabulary());
  return kTokenizer;
}

void check_editing(std::span<const std::uint8_t> edits, std::string_view input) {
  text::IncrementalTokenizer editor(tokenizer(), 16);
  std::string want(input);
  editor.assign(input);
  for (std::size_t i = 0; i + 2 < edits.size(); i += 3) {
    const std::size_t offset = want.empty() ? 0 : edits[i] % (want.size() + 1);
    const std::size_t erased = std::min<std::size_t>(edits[i + 1] % 8, want.size() - offset);
    const std::string_view inserted = input.substr(0, edits[i + 2] % 8);
    want.replace(offset, erased, inserted);
    editor.replace(offset, erased, inserted);
    const auto ids = tokenizer().encode(want);
    require(editor.text() == want &&
            std::equal(ids.begin(), ids.end(), editor.ids().begin(), editor.ids().end()));
    require(editor.closed_tokens() <= ids.size() && editor.unchanged_tokens() <= ids.size());
  }
}

void check_clusters(std::string_view input) {
  std::size_t previous = 0;
  for (std::size_t at = 0; at < input.size();) {
    const std::size_t end = text::next_grapheme(input, at);
    require(end > at && end <= input.size());
    previous = at;
    at = end;
  }
  if (!input.empty()) {
    const std::size_t last = text::previous_grapheme(input, input.size());
    require(last < input.size() && (last == previous || input.size() > 256));
  }
  require(text::trailing_word(input).size() <= input.size());
  require(text::first_word_length(input) <= input.size() &&
          text::last_word_length(input) <= input.size());
  require(input.empty() ||
          (text::first_word_length(input) > 0 && text::last_word_length(input) > 0));
  const std::string normal = text::normalize_nfc(input);
  require(text::normalize_nfc(normal) == normal);
}

void check_units(std::string_view input) {
  text::Unit unit{};
  std::size_t at = 0;
  while (text::next_unit(input, at, &unit)) {
    require(unit.begin >= at && unit.end > unit.begin && unit.end <= input.size());
    at = unit.end;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::size_t edit_bytes = std::min<std::size_t>(size, 24);
  const std::string_view input(reinterpret_cast<const char*>(data) + edit_bytes, size - edit_bytes);
  require(tokenizer().decode(tokenizer().encode(input)) == input);
  check_editing({data, edit_bytes}, input);
  check_clusters(input);
  check_units(input);
  return 0;
}
