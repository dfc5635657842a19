#include "train/ngram/ngram_builder.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "format/model_writer.h"
#include "train/text/corpus.h"
#include "train/text/overlap.h"

namespace laya::train {
namespace {

Result<HeldOut> held_out_of(const Mixture& mixture) {
  std::vector<std::filesystem::path> files = mixture.held_out;
  for (const MixtureSource& source : mixture.sources) {
    if (!source.dev.empty()) {
      files.push_back(source.dev);
    }
  }
  return HeldOut::load(files);
}

std::string without_held_out(std::string_view text, const HeldOut& held_out) {
  std::string kept;
  kept.reserve(text.size());
  for_each_line(text, [&](std::string_view line, std::size_t) {
    if (!held_out.contains(line)) {
      kept.append(line);
      kept.push_back('\n');
    }
  });
  return kept;
}

std::string_view first_part(std::string_view text, double part) {
  if (part >= 1.0) {
    return text;
  }
  const auto wanted = static_cast<std::size_t>(static_cast<double>(text.size()) * part);
  return text.substr(0, text.find('\n', wanted));
}

}  // namespace

Result<NgramBuild> build_ngrams(const Mixture& mixture, const NgramRecipe& recipe,
                                const NgramProgress& progress) {
  for (const auto& [name, source] : recipe.sources) {
    if (std::none_of(mixture.sources.begin(), mixture.sources.end(),
                     [&](const MixtureSource& s) { return s.name == name; })) {
      return Error{ErrorCode::BadArgument, "n-gram recipe: source '" + name +
                                               "' is not in the mixture; name one of its sources"};
    }
  }
  progress("reading", 0.0);
  Result<HeldOut> held_out = held_out_of(mixture);
  if (!held_out) {
    return std::move(held_out).error();
  }
  NgramBuild build;
  NgramTextReader reader;
  std::size_t read = 0;
  for (const MixtureSource& source : mixture.sources) {
    const auto wanted = recipe.sources.find(source.name);
    if (wanted == recipe.sources.end()) {
      continue;
    }
    Result<std::string> text = read_text(source.path);
    if (!text) {
      return std::move(text).error();
    }
    if (source.drop_held_out) {
      *text = without_held_out(*text, *held_out);
    } else if (Status status = held_out->check(*text, source.path); !status) {
      return status.error();
    }
    reader.add(first_part(*text, wanted->second.part), wanted->second.weight, wanted->second.cased);
    build.sources.push_back({source.name, source.licence, wanted->second.weight, 0});
    progress("reading", static_cast<double>(++read) / static_cast<double>(recipe.sources.size()));
  }
  NgramText text = std::move(reader).finish(recipe.lexicon);
  for (std::size_t i = 0; i < build.sources.size(); ++i) {
    build.sources[i].units = text.stretches[i].end - text.stretches[i].begin;
    build.units += build.sources[i].units;
  }
  if (build.units == 0) {
    return Error{ErrorCode::BadArgument, "n-gram recipe: its sources hold no text"};
  }
  const std::vector<NgramLevel> levels =
      count_ngrams(text, recipe.count, [&](double done) { progress("counting", done); });
  text.ids = {};
  progress("estimating", 0.0);
  NgramEstimateOptions estimate = recipe.estimate;
  estimate.avoid = ids_of_sequences(text, recipe.avoid);
  const std::vector<NgramProbabilities> probabilities =
      estimate_ngrams(levels, text.han_begin, text.word_begin, estimate);
  progress("estimating", 0.7);
  for (const NgramLevel& level : levels) {
    build.counted.push_back(level.size());
  }
  build.table = NgramTable::make(text, levels, probabilities);
  progress("estimating", 1.0);
  return build;
}

Status write_ngrams(const NgramBuild& build, const NgramRecipe& recipe,
                    const std::filesystem::path& file) {
  nlohmann::ordered_json sources = nlohmann::ordered_json::array();
  for (const NgramSourceReport& source : build.sources) {
    sources.push_back({{"name", source.name},
                       {"licence", source.licence},
                       {"weight", source.weight},
                       {"units", source.units}});
  }
  nlohmann::ordered_json metadata = {
      {"architecture", "ngram"},
      {"config", {{"order", recipe.count.order}, {"entries", build.table.entries()}}},
      {"licence", "see training.sources: each text's licence"},
      {"training",
       {{"units", build.units},
        {"counted", build.counted},
        {"sources", sources},
        {"recipe", recipe.text}}},
      {"generator", "laya train ngram"},
  };
  Result<format::ModelWriter> writer = format::ModelWriter::create(file.string());
  if (!writer) {
    return std::move(writer).error();
  }
  if (Status status = build.table.write(&*writer); !status) {
    return status;
  }
  if (Status status = writer->set_metadata(metadata.dump()); !status) {
    return status;
  }
  return writer->finish();
}

}  // namespace laya::train
