// Engines for the tests of this room: the table of testdata/predict (built from text.txt there) and
// a small random network over the shipped vocabulary. What the random network says is noise, but
// the same noise on every machine.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "model/bench/random_model.h"
#include "model/gru/gru_reference_backend.h"
#include "model/ngram/model_bundle.h"
#include "predict/engine/engine.h"
#include "predict/session/session.h"
#include "text/tokenizer.h"

namespace laya::predict {

inline const model::NgramModel& test_table() {
  static const auto bundle =
      model::ModelBundle::open(std::string(LAYA_SOURCE_DIR) + "/testdata/predict/ngram.laya");
  if (!bundle) {
    ADD_FAILURE() << bundle.error().message;
    std::abort();
  }
  return *bundle->ngrams();
}

inline std::unique_ptr<text::Tokenizer> test_tokenizer() {
  std::ifstream in(std::string(LAYA_SOURCE_DIR) + "/models/instant/vocabulary.bin",
                   std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  auto vocabulary =
      text::Vocabulary::parse({reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()});
  if (!vocabulary) {
    ADD_FAILURE() << vocabulary.error().message;
    std::abort();
  }
  return std::make_unique<text::Tokenizer>(std::move(*vocabulary));
}

inline std::unique_ptr<model::LanguageModel> test_network() {
  model::GruConfig config;
  config.vocabulary_size = 16384;
  config.embedding_dim = 16;
  config.hidden_dim = 32;
  config.layers = 2;
  config.heads = 2;
  config.head_dim = 8;
  config.window = 5;
  return model::make_reference_model(config, model::random_weights(config, 7));
}

inline Mixing even_mixing() {
  Mixing mixing;
  for (auto& row : mixing.word_network) {
    row.fill(0.5F);
  }
  mixing.han_network.fill(0.5F);
  return mixing;
}

/// The parts of those engines, to add to.
inline EngineParts table_parts() {
  EngineParts parts;
  parts.ngrams = {std::shared_ptr<void>(), &test_table()};  // lives as long as the program
  return parts;
}
inline EngineParts network_parts() {
  EngineParts parts;
  parts.network = test_network();
  parts.tokenizer = test_tokenizer();
  return parts;
}
inline EngineParts full_parts() {
  EngineParts parts = network_parts();
  parts.ngrams = table_parts().ngrams;
  return parts;
}
inline std::shared_ptr<const Engine> build_or_abort(EngineParts parts,
                                                    const EngineOptions& options = {}) {
  auto engine = Engine::build(std::move(parts), options);
  if (!engine) {
    ADD_FAILURE() << engine.error().message;
    std::abort();
  }
  return *engine;
}

/// The table alone: what it says is known, so is what must be offered.
inline const Engine& table_engine() {
  static const auto engine = build_or_abort(table_parts());
  return *engine;
}

/// Both sources, even shares.
inline const Engine& full_engine() {
  static const Mixing mixing = even_mixing();
  static const auto engine = build_or_abort(full_parts(), {.mixing = &mixing});
  return *engine;
}

inline const Engine& network_engine() {
  static const auto engine = build_or_abort(network_parts());
  return *engine;
}

/// The reply of a fresh session to `before` | `after`, copied out.
struct Answer {
  std::vector<std::string> texts;
  std::vector<std::string> inserts;
  std::vector<float> log_probs;
  std::string ghost;
  Silence silence = Silence::Answered;
};

inline Answer copy_of(const Reply& reply) {
  Answer answer;
  for (const Candidate& candidate : reply.candidates) {
    answer.texts.emplace_back(candidate.text);
    answer.inserts.emplace_back(candidate.insert);
    answer.log_probs.push_back(candidate.log_prob);
  }
  answer.ghost = reply.has_ghost ? std::string(reply.ghost.text) : std::string();
  answer.silence = reply.silence;
  return answer;
}

inline Answer ask(const Engine& engine, std::string_view before, std::string_view after = {},
                  LeftEdge left_edge = LeftEdge::FieldStart) {
  Session session(engine);
  session.set_text({.revision = 1, .before = before, .after = after, .left_edge = left_edge});
  return copy_of(session.decide({.candidates = 10, .deep_wait_us = kUntilDone}));
}

}  // namespace laya::predict
