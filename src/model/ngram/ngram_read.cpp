// Opens an n-gram table: every count and size of its blobs is checked here, the contents at each
// use.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "format/model_file.h"
#include "model/ngram/ngram_table.h"

namespace laya::model {

using ngram_detail::kBlock;
using ngram_detail::kNever;

namespace {

template <typename T>
bool view(const NgramBlobs& blobs, const std::string& name, std::uint64_t count,
          std::span<const T>* out, std::size_t* total) {
  const std::span<const std::byte> bytes = blobs(name);
  if (bytes.size() != count * sizeof(T) ||
      reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(T) != 0) {
    return false;
  }
  *out = {reinterpret_cast<const T*>(bytes.data()), static_cast<std::size_t>(count)};
  *total += bytes.size();
  return true;
}

Error corrupt(std::string_view name, const std::string& what) {
  return Error{ErrorCode::Corrupt, std::string(name) + ": " + what};
}

// Empty, or the field that cannot be.
const char* header_fault(const NgramHeader& h) {
  if (h.order < 1 || h.order > kNgramMaxOrder) return "order";
  if (h.unit_count > kNgramMaxUnits) return "unit_count";
  if (h.common_count > kNgramMaxCommon || h.common_count > h.unit_count) return "common_count";
  if (h.han_begin < kFirstLexiconWord || h.han_begin > h.word_begin) return "han_begin";
  if (h.word_begin > h.common_count) return "word_begin";
  if (h.display_count > h.unit_count) return "display_count";
  if (h.entries[0] != h.common_count || h.contexts[0] != h.common_count) return "level 1";
  for (std::uint32_t k = 2; k <= kNgramMaxOrder; ++k) {
    if (k > h.order ? h.entries[k - 1] != 0 : h.entries[k - 1] > (1u << 30)) return "entries";
    if (h.contexts[k - 1] > (k < h.order ? h.entries[k - 1] : 0)) return "contexts";
  }
  for (std::uint32_t k = 1; k <= kNgramMaxOrder; ++k) {
    for (std::size_t i = 0; i < 256; ++i) {
      const float p = h.prob_table[k - 1][i];
      if (!std::isfinite(p) || p > 0.0f || (i > 0 && p < h.prob_table[k - 1][i - 1])) {
        return "prob_table";
      }
      if (!std::isfinite(h.backoff_table[k - 1][i])) return "backoff_table";
    }
  }
  return nullptr;
}

}  // namespace

Status NgramModel::Table::read(const NgramBlobs& blobs, std::string_view name) {
  const std::span<const std::byte> bytes = blobs("ngram.header");
  if (bytes.size() < 12 || std::memcmp(bytes.data(), kNgramMagic.data(), 8) != 0) {
    return corrupt(name, "no n-gram table: blob ngram.header is missing or foreign");
  }
  std::uint32_t version = 0;
  std::memcpy(&version, bytes.data() + 8, sizeof(version));
  if (version != kNgramVersion) {
    return Error{ErrorCode::Version, std::string(name) + ": n-gram table of layout version " +
                                         std::to_string(version) + ", this build reads " +
                                         std::to_string(kNgramVersion)};
  }
  if (bytes.size() != sizeof(NgramHeader)) {
    return corrupt(name, "ngram.header has " + std::to_string(bytes.size()) + " bytes, not " +
                             std::to_string(sizeof(NgramHeader)));
  }
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (const char* fault = header_fault(header)) {
    return corrupt(name, std::string("ngram.header: ") + fault + " is out of range");
  }
  size_bytes = bytes.size();
  std::string wrong;
  const auto load = [&]<typename T>(const std::string& blob, std::uint64_t count,
                                    std::span<const T>* out) {
    if (wrong.empty() && !view(blobs, blob, count, out, &size_bytes)) {
      wrong = blob;
    }
  };
  load("ngram.lexicon_offsets", header.unit_count - kFirstLexiconWord + 1ull, &lexicon_offsets);
  load("ngram.display_ids", header.display_count, &display_ids);
  load("ngram.display_offsets", header.display_count + 1ull, &display_offsets);
  load("ngram.unigram", header.unit_count, &unigram);
  for (std::uint32_t k = 1; k <= header.order && wrong.empty(); ++k) {
    Level& level = levels[k - 1];
    const std::string at = "ngram." + std::to_string(k) + ".";
    const std::uint64_t entries = header.entries[k - 1];
    if (k > 1) {
      load(at + "words", entries, &level.words);
      load(at + "probs", entries, &level.probs);
    }
    if (k < header.order) {
      load(at + "begin", header.contexts[k - 1] + 1ull, &level.begin);
      load(at + "backoff", header.contexts[k - 1], &level.backoff);
      if (k > 1) {
        load(at + "parents", (entries + 63) / 64, &level.parents);
        load(at + "ranks", (entries + 63) / 64, &level.ranks);
      }
    }
  }
  if (!wrong.empty()) {
    return corrupt(name, "blob " + wrong + " is missing or of a wrong size");
  }
  const auto text = [&](const char* blob) {
    const std::span<const std::byte> b = blobs(blob);
    size_bytes += b.size();
    return std::string_view(reinterpret_cast<const char*>(b.data()), b.size());
  };
  lexicon_text = text("ngram.lexicon_text");
  display_text = text("ngram.display_text");
  block_best.assign((header.unit_count + kBlock - 1) / kBlock, kNever);
  for (std::uint32_t word = 0; word < header.unit_count; ++word) {
    if (!(unigram[word] <= 0.0f)) {  // NaN too
      return corrupt(
          name, "ngram.unigram: no logarithm of a probability at unit " + std::to_string(word));
    }
    block_best[word / kBlock] = std::max(block_best[word / kBlock], unigram[word]);
  }
  return {};
}

Result<NgramModel> NgramModel::from_blobs(const NgramBlobs& blobs, std::string_view name) {
  auto table = std::make_unique<Table>();
  if (Status status = table->read(blobs, name); !status) {
    return status.error();
  }
  return NgramModel(std::move(table));
}

Result<NgramModel> NgramModel::open(const format::ModelFile& file) {
  return from_blobs(
      [&file](std::string_view blob) {
        auto bytes = file.blob(blob);
        return bytes ? *bytes : std::span<const std::byte>();
      },
      file.path());
}

}  // namespace laya::model
