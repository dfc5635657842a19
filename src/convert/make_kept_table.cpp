// Writes a file of models/deep/kept: which tokens of a checkpoint's vocabulary Chinese and English
// text needs. Developers run it when a tokenizer is added; models/deep/kept/README.md has the call.
//
//   make_kept_table CHECKPOINT OUT LIMIT LANGUAGE*WEIGHT=FILE… words*WEIGHT=FILE
//
// A token's score is the sum over the files of weight × count (at most 6 MB of each file, spread
// over it, so that no source drowns the others); a token that is a word of the list, with a space
// before it, has that weight more, and 0.8 of it with a capital. The LIMIT best are kept, after
// these, which always are: single Han characters that were met or are in GB 2312, CJK punctuation,
// white space, tags
// ("<strong>"), and control tokens but those without a use ("<unused17>"): text that is read line
// by line meets none of the last three, and yet models give them a good share of the probability.
#include <iconv.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string>

#include "base/atomic_file.h"
#include "base/utf8.h"
#include "convert/convert_keep.h"
#include "convert/convert_tokenizer.h"

namespace {

using namespace laya;

constexpr std::size_t kMostBytes = 6u << 20;
constexpr std::size_t kRun = 50;  // lines taken together, so that a file is sampled all over

struct Tally {
  std::vector<double> score;
  std::vector<std::uint64_t> zh, en;
};

/// Lines of `text`, every n-th run of them, about kMostBytes in all.
std::string sample(const std::string& text) {
  const std::size_t step = text.size() / kMostBytes + 1;
  std::string taken;
  std::size_t line = 0;
  for (std::size_t at = 0; at < text.size(); ++line) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    if (line / kRun % step == 0) taken.append(text, at, end - at);
    at = end;
  }
  return taken;
}

bool in_gb2312(std::string_view character) {
  const iconv_t convert = iconv_open("GB2312", "UTF-8");
  std::string in(character);
  char out[8];
  char* from = in.data();
  char* to = out;
  std::size_t left = in.size(), room = sizeof(out);
  const bool fits = iconv(convert, &from, &left, &to, &room) != static_cast<std::size_t>(-1);
  iconv_close(convert);
  return fits;
}

enum class Script { Other, Cjk, CjkPunctuation };

/// What a token of one character (with or without a space) is.
Script script_of(std::string_view token) {
  if (token.starts_with(' ')) token.remove_prefix(1);
  const base::Decoded first = base::decode_utf8(token);
  if (token.empty() || first.length != token.size()) return Script::Other;
  const char32_t c = first.code_point;
  if ((c >= 0x3400 && c <= 0x9FFF) || c == 0x3007) return Script::Cjk;
  if ((c >= 0x3000 && c <= 0x303F) || (c >= 0xFF00 && c <= 0xFFEF)) return Script::CjkPunctuation;
  return Script::Other;
}

bool is_blank_or_tag(std::string_view bytes) {
  if (bytes.empty()) return false;
  const bool blank = std::all_of(bytes.begin(), bytes.end(),
                                 [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); });
  return blank || (bytes.size() > 2 && bytes.front() == '<' && bytes.back() == '>');
}

/// Control tokens that somebody may use.
bool is_used_control(const laya::text::SubwordTokenizer& tokenizer, laya::TokenId id) {
  const std::string_view name = tokenizer.control_name(id);
  return tokenizer.kind(id) == laya::text::SubwordTokenKind::Control &&
         name.find("unused") == std::string_view::npos &&
         name.find("reserved") == std::string_view::npos;
}

/// Every word of the list (one a line) that is a token behind a space.
void add_words(const text::SubwordTokenizer& tokenizer, std::string_view list, double weight,
               Tally& tally) {
  const auto add = [&](const std::string& word, double score) {
    const TokenId id = tokenizer.find(" " + word);
    if (id == kNoToken) return;
    tally.score[id] += score;
    ++tally.en[id];
  };
  while (!list.empty()) {
    const std::size_t end = std::min(list.find('\n'), list.size());
    std::string word(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
    if (word.empty() || word.find('\'') != std::string::npos) continue;
    add(word, weight);
    if (word.front() < 'a' || word.front() > 'z') continue;
    word.front() = static_cast<char>(word.front() - 'a' + 'A');
    add(word, 0.8 * weight);
  }
}

int failed(const Error& error) {
  std::fprintf(stderr, "make_kept_table: %s\n", error.message.c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) {
    std::fprintf(stderr, "make_kept_table CHECKPOINT OUT LIMIT LANGUAGE*WEIGHT=FILE...\n");
    return 2;
  }
  const auto checkpoint = format::Checkpoint::open(argv[1]);
  if (!checkpoint) return failed(checkpoint.error());
  const auto tokenizer = convert::read_source_tokenizer(*checkpoint);
  if (!tokenizer) return failed(tokenizer.error());
  const std::size_t size = tokenizer->size();
  Tally tally{std::vector<double>(size), std::vector<std::uint64_t>(size),
              std::vector<std::uint64_t>(size)};
  for (int i = 4; i < argc; ++i) {
    const std::string argument = argv[i];
    const std::size_t star = argument.find('*'), equals = argument.find('=');
    const auto text = base::read_file(argument.substr(equals + 1), 1u << 30);
    if (!text) return failed(text.error());
    if (argument.starts_with("words*")) {
      add_words(*tokenizer, *text, std::strtod(argument.c_str() + star + 1, nullptr), tally);
      continue;
    }
    std::vector<std::uint64_t> counts(size);
    convert::count_tokens(*tokenizer, sample(*text), counts);
    const double weight = std::strtod(argument.c_str() + star + 1, nullptr);
    auto& language = argument.substr(0, star) == "zh" ? tally.zh : tally.en;
    for (std::size_t id = 0; id < size; ++id) {
      tally.score[id] += weight * static_cast<double>(counts[id]);
      language[id] += counts[id];
    }
  }
  std::vector<TokenId> order(size);
  std::iota(order.begin(), order.end(), 0u);
  for (TokenId id = 0; id < size; ++id) {
    const std::string_view bytes = tokenizer->bytes(id);
    const Script script = script_of(bytes);
    const bool always = script == Script::CjkPunctuation ||
                        (script == Script::Cjk && (tally.score[id] > 0 || in_gb2312(bytes)));
    if (always) {
      tally.score[id] += 1e9;
      ++tally.zh[id];
    }
    if (is_blank_or_tag(bytes) || is_used_control(*tokenizer, id)) {
      tally.score[id] += 1e9;
      ++tally.zh[id];
      ++tally.en[id];
    }
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](TokenId a, TokenId b) { return tally.score[a] > tally.score[b]; });
  order.resize(std::min<std::size_t>(size, std::strtoul(argv[3], nullptr, 10)));
  std::sort(order.begin(), order.end());
  convert::KeptTable table;
  table.languages = {{"en", {}}, {"zh", {}}};
  for (const TokenId id : order) {
    if (tally.score[id] <= 0) continue;
    if (tally.en[id] > 0) table.languages[0].ids.push_back(id);
    if (tally.zh[id] > 0) table.languages[1].ids.push_back(id);
  }
  table.vocabulary_hash = convert::vocabulary_hash(*tokenizer, table.languages);
  const auto bytes = convert::serialize(table);
  if (auto status = base::write_file(argv[2], bytes); !status) return failed(status.error());
  std::printf("en %zu, zh %zu, %zu bytes\n", table.languages[0].ids.size(),
              table.languages[1].ids.size(), bytes.size());
  return 0;
}
