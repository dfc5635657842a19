// Our decoder beside llama.cpp (through llama-cpp-python): the same checkpoint, threads and tokens,
// in turns; and whether both write the same greedy text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "laya-train/peers/bench_peers_parity.h"

namespace laya::apps {

struct PeersOptions {
  std::string deep;    ///< .laya with the decoder
  std::string gguf;    ///< the checkpoint that it was converted from
  std::string python;  ///< with llama_cpp
  std::string script;  ///< bench/peers/llama_cpp.py
  std::size_t prompts = 20;
  std::size_t tokens = 64;  ///< of each prompt's continuation
  /// Called now and then; may be empty.
  std::function<void(const std::string& stage, std::size_t done, std::size_t total)> progress = {};
};

/// One token with all logits, milliseconds, medians; each side in turns of a few tokens.
struct PeerTimes {
  int threads = 1;
  double ours_ms = 0;
  double theirs_ms = 0;
  double floor_ms = 0;  ///< reading our weights once with as many threads, between the turns
  double ratio() const { return ours_ms > 0 ? theirs_ms / ours_ms : 0; }
};

struct PeersReport {
  std::string kernels;
  std::string peer;  ///< "llama-cpp-python 0.3.36"
  std::size_t weights_bytes = 0;
  std::vector<PeerTimes> times;  ///< one and two threads
  std::optional<Parity> parity;  ///< none for a pruned vocabulary: texts cannot be the same
};

/// Unsupported when the Python or its llama_cpp is missing: skip, say so. Else the errors of
/// loading, Corrupt where the two files are not the same model, Io when the other side fails.
Result<PeersReport> compare_with_llama_cpp(const PeersOptions& options);

}  // namespace laya::apps
