#include "train/vocabulary/vocabulary_train.h"

#include <sentencepiece_trainer.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/atomic_file.h"
#include "base/utf8.h"
#include "text/script.h"
#include "train/text/corpus.h"
#include "train/text/random.h"
#include "train/vocabulary/vocabulary_import.h"

namespace laya::train {
namespace {

// A part of lines without Latin letters is kept, for their punctuation.
constexpr double kPlainHanLineShare = 0.05;

struct Gathered {
  std::vector<std::string> lines;
  std::map<char32_t, std::uint64_t> han, symbols;
};

void count_characters(std::string_view line, Gathered& out) {
  for (const base::Decoded& d : base::CodePoints(line)) {
    if (d.status != base::Utf8Status::Valid) continue;
    if (text::is_han(d.code_point)) {
      ++out.han[d.code_point];
    } else if (d.code_point > 127) {
      ++out.symbols[d.code_point];
    }
  }
}

// The line without its Han characters, spaces folded.
std::string without_han(std::string_view line) {
  std::string out;
  for (const base::Decoded& d : base::CodePoints(line)) {
    if (text::is_han(d.code_point) || d.code_point == ' ') {
      if (!out.empty() && out.back() != ' ') out += ' ';
    } else {
      base::append_utf8(d.code_point, out);
    }
  }
  if (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

bool has_latin(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); });
}

void gather(std::string_view text, double weight, Random& random, Gathered& out) {
  for_each_line(text, [&](std::string_view line, std::size_t) {
    if (line.empty()) return;
    count_characters(line, out);
    std::string kept = without_han(line);
    if (kept.empty()) return;
    const bool had_han = kept.size() < line.size() && !has_latin(kept);
    if (had_han && random.uniform() >= kPlainHanLineShare) return;
    const double whole = std::floor(weight);
    const auto copies = static_cast<int>(whole) + (random.uniform() < weight - whole ? 1 : 0);
    for (int i = 0; i < copies; ++i) out.lines.push_back(kept);
  });
}

std::string required_characters(const Gathered& gathered, const VocabularyOptions& options) {
  std::string required;
  for (const auto& [c, count] : gathered.han) {
    if (count >= options.min_han_count) base::append_utf8(c, required);
  }
  std::vector<std::pair<std::uint64_t, char32_t>> symbols;
  for (const auto& [c, count] : gathered.symbols) {
    if (count >= options.min_symbol_count) symbols.emplace_back(count, c);
  }
  std::sort(symbols.rbegin(), symbols.rend());
  symbols.resize(std::min<std::size_t>(symbols.size(), options.max_symbols));
  for (const auto& [count, c] : symbols) base::append_utf8(c, required);
  for (char32_t c = 33; c < 127; ++c) base::append_utf8(c, required);
  return required;
}

class LineIterator final : public sentencepiece::SentenceIterator {
 public:
  explicit LineIterator(const std::vector<std::string>& lines) : lines_(lines) {}
  bool done() const override { return at_ == lines_.size(); }
  void Next() override { ++at_; }
  const std::string& value() const override { return lines_[at_]; }
  sentencepiece::util::Status status() const override { return {}; }

 private:
  const std::vector<std::string>& lines_;
  std::size_t at_ = 0;
};

// import_sentencepiece reads a file; the model goes through one that is removed at once.
Result<text::Vocabulary> import_model(const std::string& model) {
  std::string path = (std::filesystem::temp_directory_path() / "laya-vocabulary-XXXXXX").string();
  const int descriptor = ::mkstemp(path.data());
  if (descriptor < 0) return Error{ErrorCode::Io, path + ": cannot be created"};
  ::close(descriptor);
  const Status written = base::write_file(path, std::string_view(model));
  Result<text::Vocabulary> vocabulary =
      written ? import_sentencepiece(path) : Result<text::Vocabulary>(written.error());
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
  return vocabulary;
}

}  // namespace

Result<text::Vocabulary> train_vocabulary(const Mixture& mixture,
                                          const VocabularyOptions& options) {
  Gathered gathered;
  Random random(options.seed);
  for (const MixtureSource& source : mixture.sources) {
    Result<std::string> text = read_text(source.path);
    if (!text) return text.error();
    gather(*text, source.weight, random, gathered);
  }
  if (gathered.lines.empty())
    return Error{ErrorCode::BadArgument, "train vocab: the mixture holds no text"};
  // Drawn here and not by sentencepiece, whose choice depends on the system's random numbers.
  for (std::size_t i = gathered.lines.size(); i > 1; --i)
    std::swap(gathered.lines[i - 1], gathered.lines[random.below(i)]);
  gathered.lines.resize(std::min<std::size_t>(gathered.lines.size(), options.sentences));

  const std::unordered_map<std::string, std::string> arguments = {
      {"model_type", "unigram"},
      {"vocab_size", std::to_string(options.size)},
      {"character_coverage", "0.9999"},
      {"byte_fallback", "true"},
      {"split_digits", "true"},
      {"treat_whitespace_as_suffix", "true"},
      {"normalization_rule_name", "identity"},
      {"max_sentence_length", "4192"},
      {"user_defined_symbols", "<EMAIL>,<URL>,<NUM>"},
      {"required_chars", required_characters(gathered, options)},
      {"num_threads", "2"},
      {"minloglevel", "2"},
  };
  LineIterator lines(gathered.lines);
  std::string model;
  const auto status = sentencepiece::SentencePieceTrainer::Train(arguments, &lines, &model);
  if (!status.ok())
    return Error{ErrorCode::BadArgument, "train vocab: sentencepiece: " + status.ToString()};
  return import_model(model);
}

}  // namespace laya::train
