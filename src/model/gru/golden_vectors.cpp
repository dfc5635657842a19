#include "model/gru/golden_vectors.h"

#include <cmath>
#include <cstdio>
#include <sstream>

namespace laya::model {

Result<GoldenTensors> compute_golden(const LanguageModel& model) {
  const GruConfig& config = model.config();
  GoldenTensors tensors;
  const auto workspace = model.make_workspace();
  State state(config);
  for (std::uint32_t i = 0; i < 14; ++i) {
    const TokenId token =
        i == 0 ? 1 : (i * 37 + 5) % config.vocabulary_size;  // BOS, then a fixed walk
    if (auto status = model.advance(*workspace, state, token); !status) {
      return status.error();
    }
    tensors["step" + std::to_string(i) + ".output"].assign(state.output().begin(),
                                                           state.output().end());
  }
  for (std::size_t l = 0; l < config.layers; ++l) {
    const auto h = std::as_const(state).hidden(l);
    tensors["layer" + std::to_string(l) + ".h"].assign(h.begin(), h.end());
  }
  std::vector<float>& scores = tensors["scores"];
  scores.resize(config.vocabulary_size);
  if (auto status = model.logits(*workspace, state.output(), 1, scores); !status) {
    return status.error();
  }
  std::vector<float>& normalizer = tensors["log_normalizer"];
  normalizer.resize(1);
  if (auto status = model.log_normalizers(*workspace, state.output(), 1, normalizer); !status) {
    return status.error();
  }
  return tensors;
}

std::string write_golden(const GoldenTensors& tensors) {
  std::string text = "laya-golden 1\nregenerate ";
  text += kGoldenRegenerate;
  text += "\n";
  for (const auto& [name, numbers] : tensors) {
    text += "tensor " + name + " " + std::to_string(numbers.size()) + "\n";
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      char digits[32];
      std::snprintf(digits, sizeof(digits), "%.8g%c", static_cast<double>(numbers[i]),
                    i % 8 == 7 || i + 1 == numbers.size() ? '\n' : ' ');
      text += digits;
    }
  }
  return text;
}

Result<GoldenTensors> read_golden(const std::string& text) {
  std::istringstream in(text);
  std::string word;
  int version = 0;
  if (!(in >> word >> version) || word != "laya-golden") {
    return Error{ErrorCode::Corrupt, "golden vectors: line 1 is not 'laya-golden <version>'"};
  }
  if (version != 1) {
    return Error{ErrorCode::Version,
                 "golden vectors: version " + std::to_string(version) + ", this test reads 1"};
  }
  std::getline(in, word);
  std::getline(in, word);  // regenerate …
  GoldenTensors tensors;
  std::string name;
  std::size_t count = 0;
  while (in >> word >> name >> count) {
    std::vector<float>& numbers = tensors[name];
    numbers.resize(count);
    for (float& number : numbers) {
      if (!(in >> number)) {
        return Error{ErrorCode::Corrupt,
                     "golden vectors: tensor " + name + " has fewer numbers than it says"};
      }
    }
  }
  if (!in.eof()) {
    return Error{ErrorCode::Corrupt, "golden vectors: no tensor line after " + name};
  }
  return tensors;
}

std::string golden_mismatch(const GoldenTensors& want, const GoldenTensors& got, float absolute,
                            float relative) {
  std::string worst;
  float worst_excess = 0.0F;
  for (const auto& [name, numbers] : want) {
    const auto found = got.find(name);
    if (found == got.end() || found->second.size() != numbers.size()) {
      return "tensor " + name + " is missing or of another length; regenerate with " +
             kGoldenRegenerate;
    }
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const float excess =
          std::abs(found->second[i] - numbers[i]) - (absolute + relative * std::abs(numbers[i]));
      if (!(excess <= worst_excess)) {
        worst_excess = excess;
        worst = "tensor " + name + ", index " + std::to_string(i) + ": got " +
                std::to_string(found->second[i]) + ", want " + std::to_string(numbers[i]) +
                "; if the change is meant, regenerate with " + kGoldenRegenerate;
      }
    }
  }
  return worst;
}

}  // namespace laya::model
