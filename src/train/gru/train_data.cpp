#include "train/gru/train_data.h"

#include <string>

#include "train/text/overlap.h"

namespace laya::train {
namespace {

namespace fs = std::filesystem;

Result<HeldOut> load_held_out(const Mixture& mixture) {
  std::vector<fs::path> files = mixture.held_out;
  for (const MixtureSource& source : mixture.sources) {
    if (!source.dev.empty()) files.push_back(source.dev);
  }
  return HeldOut::load(files);
}

// Refuses texts that overlap dev or test, save those that are told to leave such lines out.
Status check_overlap(const Mixture& mixture, const HeldOut& held_out, const NoteSink& note) {
  note("comparing training texts with " + std::to_string(held_out.size()) + " held-out lines");
  for (const MixtureSource& source : mixture.sources) {
    if (source.drop_held_out) continue;
    Result<std::string> text = read_text(source.path);
    if (!text) return text.error();
    if (Status s = held_out.check(*text, source.path); !s) return s;
  }
  return {};
}

Status open_corpora(const TrainOptions& options, const LineEncoder& encoder,
                    const HeldOut& held_out, const NoteSink& note, TrainData& data) {
  std::vector<std::size_t> sizes;
  LineEncoder dropping = encoder;
  dropping.skip = [&](std::string_view line) { return held_out.contains(line); };
  dropping.skip_checksum = held_out.fingerprint();
  for (const MixtureSource& source : data.mixture.sources) {
    Result<Corpus> corpus = Corpus::open(
        source.path, source.name, source.drop_held_out ? dropping : encoder, options.cache_dir);
    if (!corpus) return corpus.error();
    note(source.name + ": " + std::to_string(corpus->tokens().size()) + " tokens" +
         (corpus->from_cache() ? "" : ", tokenised"));
    sizes.push_back(corpus->tokens().size());
    data.records.push_back({source.name, corpus->checksum()});
    data.corpora.push_back(*std::move(corpus));
  }
  data.shares = source_shares(data.mixture, sizes);
  return {};
}

void count_tokens(std::size_t vocabulary_size, TrainData& data) {
  data.unigram.assign(vocabulary_size, 0.0);
  data.characters_per_token = 0.0;
  for (std::size_t i = 0; i < data.corpora.size(); ++i) {
    const std::span<const std::uint16_t> tokens = data.corpora[i].tokens();
    const double weight = data.shares[i] / static_cast<double>(tokens.size());
    for (std::uint16_t token : tokens) data.unigram[token] += weight;
    data.characters_per_token += weight * static_cast<double>(data.corpora[i].characters());
  }
}

}  // namespace

Result<TrainData> open_train_data(const TrainOptions& options, const text::Tokenizer& tokenizer,
                                  const NoteSink& note) {
  TrainData data;
  Result<Mixture> mixture = load_mixture(options.mixture, options.data_root);
  if (!mixture) return mixture.error();
  data.mixture = *std::move(mixture);
  Result<HeldOut> held_out = load_held_out(data.mixture);
  if (!held_out) return held_out.error();
  if (Status s = check_overlap(data.mixture, *held_out, note); !s) return s.error();
  const LineEncoder encoder{
      [&](std::string_view line, std::vector<TokenId>& ids) { tokenizer.encode(line, ids); },
      tokenizer.vocabulary().fingerprint(),
      {},
      0};
  if (Status s = open_corpora(options, encoder, *held_out, note, data); !s) return s.error();
  count_tokens(tokenizer.vocabulary().size(), data);
  for (std::size_t i = 0; i < data.mixture.sources.size(); ++i) {
    const MixtureSource& source = data.mixture.sources[i];
    if (source.dev.empty()) continue;
    Result<std::string> text = read_text(source.dev);
    if (!text) return text.error();
    data.dev.add(source.name, data.shares[i], *text, encoder, options.eval_lines);
  }
  return data;
}

}  // namespace laya::train
