#include "eval/evaluate_diversity.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/utf8.h"
#include "eval/edit_distance.h"
#include "eval/measured_share.h"
#include "eval/typist.h"
#include "text/script.h"

namespace laya::eval {
namespace {

std::u32string letters_of(std::string_view text) {
  std::u32string letters;
  const std::string lower = lowered(text);
  for (const base::Decoded& code : base::CodePoints(lower)) {
    letters.push_back(code.code_point);
  }
  return letters;
}

struct Measured {
  MeasuredShare distance;
  MeasuredShare share;
  MeasuredShare near_lists;

  void list(std::span<const predict::Candidate> candidates) {
    if (candidates.size() < 2) {
      return;
    }
    std::vector<std::u32string> entries;
    for (const predict::Candidate& candidate : candidates) {
      entries.push_back(letters_of(candidate.text));
    }
    bool close = false;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      for (std::size_t j = i + 1; j < entries.size(); ++j) {
        const std::size_t edits = edit_distance(entries[i], entries[j]);
        const std::size_t longer = std::max({entries[i].size(), entries[j].size(), std::size_t{1}});
        distance.add(static_cast<double>(edits), 1);
        share.add(static_cast<double>(edits) / static_cast<double>(longer), 1);
        close = close || edits <= 1;
      }
    }
    near_lists.add(close ? 1 : 0, 1);
  }
};

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  return edit_distance(letters_of(a), letters_of(b));
}

Result<DiversityResult> evaluate_diversity(const predict::Engine& engine,
                                           const std::vector<std::string>& lines,
                                           const DiversityOptions& options) {
  if (options.slots < 2 || options.slots > predict::Reply::kMaxCandidates) {
    return Error{ErrorCode::BadArgument, "eval diversity: " + std::to_string(options.slots) +
                                             " slots; allowed are 2 to " +
                                             std::to_string(predict::Reply::kMaxCandidates)};
  }
  const std::vector<std::string_view> chosen = chosen_lines(lines, options.max_lines);
  if (chosen.empty()) {
    return Error{ErrorCode::BadArgument, "eval diversity: the text has no line that is not blank"};
  }
  Typist typist(engine);
  Measured measured;
  for (std::size_t n = 0; n < chosen.size(); ++n) {
    typist.new_line();
    const std::string_view line = chosen[n];
    std::size_t in_word = 0;  // letters of the open word
    for (std::size_t at = 0; at < line.size();) {
      const base::Decoded code = base::decode_utf8(line.substr(at));
      const bool han = text::is_han(code.code_point);
      const bool letter = text::script_of(code.code_point) == text::Script::Latin;
      if (han || (letter && in_word < 2)) {
        measured.list(typist.session
                          .decide({.candidates = options.slots,
                                   .ghost = predict::Want::No,
                                   .deep_wait_us = predict::kUntilDone,
                                   .taste = options.taste})
                          .candidates);
      }
      in_word = letter ? in_word + 1 : 0;
      if (Status status = typist.type(line.substr(at, code.length)); !status) {
        return status.error();
      }
      at += code.length;
    }
    for (MeasuredShare* share : {&measured.distance, &measured.share, &measured.near_lists}) {
      share->next_line();
    }
    if (options.progress) {
      options.progress(n + 1, chosen.size());
    }
  }
  DiversityResult result;
  result.lines = chosen.size();
  result.slots = options.slots;
  result.lists = static_cast<std::uint64_t>(measured.near_lists.below());
  result.distance = measured.distance.value();
  result.share = measured.share.value();
  result.near_lists = measured.near_lists.value();
  result.distance_interval = measured.distance.interval();
  result.share_interval = measured.share.interval();
  result.near_interval = measured.near_lists.interval();
  return result;
}

std::string to_json(const DiversityResult& result) {
  nlohmann::ordered_json json;
  json["lines"] = result.lines;
  json["slots"] = result.slots;
  json["lists"] = result.lists;
  json["distance"] = result.distance;
  json["distance_interval"] = to_json(result.distance_interval);
  json["share"] = result.share;
  json["share_interval"] = to_json(result.share_interval);
  json["near_lists"] = result.near_lists;
  json["near_lists_interval"] = to_json(result.near_interval);
  return json.dump();
}

}  // namespace laya::eval
