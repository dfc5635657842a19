#include "laya-train/peers/bench_peers_parity.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "model/backends/cpu.h"
#include "model/backends/reference.h"
#include "model/decoder/decoder_loading.h"

namespace laya::apps {
namespace {

// Beginnings of sentences, ours: letters, notes, questions, code, numbers, a name or two.
constexpr std::array kPrompts = {
    "I want to go to the",
    "Thank you for your letter. We are happy to",
    "The best way to learn a new language is",
    "Dear Ms Harper, I am writing to ask whether",
    "When the train finally arrived, the passengers",
    "To make a good soup, first",
    "The meeting has been moved to",
    "My grandmother used to say that",
    "In this paper we show that",
    "What is the difference between a list and",
    "It was a cold morning in November, and",
    "Please find attached the report about",
    "The main reason why cities grow is",
    "def read_lines(path):\n    with open(path) as",
    "Ingredients: 200 g flour, 3 eggs, 1",
    "She opened the old wooden box and found",
    "The water cycle begins when",
    "If you have any questions, please do not",
    "On Saturday we are going to the market because",
    "The three most important things in life are",
};

/// The two likeliest, the likelier first.
std::pair<TokenId, TokenId> best_two(std::span<const float> logits) {
  TokenId first = logits[0] >= logits[1] ? 0 : 1;
  TokenId second = 1 - first;
  for (TokenId token = 2; token < logits.size(); ++token) {
    if (logits[token] > logits[first]) {
      second = std::exchange(first, token);
    } else if (logits[token] > logits[second]) {
      second = token;
    }
  }
  return {first, second};
}

/// Gaps that they are asked for after one text, and who waits for the answers.
struct Questions {
  nlohmann::json pairs = nlohmann::json::array();
  std::vector<double> exact_gaps;        // of the pairs that measure the noise
  std::vector<std::size_t> noise_pairs;  // indices of those
  std::vector<std::size_t> differences;  // indices of the others, in order

  std::size_t add(std::size_t place, TokenId a, TokenId b) {
    pairs.push_back({place, a, b});
    return pairs.size() - 1;
  }
};

class Comparison {
 public:
  Comparison(const ConvertedModel& ours, const model::Decoder& exact, PeerProcess& peer)
      : tokenizer_(ours.tokenizer),
        ours_(*ours.decoder, model::Threads::One),
        exact_(exact, model::Threads::One),
        peer_(peer) {}

  /// One prompt: their greedy text, and at each place what we and fp32 would have chosen after the
  /// same text.
  Status compare(std::size_t number, std::size_t count) {
    std::vector<TokenId> prompt;
    if (tokenizer_.add_bos()) prompt.push_back(tokenizer_.bos());
    const std::vector<TokenId> text = tokenizer_.encode(kPrompts[number]);
    prompt.insert(prompt.end(), text.begin(), text.end());
    const auto answer = peer_.ask({{"do", "greedy"}, {"prompt", prompt}, {"count", count}});
    if (!answer) return answer.error();
    const std::vector<TokenId> theirs = answer->value("tokens", std::vector<TokenId>{});
    if (theirs.size() != count) {
      return Error{ErrorCode::Io, "llama.cpp did not continue the prompt"};
    }
    ours_.clear();
    exact_.clear();
    const std::size_t before = parity_.differences.size();
    Questions questions;
    for (std::size_t i = 0; i < count; ++i) {
      const std::span<const TokenId> next =
          i == 0 ? std::span<const TokenId>(prompt) : std::span(theirs).subspan(i - 1, 1);
      if (Status s = ours_.read(next); !s) return s;
      if (Status s = exact_.read(next); !s) return s;
      if (theirs[i] >= ours_.logits().size()) {
        return Error{ErrorCode::Corrupt, "the two files have different vocabularies"};
      }
      look_at(number, i, theirs[i], questions);
    }
    ++parity_.prompts;
    parity_.positions += count;
    parity_.equal_prompts += parity_.differences.size() == before ? 1 : 0;
    return ask(prompt, theirs, questions, before);
  }

  Parity result() {
    const double places = static_cast<double>(std::max<std::size_t>(parity_.noise.places, 1));
    parity_.noise.ours_rms = std::sqrt(our_squares_ / places);
    parity_.noise.theirs_rms = std::sqrt(their_squares_ / places);
    return std::move(parity_);
  }

 private:
  void look_at(std::size_t number, std::size_t place, TokenId their, Questions& questions) {
    const auto [first, second] = best_two(exact_.logits());
    questions.noise_pairs.push_back(questions.add(place, first, second));
    questions.exact_gaps.push_back(exact_.gap(first, second));
    const double off = ours_.gap(first, second) - exact_.gap(first, second);
    our_squares_ += off * off;
    ++parity_.noise.places;
    const TokenId our = ours_.best();
    if (our == their) return;
    questions.differences.push_back(questions.add(place, their, our));
    const auto bytes = [&](TokenId token) { return std::string(tokenizer_.bytes(token)); };
    parity_.differences.push_back({number, place, bytes(our), bytes(their), bytes(first),
                                   ours_.gap(our, their), 0, exact_.gap(our, their)});
  }

  Status ask(const std::vector<TokenId>& prompt, const std::vector<TokenId>& theirs,
             const Questions& questions, std::size_t first_difference) {
    const auto answer = peer_.ask(
        {{"do", "gaps"}, {"prompt", prompt}, {"next", theirs}, {"pairs", questions.pairs}});
    if (!answer) return answer.error();
    const std::vector<double> gaps = answer->value("gaps", std::vector<double>{});
    if (gaps.size() != questions.pairs.size()) {
      return Error{ErrorCode::Io, "llama.cpp did not tell its logits"};
    }
    for (std::size_t i = 0; i < questions.noise_pairs.size(); ++i) {
      const double off = gaps[questions.noise_pairs[i]] - questions.exact_gaps[i];
      their_squares_ += off * off;
    }
    for (std::size_t i = 0; i < questions.differences.size(); ++i) {
      parity_.differences[first_difference + i].their_gap = gaps[questions.differences[i]];
    }
    return {};
  }

  const text::SubwordTokenizer& tokenizer_;
  GreedyReader ours_;
  GreedyReader exact_;
  PeerProcess& peer_;
  Parity parity_;
  double our_squares_ = 0;
  double their_squares_ = 0;
};

}  // namespace

Result<ConvertedModel> open_converted(const std::string& path) {
  Result<format::ModelFile> file = format::ModelFile::open(path);
  if (!file) return std::move(file).error();
  auto decoder = model::load_decoder(*file, model::cpu_backend());
  if (!decoder) return std::move(decoder).error();
  const auto blob = file->blob("tokenizer");
  if (!blob) return blob.error();
  Result<text::SubwordTokenizer> tokenizer = text::SubwordTokenizer::parse(*blob);
  if (!tokenizer) return std::move(tokenizer).error();
  const bool pruned = file->has("kept_tokens");
  return ConvertedModel{std::move(*file), std::move(*decoder), std::move(*tokenizer), pruned};
}

GreedyReader::GreedyReader(const model::Decoder& decoder, model::Threads threads)
    : decoder_(decoder),
      workspace_(decoder.make_workspace(threads)),
      cache_(decoder.config()),
      hidden_(decoder.config().hidden_dim),
      logits_(decoder.config().vocabulary_size) {}

Status GreedyReader::read(std::span<const TokenId> tokens) {
  if (Status s = decoder_.prefill(*workspace_, cache_, tokens, hidden_); !s) return s;
  return decoder_.logits(*workspace_, hidden_, 1, logits_);
}

TokenId GreedyReader::best() const {
  return static_cast<TokenId>(std::max_element(logits_.begin(), logits_.end()) - logits_.begin());
}

double Parity::tie_bar() const { return 3 * std::hypot(noise.ours_rms, noise.theirs_rms); }

bool Parity::is_near_tie(const Difference& difference) const {
  return std::abs(difference.exact_gap) <= tie_bar();
}

Result<Parity> compare_greedy_text(
    const ConvertedModel& ours, PeerProcess& peer, std::size_t prompts, std::size_t tokens,
    const std::function<void(const std::string& stage, std::size_t done, std::size_t total)>&
        progress) {
  const auto exact = model::load_decoder(ours.file, model::reference_backend());
  if (!exact) return exact.error();
  Comparison comparison(ours, **exact, peer);
  prompts = std::min(prompts, kPrompts.size());
  for (std::size_t i = 0; i < prompts; ++i) {
    if (progress) progress("greedy text", i, prompts);
    if (const Status status = comparison.compare(i, tokens); !status) return status.error();
  }
  return comparison.result();
}

}  // namespace laya::apps
