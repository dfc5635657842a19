#include "train/ngram/ngram_writer.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "model/ngram/ngram_layout.h"

namespace laya::train {
namespace {

constexpr std::size_t kCodes = 256;
constexpr std::size_t kBins = 1 << 14;  // of the histogram that Lloyd's iteration runs on
constexpr float kLeastLogProb = -30.0f;

float log_or_least(double p) {
  return p > 0.0 ? std::max(static_cast<float>(std::log(p)), kLeastLogProb) : kLeastLogProb;
}

}  // namespace

std::vector<float> make_codebook(std::span<const float> values) {
  std::vector<float> codes(kCodes, 0.0f);
  if (values.empty()) {
    return codes;
  }
  const auto [low_at, high_at] = std::minmax_element(values.begin(), values.end());
  const double low = *low_at;
  const double width = std::max((static_cast<double>(*high_at) - low) / kBins, 1e-9);
  std::vector<double> sum(kBins, 0.0);
  std::vector<double> count(kBins, 0.0);
  for (const float value : values) {
    const std::size_t bin =
        std::min(kBins - 1, static_cast<std::size_t>((static_cast<double>(value) - low) / width));
    sum[bin] += value;
    count[bin] += 1.0;
  }
  std::vector<double> centre(kCodes);
  for (std::size_t i = 0; i < kCodes; ++i) {
    centre[i] = low + (static_cast<double>(*high_at) - low) * static_cast<double>(i) / (kCodes - 1);
  }
  for (int round = 0; round < 30; ++round) {
    std::size_t code = 0;
    std::vector<double> code_sum(kCodes, 0.0);
    std::vector<double> code_count(kCodes, 0.0);
    for (std::size_t bin = 0; bin < kBins; ++bin) {
      if (count[bin] > 0.0) {
        const double mean = sum[bin] / count[bin];
        while (code + 1 < kCodes &&
               std::abs(centre[code + 1] - mean) <= std::abs(centre[code] - mean)) {
          ++code;
        }
        code_sum[code] += sum[bin];
        code_count[code] += count[bin];
      }
    }
    for (std::size_t i = 0; i < kCodes; ++i) {
      if (code_count[i] > 0.0) {
        centre[i] = code_sum[i] / code_count[i];
      }
    }
    std::sort(centre.begin(), centre.end());
  }
  std::transform(centre.begin(), centre.end(), codes.begin(),
                 [](double c) { return static_cast<float>(c); });
  return codes;
}

std::uint8_t nearest_code(std::span<const float> codebook, float value) {
  const auto at = std::lower_bound(codebook.begin(), codebook.end(), value);
  auto index = static_cast<std::size_t>(at - codebook.begin());
  if (index == codebook.size() ||
      (index > 0 && value - codebook[index - 1] < codebook[index] - value)) {
    --index;
  }
  return static_cast<std::uint8_t>(index);
}

template <typename T>
void NgramTable::put(const std::string& name, const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  if (!bytes.empty()) {
    std::memcpy(bytes.data(), values.data(), bytes.size());
  }
  blobs_[name] = std::move(bytes);
}

NgramTable NgramTable::make(const NgramText& text, const std::vector<NgramLevel>& levels,
                            const std::vector<NgramProbabilities>& probabilities) {
  NgramTable table;
  const auto order = static_cast<std::uint32_t>(levels.size());
  const auto unit_count = static_cast<std::uint32_t>(text.keys.size());
  model::NgramHeader header{};
  header.magic = model::kNgramMagic;
  header.version = model::kNgramVersion;
  header.order = order;
  header.unit_count = unit_count;
  header.han_begin = text.han_begin;
  header.word_begin = text.word_begin;
  header.common_count = text.common_count;

  std::vector<std::uint32_t> offsets{0};
  std::vector<std::uint32_t> display_ids;
  std::vector<std::uint32_t> display_offsets{0};
  std::vector<char> lexicon;
  std::vector<char> display;
  for (std::uint32_t id = model::kFirstLexiconWord; id < unit_count; ++id) {
    lexicon.insert(lexicon.end(), text.keys[id].begin(), text.keys[id].end());
    offsets.push_back(static_cast<std::uint32_t>(lexicon.size()));
    if (!text.displays[id].empty() && text.displays[id] != text.keys[id]) {
      display_ids.push_back(id);
      display.insert(display.end(), text.displays[id].begin(), text.displays[id].end());
      display_offsets.push_back(static_cast<std::uint32_t>(display.size()));
    }
  }
  header.display_count = static_cast<std::uint32_t>(display_ids.size());
  table.put("ngram.lexicon_offsets", offsets);
  table.put("ngram.lexicon_text", lexicon);
  table.put("ngram.display_ids", display_ids);
  table.put("ngram.display_offsets", display_offsets);
  table.put("ngram.display_text", display);

  std::vector<float> unigram(unit_count);
  double rare_total = 0.0;
  for (std::uint32_t id = text.common_count; id < unit_count; ++id) {
    rare_total += text.weights[id];
  }
  // The unknown unit's own share of its mass: what was too rare for the lexicon.
  rare_total = std::max(rare_total, text.weights[model::kUnknownWord]);
  for (std::uint32_t id = 0; id < unit_count; ++id) {
    unigram[id] = id < text.common_count ? log_or_least(probabilities[0].p[id])
                                         : log_or_least(text.weights[id] / rare_total);
  }
  table.put("ngram.unigram", unigram);

  // Level by level: which nodes of the level above are contexts decides how its `begin` is laid
  // out.
  std::vector<std::uint32_t> above_kept(
      text.common_count);  // kept nodes of the level above, in order
  for (std::uint32_t id = 0; id < text.common_count; ++id) {
    above_kept[id] = id;
  }
  header.entries[0] = header.contexts[0] = text.common_count;
  table.entries_.push_back(unit_count);
  for (std::uint32_t k = 2; k <= order; ++k) {
    const NgramLevel& above = levels[k - 2];
    const NgramLevel& level = levels[k - 1];
    const NgramProbabilities& own = probabilities[k - 1];
    std::vector<std::uint32_t> kept;
    std::vector<std::uint16_t> words;
    std::vector<float> logs;
    std::vector<std::uint32_t> begin;
    std::vector<float> backoffs;
    std::vector<std::uint64_t> parents((above_kept.size() + 63) / 64, 0);
    std::vector<std::uint32_t> ranks((above_kept.size() + 63) / 64, 0);
    for (std::size_t i = 0; i < above_kept.size(); ++i) {
      const std::uint32_t h = above_kept[i];
      const auto first = static_cast<std::uint32_t>(words.size());
      if (i % 64 == 0) {
        ranks[i / 64] = static_cast<std::uint32_t>(begin.size());
      }
      for (std::uint32_t node = above.begin[h]; node < above.begin[h + 1]; ++node) {
        if (own.keep[node] != 0) {
          kept.push_back(node);
          words.push_back(static_cast<std::uint16_t>(level.word[node]));
          logs.push_back(log_or_least(own.p[node]));
        }
      }
      if (k == 2 || words.size() > first) {
        parents[i / 64] |= 1ull << (i % 64);
        begin.push_back(first);
        backoffs.push_back(probabilities[k - 2].backoff[h]);
      }
    }
    header.contexts[k - 2] = static_cast<std::uint32_t>(begin.size());
    header.entries[k - 1] = static_cast<std::uint32_t>(words.size());
    begin.push_back(static_cast<std::uint32_t>(words.size()));
    table.entries_.push_back(header.entries[k - 1]);

    const std::vector<float> prob_codes = make_codebook(logs);
    const std::vector<float> backoff_codes = make_codebook(backoffs);
    std::copy(prob_codes.begin(), prob_codes.end(), header.prob_table[k - 1].begin());
    std::copy(backoff_codes.begin(), backoff_codes.end(), header.backoff_table[k - 2].begin());
    const auto coded = [](const std::vector<float>& codes, const std::vector<float>& values) {
      std::vector<std::uint8_t> out(values.size());
      std::transform(values.begin(), values.end(), out.begin(),
                     [&](float v) { return nearest_code(codes, v); });
      return out;
    };
    const std::string here = "ngram." + std::to_string(k) + ".";
    const std::string up = "ngram." + std::to_string(k - 1) + ".";
    table.put(here + "words", words);
    table.put(here + "probs", coded(prob_codes, logs));
    table.put(up + "begin", begin);
    table.put(up + "backoff", coded(backoff_codes, backoffs));
    if (k > 2) {
      table.put(up + "parents", parents);
      table.put(up + "ranks", ranks);
    }
    above_kept.swap(kept);
  }
  table.put("ngram.header", std::vector<model::NgramHeader>{header});
  return table;
}

model::NgramBlobs NgramTable::blobs() const {
  return [this](std::string_view name) -> std::span<const std::byte> {
    const auto found = blobs_.find(name);
    return found == blobs_.end() ? std::span<const std::byte>() : std::span(found->second);
  };
}

Status NgramTable::write(format::ModelWriter* writer) const {
  for (const auto& [name, bytes] : blobs_) {
    if (Status status = writer->add_blob(name, bytes); !status) {
      return status;
    }
  }
  return {};
}

std::size_t NgramTable::size_bytes() const {
  std::size_t total = 0;
  for (const auto& [name, bytes] : blobs_) {
    total += bytes.size();
  }
  return total;
}

}  // namespace laya::train
