#include "eval/deep_ghost_bench.h"

#include <algorithm>
#include <memory>
#include <numeric>

#include "base/clock.h"
#include "base/utf8_boundary.h"
#include "predict/deep/deep_source.h"
#include "predict/ghost/deep_ghost.h"
#include "predict/instant/network_source.h"
#include "predict/instant/ngram_source.h"
#include "predict/list/list_builder.h"
#include "predict/source/typed_text.h"
#include "text/tokenizer.h"

namespace laya::eval {
namespace {

using predict::DeepGhost;
using predict::DeepGhostCounts;
using predict::DeepGhostRequest;
using predict::DeepSource;
using predict::Engine;
using predict::GhostSearch;
using predict::GhostStart;
using predict::LeftEdge;
using predict::ListBuilder;
using predict::NetworkSource;
using predict::NgramSource;
using predict::NodesOfList;
using predict::ReplyBuffers;
using predict::SearchSources;
using predict::Source;
using predict::TypedText;

double median(std::vector<double> values) {
  if (values.empty()) {
    return 0;
  }
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double mean(const std::vector<double>& values) {
  return values.empty() ? 0
                        : std::accumulate(values.begin(), values.end(), 0.0) /
                              static_cast<double>(values.size());
}

/// The sources of one session, without its thread.
struct Sources {
  explicit Sources(const Engine& engine)
      : deep(*engine.deep(), engine.index(), engine.ngrams(), engine.threads(),
             engine.deep_options()),
        lists({&engine.index(), engine.ngrams(), engine.ranker()}),
        ghost(engine.deep()->decoder(), engine.deep()->tokenizer(), engine.network()),
        vocabulary(engine.tokenizer() != nullptr ? &engine.tokenizer()->vocabulary() : nullptr) {
    if (engine.ngrams() != nullptr) {
      ngrams = std::make_unique<NgramSource>(*engine.ngrams(), engine.index());
    }
    if (engine.network() != nullptr) {
      network = std::make_unique<NetworkSource>(*engine.network(), *engine.tokenizer(),
                                                engine.index(), engine.ngrams(), engine.threads());
    }
    all = {network.get(), ngrams.get(), &engine.index(), &engine.mixing(), &deep};
    ghost.set_length(DeepGhost::Length::Full);
  }

  Status read(std::string_view before) {
    const TypedText::Delta delta = text.assign(before, {}, LeftEdge::FieldStart);
    for (Source* source : {static_cast<Source*>(network.get()), static_cast<Source*>(ngrams.get()),
                           static_cast<Source*>(&deep)}) {
      if (source != nullptr) {
        source->follow(text, delta);
      }
    }
    return deep.prepare(text);
  }

  TypedText text;
  std::unique_ptr<NgramSource> ngrams;
  std::unique_ptr<NetworkSource> network;
  DeepSource deep;
  ListBuilder lists;
  DeepGhost ghost;
  const text::Vocabulary* vocabulary;
  SearchSources all;
  ReplyBuffers answer;
};

struct Place {
  std::size_t line;
  std::size_t at;  // bytes left of the caret
};

std::vector<Place> places_in(const std::vector<std::string>& lines,
                             const GhostBenchOptions& options) {
  std::vector<Place> places;
  if (options.places == GhostPlaces::Typed) {
    for (std::size_t i = 0; i < lines.size() && places.size() < options.contexts; ++i) {
      for (std::size_t at = lines[i].find(' ');
           at != std::string::npos && places.size() < options.contexts;
           at = lines[i].find(' ', at + 1)) {
        places.push_back({i, at + 1});
      }
    }
    return places;
  }
  const std::size_t step = std::max<std::size_t>(1, lines.size() / options.contexts);
  for (std::size_t i = 0; i < lines.size() && places.size() < options.contexts; i += step) {
    // Somewhere in the middle of the line; every other time behind a word, else inside one.
    const std::string& line = lines[i];
    std::size_t at = base::boundary_from(line, line.size() * (2 + places.size() % 7) / 9);
    if (places.size() % 2 == 0) {
      const std::size_t space = line.find(' ', at);
      at = space == std::string::npos ? at : space + 1;
    }
    places.push_back({i, std::max<std::size_t>(at, 1)});
  }
  return places;
}

}  // namespace

Result<GhostBenchResult> bench_ghost(const Engine& engine, const std::vector<std::string>& lines,
                                     const GhostBenchOptions& options) {
  if (engine.deep() == nullptr || lines.empty() || options.contexts == 0) {
    return Error{ErrorCode::BadArgument, "ghost bench: needs a decoder, lines and contexts"};
  }
  const auto sources = std::make_unique<Sources>(engine);
  GhostBenchResult result;
  std::vector<double> passes[2];
  std::vector<double> times[2];
  const std::vector<Place> places = places_in(lines, options);
  for (std::size_t tried = 0; tried < places.size(); ++tried) {
    if (options.progress) {
      options.progress(tried, places.size());
    }
    const Place& place = places[tried];
    if (!sources->read(std::string_view(lines[place.line]).substr(0, place.at))) {
      continue;
    }
    ReplyBuffers& answer = sources->answer;
    answer.reply = {};
    sources->lists.build(sources->all, sources->text, GhostSearch::kBeam, &answer);
    if (answer.count == 0) {
      continue;
    }
    GhostStart start;
    start.kind = GhostStart::Kind::Word;
    start.insert = answer.candidates[0].insert;
    DeepGhostRequest request;
    request.workspace = &sources->deep.workspace();
    request.cache = &sources->deep.cache();
    request.root_probs = sources->deep.root_probs();
    request.closed_bytes = sources->deep.closed_bytes();
    const NodesOfList known(sources->deep.tree());
    request.known = &known;
    request.text = &sources->text;
    request.sources = sources->all;
    request.sources.deep = nullptr;
    request.vocabulary = sources->vocabulary;
    request.starts = std::span(&start, 1);
    const auto nodes = request.cache->node_count();
    std::string phrases[2];
    bool whole = true;
    for (const int drafting : {1, 0}) {  // guesses must not have seen the answer
      sources->ghost.set_drafting(drafting == 1 ? DeepGhost::Drafting::On
                                                : DeepGhost::Drafting::Off);
      const std::int64_t begin = base::monotonic_ns();
      const auto found = sources->ghost.search(request);
      const double ms = static_cast<double>(base::monotonic_ns() - begin) / 1e6;
      request.cache->drop_nodes_from(static_cast<model::KvNodeId>(nodes));
      if (!found) {
        return found.error();
      }
      phrases[drafting] = sources->ghost.whole_text();
      whole = whole && sources->ghost.tokens() >= DeepGhost::kTokens;
      if (whole) {  // the same both times, or `unequal` tells
        passes[drafting].push_back(1 + static_cast<double>(sources->ghost.passes()));
        times[drafting].push_back(ms);
      }
    }
    result.unequal += whole && phrases[0] != phrases[1] ? 1 : 0;
  }
  const DeepGhostCounts& counts = sources->ghost.counts();
  const std::uint64_t drafting_passes = std::max<std::uint64_t>(1, counts.drafting_passes);
  result.contexts = passes[1].size();
  result.passes_p50 = median(passes[1]);
  result.passes_mean = mean(passes[1]);
  result.plain_passes_p50 = median(passes[0]);
  result.ms_p50 = median(times[1]);
  result.plain_ms_p50 = median(times[0]);
  result.columns_a_pass = static_cast<double>(counts.columns) /
                          static_cast<double>(std::max<std::uint64_t>(1, counts.passes));
  result.agreed_a_pass = static_cast<double>(counts.agreed) / static_cast<double>(drafting_passes);
  result.draft_ms_a_pass =
      static_cast<double>(counts.draft_ns) / 1e6 / static_cast<double>(drafting_passes);
  return result;
}

}  // namespace laya::eval
