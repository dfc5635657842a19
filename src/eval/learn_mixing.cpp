#include "eval/learn_mixing.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/utf8.h"
#include "predict/list/han_search.h"
#include "predict/session/session.h"
#include "predict/source/source.h"
#include "text/script.h"
#include "text/units.h"

namespace laya::eval {
namespace {

using predict::Engine;
using predict::HanSearch;
using predict::HanWord;
using predict::kImpossible;
using predict::kUntilDone;
using predict::Mixing;
using predict::MixingKind;
using predict::NextHan;
using predict::PoolWord;
using predict::Session;
using predict::Shares;
using predict::Want;

constexpr std::size_t kGrid = 20;  // steps of 0.05

// What is weighed: ln p by the source whose share is sought, and by the rest.
struct Pair {
  float first;
  float second;
};

// Of network and table; with a decoder, of the decoder and the two together.
template <typename Entry>
Pair pair_of(const Entry& entry, float log_p_ngram, MixingKind instant_kind, float network_share,
             bool deep) {
  return deep ? Pair{entry.log_p_deep,
                     mix(instant_kind, network_share, entry.log_p_network, log_p_ngram)}
              : Pair{entry.log_p_network, log_p_ngram};
}

// One place at which something was asked: what was meant stands first, then its rivals.
struct Place {
  std::size_t bucket;
  std::size_t begin;  // into pairs
  std::size_t end;
};

struct Places {
  std::vector<Place> places;
  std::vector<Pair> pairs;
};

struct Hits {
  std::size_t top1 = 0;
  std::size_t top3 = 0;
  std::size_t sum() const { return top1 + top3; }
};

void count(const Places& data, const Place& place, MixingKind kind, float share, Hits* hits) {
  const auto score = [&](const Pair& pair) { return mix(kind, share, pair.first, pair.second); };
  const float meant = score(data.pairs[place.begin]);
  std::size_t better = 0;
  for (std::size_t i = place.begin + 1; i < place.end && better < 3; ++i) {
    better += score(data.pairs[i]) > meant ? 1 : 0;
  }
  hits->top1 += better == 0 ? 1 : 0;
  hits->top3 += better < 3 ? 1 : 0;
}

// The best share for each bucket and how many hits they give together.
std::size_t best_shares(const Places& data, MixingKind kind, std::span<float> shares) {
  std::vector<std::array<Hits, kGrid + 1>> table(shares.size());
  std::vector<std::size_t> places(shares.size());
  for (const Place& place : data.places) {
    ++places[place.bucket];
    for (std::size_t g = 0; g <= kGrid; ++g) {
      count(data, place, kind, static_cast<float>(g) / kGrid, &table[place.bucket][g]);
    }
  }
  // The best share for all buckets together, then for each; neighbours on the grid count too, since
  // a lone peak is chance.
  using Row = std::array<Hits, kGrid + 1>;
  const auto smooth = [](const Row& row, std::size_t at) {
    return static_cast<double>(row[at == 0 ? 0 : at - 1].sum() + 2 * row[at].sum() +
                               row[std::min(at + 1, kGrid)].sum()) /
           4;
  };
  const auto best_of = [&](const Row& row) {
    std::size_t best = kGrid / 2;
    for (std::size_t distance = 1; distance <= kGrid / 2; ++distance) {  // from the middle outwards
      for (const std::size_t at : {kGrid / 2 - distance, kGrid / 2 + distance}) {
        best = smooth(row, at) > smooth(row, best) ? at : best;
      }
    }
    return best;
  };
  Row all{};
  for (const Row& row : table) {
    for (std::size_t g = 0; g <= kGrid; ++g) {
      all[g].top1 += row[g].top1;
      all[g].top3 += row[g].top3;
    }
  }
  const std::size_t common = best_of(all);
  std::size_t total = 0;
  for (std::size_t b = 0; b < shares.size(); ++b) {
    // A share of its own only where that is no accident: two shares differ at about one place in
    // twenty, so gains of less than two standard deviations of that are noise.
    const std::size_t own = best_of(table[b]);
    const double gain = smooth(table[b], own) - smooth(table[b], common);
    const double noise = std::sqrt(0.05 * 2 * static_cast<double>(places[b]));
    const std::size_t chosen = gain > 2 * noise ? own : common;
    shares[b] = static_cast<float>(chosen) / kGrid;
    total += table[b][chosen].sum();
  }
  return total;
}

bool is_word(std::string_view text) {
  text::Unit unit;
  return text::next_unit(text, 0, &unit) && unit.kind == text::UnitKind::Word &&
         unit.end == text.size();
}

}  // namespace

Result<LearntMixing> learn_mixing(const Engine& engine, const std::vector<std::string>& word_lines,
                                  const std::vector<std::string>& han_lines,
                                  const LearnMixingOptions& options) {
  if (engine.network() == nullptr || engine.ngrams() == nullptr) {
    return Error{ErrorCode::BadArgument, "learn mixing: needs a network and an n-gram table"};
  }
  const auto limit = [&](const std::vector<std::string>& lines) {
    return options.max_lines == 0 ? lines.size() : std::min(options.max_lines, lines.size());
  };
  const std::size_t total = limit(word_lines) + limit(han_lines);
  const Mixing& now = engine.mixing();
  const bool deep = engine.deep_service() != nullptr;
  LearntMixing learnt;
  learnt.mixing = now;
  Session session(engine);
  Places words;
  Hits before;
  for (std::size_t n = 0; n < limit(word_lines); ++n) {
    session.clear();
    session.set_text({.revision = 0, .before = {}, .after = {}});
    std::string_view line = word_lines[n];
    while (!line.empty()) {
      const std::size_t space = line.find(' ');
      const std::string_view word = line.substr(0, space);
      const std::size_t taken = space == std::string_view::npos ? line.size() : space + 1;
      const std::string meant = lowered(word);
      std::size_t typed = 0;
      for (std::size_t letters = 0; typed < word.size() && is_word(word); ++letters) {
        session.decide({.candidates = 3, .ghost = Want::No, .deep_wait_us = kUntilDone});
        const std::span<const PoolWord> pool = session.pool();
        const auto target = std::find_if(pool.begin(), pool.end(),
                                         [&](const PoolWord& entry) { return entry.key == meant; });
        const std::string prefix = lowered(word.substr(0, typed));
        ++learnt.word_keys;
        if (target != pool.end()) {
          Place place{Mixing::context_bucket(session.units_in_line()) * Mixing::kPrefixBuckets +
                          Mixing::prefix_bucket(letters),
                      words.pairs.size(), 0};
          const Shares shares = now.shares_at(session.units_in_line(), letters);
          const auto add = [&](const PoolWord& entry) {
            words.pairs.push_back(pair_of(entry, entry.log_p_ngram + entry.log_case_fit,
                                          now.word_kind, shares.network, deep));
          };
          add(*target);
          for (const PoolWord& entry : pool) {
            if (&entry != &*target && entry.key != prefix) {
              add(entry);
            }
          }
          place.end = words.pairs.size();
          words.places.push_back(place);
          count(words, place, deep ? now.word_deep_kind : now.word_kind,
                deep ? shares.deep : shares.network, &before);
        }
        const std::size_t length = base::decode_utf8(word.substr(typed)).length;
        if (Status status = session.edit({.insert = word.substr(typed, length)}); !status) {
          return status.error();
        }
        typed += length;
      }
      if (Status status = session.edit({.insert = line.substr(typed, taken - typed)}); !status) {
        return status.error();
      }
      line.remove_prefix(taken);
    }
    if (options.progress) {
      options.progress(n + 1, total);
    }
  }

  Places han;
  Hits han_before;
  std::array<NextHan, HanSearch::kPool> ignored;
  for (std::size_t n = 0; n < limit(han_lines); ++n) {
    session.clear();
    session.set_text({.revision = 0, .before = {}, .after = {}});
    std::string_view line = han_lines[n];
    while (!line.empty()) {
      const base::Decoded code = base::decode_utf8(line);
      if (text::is_han(code.code_point)) {
        ++learnt.han_characters;
        session.next_han(ignored);
        const std::span<const HanWord> pool = session.han_pool();
        const auto target = std::find_if(pool.begin(), pool.end(), [&](const HanWord& entry) {
          return engine.index().han()[entry.han[0]].code_point == code.code_point;
        });
        // A decoder that knows no Chinese has no share to be found.
        if (target != pool.end() && (!deep || target->log_p_deep != kImpossible)) {
          Place place{Mixing::context_bucket(session.units_in_line()), han.pairs.size(), 0};
          const Shares shares = now.shares_at(session.units_in_line(), 0);
          const auto add = [&](const HanWord& entry) {
            han.pairs.push_back(
                pair_of(entry, entry.log_p_ngram, now.han_kind, shares.han_network, deep));
          };
          add(*target);
          for (const HanWord& entry : pool) {
            if (&entry != &*target) {
              add(entry);
            }
          }
          place.end = han.pairs.size();
          han.places.push_back(place);
          count(han, place, deep ? now.han_deep_kind : now.han_kind,
                deep ? shares.han_deep : shares.han_network, &han_before);
        }
      }
      if (Status status = session.edit({.insert = line.substr(0, code.length)}); !status) {
        return status.error();
      }
      line.remove_prefix(code.length);
    }
    if (options.progress) {
      options.progress(limit(word_lines) + n + 1, total);
    }
  }

  MixingKind& word_kind = deep ? learnt.mixing.word_deep_kind : learnt.mixing.word_kind;
  auto& word_shares = deep ? learnt.mixing.word_deep : learnt.mixing.word_network;
  MixingKind& han_kind = deep ? learnt.mixing.han_deep_kind : learnt.mixing.han_kind;
  auto& han_row = deep ? learnt.mixing.han_deep : learnt.mixing.han_network;
  std::size_t best_words = 0;
  std::size_t best_han = 0;
  for (const MixingKind kind : {MixingKind::Linear, MixingKind::LogLinear}) {
    std::array<float, Mixing::kContextBuckets * Mixing::kPrefixBuckets> shares{};
    if (const std::size_t hits = best_shares(words, kind, shares); hits > best_words) {
      best_words = hits;
      word_kind = kind;
      for (std::size_t i = 0; i < shares.size(); ++i) {
        word_shares[i / Mixing::kPrefixBuckets][i % Mixing::kPrefixBuckets] = shares[i];
      }
    }
    std::array<float, Mixing::kContextBuckets> han_shares{};
    if (const std::size_t hits = best_shares(han, kind, han_shares); hits > best_han) {
      best_han = hits;
      han_kind = kind;
      han_row = han_shares;
    }
  }
  const auto share = [](std::size_t hits, std::size_t places) {
    return places == 0 ? 0.0 : static_cast<double>(hits) / static_cast<double>(2 * places);
  };
  learnt.word_hits_before = share(before.sum(), learnt.word_keys);
  learnt.word_hits_after = share(best_words, learnt.word_keys);
  learnt.han_hits_before = share(han_before.sum(), learnt.han_characters);
  learnt.han_hits_after = share(best_han, learnt.han_characters);
  return learnt;
}

std::string to_json(const Mixing& mixing) {
  const auto kind = [](MixingKind value) {
    return value == MixingKind::Linear ? "linear" : "log-linear";
  };
  const auto rounded = [](float value) {
    return std::round(static_cast<double>(value) * 100) / 100;
  };
  nlohmann::ordered_json json;
  const auto list = [&](const auto& row) {
    nlohmann::ordered_json values = nlohmann::ordered_json::array();
    for (const float value : row) {
      values.push_back(rounded(value));
    }
    return values;
  };
  const auto table = [&](const auto& rows) {
    nlohmann::ordered_json values = nlohmann::ordered_json::array();
    for (const auto& row : rows) {
      values.push_back(list(row));
    }
    return values;
  };
  json["word_kind"] = kind(mixing.word_kind);
  json["word_network"] = table(mixing.word_network);
  json["han_kind"] = kind(mixing.han_kind);
  json["han_network"] = list(mixing.han_network);
  json["word_deep_kind"] = kind(mixing.word_deep_kind);
  json["word_deep"] = table(mixing.word_deep);
  json["han_deep_kind"] = kind(mixing.han_deep_kind);
  json["han_deep"] = list(mixing.han_deep);
  return json.dump();
}

}  // namespace laya::eval
