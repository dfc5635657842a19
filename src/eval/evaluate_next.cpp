#include "eval/evaluate_next.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/utf8.h"
#include "eval/measured_share.h"
#include "eval/quantile.h"
#include "eval/typist.h"
#include "text/script.h"
#include "text/units.h"

namespace laya::eval {
namespace {

using predict::Engine;
using predict::kUntilDone;
using predict::NextHan;
using predict::Reply;
using predict::Want;

constexpr std::size_t kMiss = NextResult::kList;

bool is_measured_han(char32_t c) { return c >= 0x4E00 && c <= 0x9FFF; }

bool is_chinese(char32_t c) { return text::is_han(c) || text::is_cjk_punctuation(c); }

// Hits at places of one kind.
struct Hits {
  void add(std::size_t rank) {
    top1.add(rank == 0 ? 1 : 0, 1);
    top3.add(rank < 3 ? 1 : 0, 1);
    mrr.add(rank < kMiss ? 1 / static_cast<double>(rank + 1) : 0, 1);
  }
  void next_line() {
    for (MeasuredShare* share : {&top1, &top3, &mrr}) share->next_line();
  }
  NextResult::Places places() const {
    return {static_cast<std::uint64_t>(top1.below()),
            top1.value(),
            top3.value(),
            mrr.value(),
            top1.interval(),
            top3.interval(),
            mrr.interval()};
  }
  MeasuredShare top1;
  MeasuredShare top3;
  MeasuredShare mrr;
};

struct Measuring {
  explicit Measuring(const Engine& engine) : typist(engine) {}

  Status line(std::string_view text, const std::vector<std::size_t>* starts);
  Status word(std::string_view word);
  void han(char32_t meant);
  void han_word(std::string_view follows, std::size_t length);
  const Reply& ask() {
    const Reply& reply = typist.session.decide(
        {.candidates = NextResult::kList, .ghost = Want::No, .deep_wait_us = kUntilDone});
    key_us.push_back(reply.latency.total_us);
    return reply;
  }

  Typist typist;
  std::array<Hits, NextResult::kPrefix> words;
  Hits characters;
  Hits han_words;
  Hits exact_words;
  std::vector<float> key_us;
};

// Types a word, asking before each of its first letters.
Status Measuring::word(std::string_view word) {
  const std::string meant = lowered(word);
  std::size_t letters = 0;
  for (std::size_t at = 0; at < word.size(); ++letters) {
    if (letters < words.size()) {
      const Reply& reply = ask();
      std::size_t rank = 0;
      while (rank < reply.candidates.size() && lowered(reply.candidates[rank].text) != meant) {
        ++rank;
      }
      words[letters].add(rank < reply.candidates.size() ? rank : kMiss);
    }
    const std::size_t length = base::decode_utf8(word.substr(at)).length;
    if (Status status = typist.type(word.substr(at, length)); !status) {
      return status;
    }
    at += length;
  }
  return {};
}

void Measuring::han(char32_t meant) {
  std::array<NextHan, NextResult::kList> best{};
  const std::size_t found = typist.session.next_han(best);
  std::size_t rank = 0;
  while (rank < found && best[rank].code_point != meant) {
    ++rank;
  }
  characters.add(rank < found ? rank : kMiss);
}

void Measuring::han_word(std::string_view follows, std::size_t length) {
  const Reply& reply = ask();
  std::size_t rank = kMiss;
  std::size_t exact = kMiss;
  for (std::size_t i = reply.candidates.size(); i-- > 0;) {
    const predict::Candidate& candidate = reply.candidates[i];
    if (candidate.erase_before == 0 && !candidate.insert.empty() &&
        follows.starts_with(candidate.insert)) {
      rank = i;
      exact = candidate.insert.size() == length ? i : exact;
    }
  }
  han_words.add(rank);
  exact_words.add(exact);
}

Status Measuring::line(std::string_view text, const std::vector<std::size_t>* starts) {
  typist.new_line();
  std::size_t next_start = 0;
  bool word_may_begin = true;
  for (std::size_t at = 0; at < text.size();) {
    const base::Decoded code = base::decode_utf8(text.substr(at));
    text::Unit unit;
    if (word_may_begin && text::next_unit(text, at, &unit) && unit.begin == at &&
        unit.kind == text::UnitKind::Word) {
      if (Status status = word(text.substr(at, unit.end - at)); !status) {
        return status;
      }
      at = unit.end;
      word_may_begin = false;
      continue;
    }
    if (starts != nullptr) {
      while (next_start < starts->size() && (*starts)[next_start] < at) ++next_start;
      if (next_start < starts->size() && (*starts)[next_start] == at) {
        std::size_t end = at;
        const std::size_t limit =
            next_start + 1 < starts->size() ? (*starts)[next_start + 1] : text.size();
        while (end < limit && text::is_han(base::decode_utf8(text.substr(end)).code_point)) {
          end += base::decode_utf8(text.substr(end)).length;
        }
        han_word(text.substr(at), end - at);
      }
    }
    if (is_measured_han(code.code_point)) {
      han(code.code_point);
    }
    if (Status status = typist.type(text.substr(at, code.length)); !status) {
      return status;
    }
    word_may_begin = text::script_of(code.code_point) == text::Script::Space;
    at += code.length;
  }
  for (Hits& hits : words) hits.next_line();
  for (Hits* hits : {&characters, &han_words, &exact_words}) hits->next_line();
  return {};
}

nlohmann::ordered_json places_json(const NextResult::Places& places) {
  if (places.count == 0) {
    return nullptr;
  }
  return {{"places", places.count},
          {"top1", places.top1},
          {"top1_interval", to_json(places.top1_interval)},
          {"top3", places.top3},
          {"top3_interval", to_json(places.top3_interval)},
          {"mrr", places.mrr},
          {"mrr_interval", to_json(places.mrr_interval)}};
}

}  // namespace

MarkedLine read_marked(std::string_view line) {
  MarkedLine marked;
  char32_t before = 0;
  bool blank = true;
  for (std::size_t at = 0; at < line.size();) {
    const base::Decoded code = base::decode_utf8(line.substr(at));
    if (code.code_point == ' ') {
      blank = true;
    } else {
      const bool joined = is_chinese(before) && is_chinese(code.code_point);
      if (blank && !joined && !marked.text.empty()) {
        marked.text += ' ';
      }
      // A word begins behind a mark of punctuation too.
      if (text::is_han(code.code_point) && (blank || !text::is_han(before))) {
        marked.word_starts.push_back(marked.text.size());
      }
      marked.text += line.substr(at, code.length);
      before = code.code_point;
      blank = false;
    }
    at += code.length;
  }
  return marked;
}

Result<NextResult> evaluate_next(const Engine& engine, const std::vector<std::string>& lines,
                                 const NextOptions& options) {
  const std::vector<std::string_view> chosen = chosen_lines(lines, options.max_lines);
  if (chosen.empty()) {
    return Error{ErrorCode::BadArgument, "eval next: the text has no line that is not blank"};
  }
  Measuring measuring(engine);
  for (std::size_t n = 0; n < chosen.size(); ++n) {
    Status status;
    if (options.segmented == Segmented::Marked) {
      const MarkedLine marked = read_marked(chosen[n]);
      status = measuring.line(marked.text, &marked.word_starts);
    } else {
      status = measuring.line(chosen[n], nullptr);
    }
    if (!status) {
      return status.error();
    }
    if (options.progress) {
      options.progress(n + 1, chosen.size());
    }
  }
  NextResult result;
  result.lines = chosen.size();
  for (std::size_t i = 0; i < measuring.words.size(); ++i) {
    result.words[i] = measuring.words[i].places();
  }
  result.zh_characters = measuring.characters.places();
  result.zh_words = measuring.han_words.places();
  result.zh_word_exact = measuring.exact_words.places();
  result.key_us_p50 = quantile(measuring.key_us, 0.5);
  result.key_us_p99 = quantile(measuring.key_us, 0.99);
  result.deep = measuring.typist.session.deep_statistics();
  return result;
}

std::string to_json(const NextResult& result) {
  nlohmann::ordered_json json;
  json["lines"] = result.lines;
  json["words"] = nlohmann::ordered_json::array();
  for (std::size_t letters = 0; letters < result.words.size(); ++letters) {
    if (result.words[letters].count > 0) {
      nlohmann::ordered_json row = {{"letters", letters}};
      row.update(places_json(result.words[letters]));
      json["words"].push_back(std::move(row));
    }
  }
  json["zh_characters"] = places_json(result.zh_characters);
  json["zh_words"] = places_json(result.zh_words);
  json["zh_word_exact"] = places_json(result.zh_word_exact);
  json["key_us"] = {{"p50", result.key_us_p50}, {"p99", result.key_us_p99}};
  return json.dump();
}

Result<NextCharResult> evaluate_next_char(const Engine& engine,
                                          const std::vector<std::string>& lines,
                                          const NextCharOptions& options) {
  const std::vector<std::string_view> chosen = chosen_lines(lines, options.max_lines);
  if (chosen.empty()) {
    return Error{ErrorCode::BadArgument, "eval next-char: the text has no line that is not blank"};
  }
  NextCharResult result;
  result.lines = chosen.size();
  Typist typist(engine);
  MeasuredShare top1;
  MeasuredShare top3;
  for (std::size_t n = 0; n < chosen.size(); ++n) {
    typist.new_line();
    std::string_view rest = chosen[n];
    while (!rest.empty()) {
      const base::Decoded code = base::decode_utf8(rest);
      if (is_measured_han(code.code_point)) {
        std::array<NextHan, 3> best{};
        const std::size_t found = typist.session.next_han(best);
        ++result.characters;
        std::size_t rank = 0;
        while (rank < found && best[rank].code_point != code.code_point) {
          ++rank;
        }
        const bool hit = rank < found;
        result.top1 += hit && rank == 0 ? 1 : 0;
        result.top3 += hit ? 1 : 0;
        top1.add(hit && rank == 0 ? 1 : 0, 1);
        top3.add(hit ? 1 : 0, 1);
      }
      if (Status status = typist.type(rest.substr(0, code.length)); !status) {
        return status.error();
      }
      rest.remove_prefix(code.length);
    }
    top1.next_line();
    top3.next_line();
    if (options.progress) {
      options.progress(n + 1, chosen.size());
    }
  }
  result.top1_interval = top1.interval();
  result.top3_interval = top3.interval();
  result.deep = typist.session.deep_statistics();
  return result;
}

std::string to_json(const NextCharResult& result) {
  const auto share = [&](std::uint64_t hits) {
    return result.characters == 0
               ? 0.0
               : static_cast<double>(hits) / static_cast<double>(result.characters);
  };
  nlohmann::ordered_json json;
  json["lines"] = result.lines;
  json["characters"] = result.characters;
  json["top1"] = share(result.top1);
  json["top1_interval"] = to_json(result.top1_interval);
  json["top3"] = share(result.top3);
  json["top3_interval"] = to_json(result.top3_interval);
  return json.dump();
}

}  // namespace laya::eval
