#include "train/decision/ranking_file.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "model/decision/decision_config.h"

namespace laya::train {
namespace {

constexpr std::string_view kMagic = "#laya-ranking 1";
constexpr std::string_view kFeatures = "#features";

/// The names as a ranker's configuration will want them.
Status check_names(std::vector<std::string> names) {
  return model::default_ranker_config(std::move(names)).validate();
}

/// Takes the text up to `end` (or all) from the front.
std::string_view take(std::string_view& text, char end) {
  const std::size_t at = std::min(text.find(end), text.size());
  const std::string_view taken = text.substr(0, at);
  text.remove_prefix(std::min(at + 1, text.size()));
  return taken;
}

class Parser {
 public:
  Parser(std::string_view text, std::string_view source) : text_(text), source_(source) {}

  Result<RankingGroups> run() {
    if (next_line() != kMagic) {
      return bad("does not begin with '" + std::string(kMagic) + "'");
    }
    if (Status status = read_names(); !status) {
      return status.error();
    }
    while (!text_.empty()) {
      const std::string_view line = next_line();
      if (line.empty()) {
        end_group();
      } else if (line.front() == '#' && groups_.values.empty()) {
        continue;
      } else if (Status status = read_row(line); !status) {
        return status.error();
      }
    }
    end_group();
    if (groups_.right.empty()) {
      return bad("holds no decision");
    }
    return std::move(groups_);
  }

 private:
  std::string_view next_line() {
    ++line_;
    std::string_view line = take(text_, '\n');
    if (line.ends_with('\r')) line.remove_suffix(1);
    return line;
  }

  Error bad(const std::string& what, ErrorCode code = ErrorCode::Corrupt) const {
    return Error{code, std::string(source_) + ": line " + std::to_string(line_) + ": " + what};
  }

  Status read_names() {
    std::string_view line = next_line();
    if (take(line, '\t') != kFeatures || line.empty()) {
      return bad("is not '#features' and the names, with tabs between them");
    }
    while (!line.empty()) {
      groups_.features.emplace_back(take(line, '\t'));
      if (groups_.features.size() > model::kMaxDecisionFeatures) break;
    }
    if (Status status = check_names(groups_.features); !status) return bad(status.error().message);
    groups_.first_row = {0};
    return {};
  }

  Status read_row(std::string_view line) {
    const std::string_view label = take(line, '\t');
    if (label != "0" && label != "1") {
      return bad("a candidate begins with 1 (the right one) or 0");
    }
    if (rows_ == kMaxRankingCandidates) {
      return bad("a decision has at most " + std::to_string(kMaxRankingCandidates) + " candidates");
    }
    if (label == "1") {
      if (right_ != kNoneRight) return bad("a second right candidate in one decision");
      right_ = static_cast<std::int32_t>(rows_);
    }
    if (groups_.values.size() + groups_.features.size() > kMaxRankingNumbers) {
      return bad("too many numbers: at most " + std::to_string(kMaxRankingNumbers),
                 ErrorCode::TooLarge);
    }
    const std::size_t width = groups_.features.size();
    std::size_t fields = 0;
    for (bool more = true; more && fields <= width; ++fields) {
      more = line.find('\t') != std::string_view::npos;
      const std::string_view field = take(line, '\t');
      float value = 0.0F;
      const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
      if (error != std::errc{} || end != field.data() + field.size() || !std::isfinite(value)) {
        return bad("field " + std::to_string(fields + 2) + " is no finite number");
      }
      groups_.values.push_back(value);
    }
    if (fields != width) {
      return bad("a candidate has " + std::to_string(width) + " numbers");
    }
    ++rows_;
    return {};
  }

  void end_group() {
    if (rows_ == 0) return;
    groups_.first_row.push_back(groups_.first_row.back() + rows_);
    groups_.right.push_back(right_);
    rows_ = 0;
    right_ = kNoneRight;
  }

  std::string_view text_;
  std::string_view source_;
  std::size_t line_ = 0;
  std::uint32_t rows_ = 0;  // of the decision that is being read
  std::int32_t right_ = kNoneRight;
  RankingGroups groups_;
};

}  // namespace

RankingGroups RankingGroups::part(std::size_t first, std::size_t last) const {
  RankingGroups part;
  part.features = features;
  const std::uint32_t from = first_row[first];
  const std::size_t width = features.size();
  part.values.assign(values.begin() + static_cast<std::ptrdiff_t>(from * width),
                     values.begin() + static_cast<std::ptrdiff_t>(first_row[last] * width));
  for (std::size_t g = first; g <= last; ++g) {
    part.first_row.push_back(first_row[g] - from);
  }
  part.right.assign(right.begin() + static_cast<std::ptrdiff_t>(first),
                    right.begin() + static_cast<std::ptrdiff_t>(last));
  return part;
}

Result<RankingGroups> parse_ranking(std::string_view text, std::string_view source) {
  return Parser(text, source).run();
}

Result<RankingWriter> RankingWriter::create(const std::string& path,
                                            std::span<const std::string> features) {
  if (Status status = check_names({features.begin(), features.end()}); !status) {
    return status.error();
  }
  Result<base::AtomicFile> file = base::AtomicFile::create(path);
  if (!file) return file.error();
  std::string head = std::string(kMagic) + "\n" + std::string(kFeatures);
  for (const std::string& name : features) {
    head += "\t" + name;
  }
  if (Status status = file->write(head + "\n"); !status) return status.error();
  return RankingWriter(std::move(*file), features.size());
}

Status RankingWriter::add(std::span<const float> values, std::int32_t right) {
  const std::size_t rows = values.size() / width_;
  if (rows == 0 || rows > kMaxRankingCandidates || values.size() % width_ != 0 ||
      right < kNoneRight || right >= static_cast<std::int32_t>(rows)) {
    return Error{ErrorCode::BadArgument,
                 "ranking file: " + std::to_string(values.size()) +
                     " numbers and right candidate " + std::to_string(right) +
                     " are no decision of 1 to " + std::to_string(kMaxRankingCandidates) +
                     " candidates with " + std::to_string(width_) + " numbers each"};
  }
  text_.clear();
  for (std::size_t row = 0; row < rows; ++row) {
    text_ += static_cast<std::int32_t>(row) == right ? '1' : '0';
    for (std::size_t f = 0; f < width_; ++f) {
      const float value = values[row * width_ + f];
      if (!std::isfinite(value)) {
        return Error{ErrorCode::BadArgument, "ranking file: number " + std::to_string(f) +
                                                 " of candidate " + std::to_string(row) +
                                                 " is NaN or infinite"};
      }
      char digits[32];  // the shortest text that reads back as the same float takes 15 at most
      const auto end = std::to_chars(digits, digits + sizeof(digits), value).ptr;
      text_ += '\t';
      text_.append(digits, end);
    }
    text_ += '\n';
  }
  text_ += '\n';
  return file_.write(text_);
}

Status RankingWriter::finish() { return file_.commit(); }

}  // namespace laya::train
