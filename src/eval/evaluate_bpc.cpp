#include "eval/evaluate_bpc.h"

#include <array>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <numbers>

#include "base/utf8.h"
#include "eval/measured_share.h"
#include "model/gru/language_model.h"
#include "predict/deep/deep_model.h"
#include "predict/deep/sentence_scorer.h"
#include "text/tokenizer.h"

namespace laya::eval {
namespace {

using predict::Engine;
using predict::SentenceScorer;

// The front of a line, cut between characters.
std::string_view measured_part(std::string_view line) {
  if (line.size() <= kMaxBpcBytes) {
    return line;
  }
  const std::string_view front = line.substr(0, kMaxBpcBytes);
  return front.substr(0, base::complete_utf8_length(front));
}

// ln p of a text token by token, by the network.
class NetworkReader {
 public:
  explicit NetworkReader(const Engine& engine)
      : network_(engine.network()),
        tokenizer_(engine.tokenizer()),
        workspace_(network_->make_workspace(engine.threads())),
        state_(network_->config()) {}

  Status read(std::string_view text, double* log_prob, std::size_t* tokens) {
    state_.reset();
    const std::vector<TokenId> ids = tokenizer_->encode(text);
    *tokens = ids.size();
    *log_prob = 0;
    TokenId last = tokenizer_->vocabulary().begin_id();
    for (const TokenId id : ids) {
      if (Status status = network_->advance(*workspace_, state_, last); !status) {
        return status;
      }
      const std::span<const float> hidden = state_.output();
      float log_z = 0;
      float logit = 0;
      if (Status status = network_->log_normalizers(*workspace_, hidden, 1, std::span(&log_z, 1));
          !status) {
        return status;
      }
      if (Status status = network_->logits_rows(*workspace_, hidden, 1, std::span(&id, 1),
                                                std::span(&logit, 1));
          !status) {
        return status;
      }
      *log_prob += static_cast<double>(logit) - static_cast<double>(log_z);
      last = id;
    }
    return {};
  }

 private:
  const model::LanguageModel* network_;
  const text::Tokenizer* tokenizer_;
  std::unique_ptr<model::Workspace> workspace_;
  model::State state_;
};

class DecoderReader {
 public:
  explicit DecoderReader(const Engine& engine)
      : tokenizer_(&engine.deep()->tokenizer()),
        scorer_(engine.deep()->decoder(), *tokenizer_,
                {.threads = engine.threads(),
                 .keys_and_values = {.capacity_tokens = 512, .tree_nodes = 1024}}) {}

  Status read(std::string_view text, double* log_prob, std::size_t* tokens) {
    if (Status status = scorer_.set_context({}); !status) {
      return status;
    }
    float found = 0;
    if (Status status = scorer_.score(std::span(&text, 1), std::span(&found, 1)); !status) {
      return status;
    }
    *log_prob = static_cast<double>(found);
    *tokens = tokenizer_->encode(text).size();
    return {};
  }

 private:
  const text::SubwordTokenizer* tokenizer_;
  SentenceScorer scorer_;
};

template <typename Reader, typename Progressed>
Result<BpcResult::Bits> measure(Reader& reader, const std::vector<std::string_view>& lines,
                                const Progressed& progressed) {
  MeasuredShare bits;
  double all_tokens = 0;
  for (const std::string_view line : lines) {
    const std::string_view text = measured_part(line);
    double log_prob = 0;
    std::size_t tokens = 0;
    if (Status status = reader.read(text, &log_prob, &tokens); !status) {
      return status.error();
    }
    bits.add(-log_prob / std::numbers::ln2, static_cast<double>(base::count_code_points(text)));
    bits.next_line();
    all_tokens += static_cast<double>(tokens);
    progressed();
  }
  return BpcResult::Bits{bits.value(), bits.interval(), all_tokens / bits.below()};
}

nlohmann::ordered_json bits_json(const std::optional<BpcResult::Bits>& bits) {
  if (!bits) {
    return nullptr;
  }
  return {{"bits", bits->bits},
          {"bits_interval", to_json(bits->interval)},
          {"tokens_per_character", bits->tokens_per_character}};
}

}  // namespace

Result<BpcResult> evaluate_bpc(const Engine& engine, const std::vector<std::string>& lines,
                               const BpcOptions& options) {
  const std::vector<std::string_view> chosen = chosen_lines(lines, options.max_lines);
  if (chosen.empty()) {
    return Error{ErrorCode::BadArgument, "eval bpc: the text has no line that is not blank"};
  }
  if (engine.network() == nullptr && engine.deep() == nullptr) {
    return Error{ErrorCode::BadArgument, "eval bpc: needs a network or a decoder"};
  }
  BpcResult result;
  result.lines = chosen.size();
  for (const std::string_view line : chosen) {
    result.characters += base::count_code_points(measured_part(line));
  }
  const std::size_t readers =
      (engine.network() != nullptr ? 1U : 0U) + (engine.deep() != nullptr ? 1U : 0U);
  std::size_t done = 0;
  const auto progressed = [&] {
    ++done;
    if (options.progress) {
      options.progress(done, readers * chosen.size());
    }
  };
  if (engine.network() != nullptr) {
    NetworkReader reader(engine);
    Result<BpcResult::Bits> bits = measure(reader, chosen, progressed);
    if (!bits) return std::move(bits).error();
    result.network = *bits;
  }
  if (engine.deep() != nullptr) {
    DecoderReader reader(engine);
    Result<BpcResult::Bits> bits = measure(reader, chosen, progressed);
    if (!bits) return std::move(bits).error();
    result.decoder = *bits;
  }
  return result;
}

std::string to_json(const BpcResult& result) {
  nlohmann::ordered_json json;
  json["lines"] = result.lines;
  json["characters"] = result.characters;
  json["network"] = bits_json(result.network);
  json["decoder"] = bits_json(result.decoder);
  return json.dump();
}

}  // namespace laya::eval
