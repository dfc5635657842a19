// Writes small valid files for fuzz_network, fuzz_decoder, fuzz_decision and fuzz_ngram:
// `make_model_corpus CORPUS_FOLDER`. The mutators do the damage.
#include <cstdio>
#include <string>

#include "base/atomic_file.h"
#include "format/model_writer.h"
#include "model/bench/random_decoder.h"
#include "model/bench/random_model.h"
#include "model/decision/decision_config.h"
#include "model/decision/decision_quantize.h"
#include "model/gru/quantize.h"
#include "model/ngram/ngram_test_table.h"

using laya::Status;

namespace {

Status write_networks(const std::string& folder) {
  laya::model::GruConfig config;
  config.vocabulary_size = 9;
  config.embedding_dim = 5;
  config.hidden_dim = 6;
  config.layers = 1;
  config.heads = 2;
  config.head_dim = 3;
  config.window = 2;
  const auto weights = laya::model::random_weights(config, 1);
  const std::string plain = folder + "/f32";
  if (Status done = laya::model::write_model(plain, config, weights.weights, "fuzz"); !done)
    return done;
  const auto file = laya::format::ModelFile::open(plain);
  if (!file) return file.error();
  for (const char* precision : {"int8/32", "int4/32m", "fp16"}) {
    laya::model::QuantizeRecipe recipe;
    const auto parsed = laya::model::parse_precision(precision);
    if (!parsed) return parsed.error();
    recipe.standard = *parsed;
    const std::string name = folder + "/" + std::string(precision).substr(0, 4);
    if (Status done = laya::model::quantize_file(*file, name, recipe); !done) return done;
  }
  return {};
}

Status write_decoders(const std::string& folder) {
  using laya::model::DecoderFamily;
  for (const DecoderFamily family : laya::model::kDecoderFamilies) {
    laya::model::DecoderConfig config = laya::model::tiny_decoder_config(family);
    config.vocabulary_size = 9;
    config.hidden_dim = 5;
    config.layers = 1;
    config.heads = 2;
    config.kv_heads = 1;
    config.head_dim = 16;
    config.ffn_dim = 6;
    config.sliding_layers = {family == DecoderFamily::Gemma3};
    const auto precision =
        laya::model::parse_precision(family == DecoderFamily::Llama    ? "fp32"
                                     : family == DecoderFamily::Qwen2  ? "int4/32m"
                                     : family == DecoderFamily::Gemma3 ? "int8/32"
                                                                       : "fp16");
    if (!precision) return precision.error();
    const std::string path = folder + "/" + std::string(laya::model::family_name(family));
    if (Status done = laya::model::write_random_decoder(path, family, config, *precision); !done) {
      return done;
    }
  }
  return {};
}

/// One of each kind, stored in three ways.
Status write_decisions(const std::string& folder) {
  auto ranker = laya::model::default_ranker_config({"a", "b"});
  ranker.hidden = {5, 3};
  auto mlp = laya::model::default_windowed_mlp_config(5, 3);
  mlp.window = 3;
  mlp.embedding_dim = 2;
  mlp.hidden = {4};
  auto transformer = laya::model::default_transformer_config(5, 3);
  transformer.window = 3;
  transformer.embedding_dim = 4;
  transformer.heads = 1;
  transformer.ffn_dim = 5;
  for (const auto& [config, precision] :
       {std::pair{ranker, "fp32"}, {mlp, "int8/32"}, {transformer, "int4/32m"}}) {
    const std::string path = folder + "/" + std::string(decision_kind_name(config.kind));
    const std::string exact = path + ".exact";
    const auto weights = laya::model::random_decision_weights(config, 1);
    if (Status done = laya::model::write_decision_model(exact, config, weights, ""); !done) {
      return done;
    }
    const auto file = laya::format::ModelFile::open(exact);
    if (!file) return file.error();
    laya::model::QuantizeRecipe recipe;
    const auto parsed = laya::model::parse_precision(precision);
    if (!parsed) return parsed.error();
    recipe.standard = *parsed;
    if (Status done = laya::model::quantize_decision_file(*file, path, recipe); !done) return done;
    std::remove(exact.c_str());
  }
  return {};
}

Status write_ngrams(const std::string& path) {
  const laya::model::NgramTestTable table;
  auto writer = laya::format::ModelWriter::create(path);
  if (!writer) return writer.error();
  for (const auto& [name, bytes] : table.blobs) {
    if (Status done = writer->add_blob(name, bytes); !done) return done;
  }
  return writer->finish();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: make_model_corpus CORPUS_FOLDER\n", stderr);
    return 2;
  }
  const std::string folder = argv[1];
  for (const Status& done :
       {write_networks(folder + "/network"), write_decoders(folder + "/decoder"),
        write_decisions(folder + "/decision"), write_ngrams(folder + "/ngram/table")}) {
    if (!done) {
      std::fprintf(stderr, "%s\n", done.error().message.c_str());
      return 1;
    }
  }
  return 0;
}
