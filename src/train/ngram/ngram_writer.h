// The n-gram builder's last step: the kept n-grams quantised and laid out as
// src/model/ngram/ngram_layout.h says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/model_writer.h"
#include "model/ngram/ngram.h"
#include "train/ngram/ngram_estimate.h"

namespace laya::train {

/// The blobs of one table in memory. Movable; views live as long as it.
class NgramTable {
 public:
  /// Every kept n-gram of `probabilities`; `text` gives the lexicon.
  static NgramTable make(const NgramText& text, const std::vector<NgramLevel>& levels,
                         const std::vector<NgramProbabilities>& probabilities);

  /// For NgramModel::from_blobs.
  model::NgramBlobs blobs() const;
  /// Adds the blobs to a `.laya` file.
  Status write(format::ModelWriter* writer) const;

  std::size_t size_bytes() const;
  /// Kept n-grams of each length, [0] being the lexicon.
  const std::vector<std::uint32_t>& entries() const { return entries_; }

 private:
  template <typename T>
  void put(const std::string& name, const std::vector<T>& values);

  std::map<std::string, std::vector<std::byte>, std::less<>> blobs_;
  std::vector<std::uint32_t> entries_;
};

/// 256 values that stand for `values` with little error in the logarithm: equally wide steps
/// between the least and the largest, then Lloyd's iteration (Lloyd 1982). Ascending. `values` may
/// be empty.
std::vector<float> make_codebook(std::span<const float> values);

/// The index of the nearest entry of an ascending `codebook`.
std::uint8_t nearest_code(std::span<const float> codebook, float value);

}  // namespace laya::train
