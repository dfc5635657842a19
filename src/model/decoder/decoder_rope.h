// Rotation angles of a decoder's positions (Su et al. 2021), shared by the backends.
#pragma once

#include <span>
#include <vector>

#include "model/decoder/decoder_config.h"

namespace laya::model {

/// Frequencies of both kinds of layers. Immutable.
class RopeFrequencies {
 public:
  explicit RopeFrequencies(const DecoderConfig& config);

  /// cos and sin of position * frequency, each [head_dim / 2].
  void angles(std::size_t position, bool sliding, std::span<float> cosines,
              std::span<float> sines) const;

 private:
  std::vector<double> global_, local_;
};

}  // namespace laya::model
