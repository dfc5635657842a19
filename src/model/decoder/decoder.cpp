#include "model/decoder/decoder.h"

#include <algorithm>
#include <array>
#include <string>

namespace laya::model {
namespace {

Error bad(const std::string& what) { return Error{ErrorCode::BadArgument, "decoder: " + what}; }

Status check_cache(const DecoderConfig& config, const KvCache& cache, std::size_t last_position) {
  if (cache.layers() != config.layers || cache.kv_heads() != config.kv_heads ||
      cache.head_dim() != config.head_dim) {
    return bad("the cache is of another model shape");
  }
  if (last_position >= config.max_context) {
    return bad("position " + std::to_string(last_position) + " is beyond max_context " +
               std::to_string(config.max_context));
  }
  return {};
}

Status check_token(const DecoderConfig& config, std::size_t column, TokenId token) {
  if (token >= config.vocabulary_size) {
    return bad("token of column " + std::to_string(column) + " is outside the vocabulary of " +
               std::to_string(config.vocabulary_size));
  }
  return {};
}

}  // namespace

Status Decoder::prefill(Workspace& workspace, KvCache& cache, std::span<const TokenId> tokens,
                        std::span<float> hidden_last, const base::CancelFlag* cancel) const {
  const DecoderConfig& shape = config();
  if (tokens.empty()) {
    return bad("prefill of no token");
  }
  if (!hidden_last.empty() && hidden_last.size() != shape.hidden_dim) {
    return bad("hidden_last has " + std::to_string(hidden_last.size()) + " numbers, " +
               std::to_string(shape.hidden_dim) + " are needed");
  }
  if (cache.node_count() != 0) {
    return bad("prefill of a cache with a tree: commit or clear it first");
  }
  if (tokens.size() > shape.max_context) {
    return bad(std::to_string(tokens.size()) + " tokens, max_context is " +
               std::to_string(shape.max_context));
  }
  if (auto status = check_cache(shape, cache, cache.length() + tokens.size() - 1); !status) {
    return status;
  }
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (auto status = check_token(shape, i, tokens[i]); !status) {
      return status;
    }
  }
  const std::size_t before = cache.length();
  std::array<Column, kMaxColumns> columns;
  for (std::size_t done = 0; done < tokens.size();) {
    const std::size_t n = std::min(tokens.size() - done, kMaxColumns);
    for (std::size_t i = 0; i < n; ++i) {
      columns[i] = {kRoot, tokens[done + i]};
    }
    const bool last = done + n == tokens.size();
    cache.begin_append(n);
    if (auto status = forward(workspace, cache, Pass::Main, std::span(columns).first(n),
                              last ? hidden_last : std::span<float>{}, cancel);
        !status) {
      cache.truncate(before);
      return status;
    }
    cache.finish_append(n);
    done += n;
  }
  return {};
}

Status Decoder::grow(Workspace& workspace, KvCache& cache, std::span<const Column> columns,
                     std::span<float> hidden, const base::CancelFlag* cancel) const {
  const DecoderConfig& shape = config();
  const std::size_t n = columns.size();
  if (n < 1 || n > kMaxColumns) {
    return bad(std::to_string(n) + " columns, allowed are 1 to " + std::to_string(kMaxColumns));
  }
  if (!hidden.empty() && hidden.size() != n * shape.hidden_dim) {
    return bad("hidden has " + std::to_string(hidden.size()) + " numbers, " +
               std::to_string(n * shape.hidden_dim) + " are needed");
  }
  const std::size_t nodes = cache.node_count();
  if (n > cache.options().tree_nodes - nodes) {
    return bad("no room for " + std::to_string(n) + " nodes beside " + std::to_string(nodes) +
               " in a tree of " + std::to_string(cache.options().tree_nodes));
  }
  if (auto status = check_cache(shape, cache, cache.length()); !status) {
    return status;
  }
  for (std::size_t i = 0; i < n; ++i) {
    if (auto status = check_token(shape, i, columns[i].token); !status) {
      return status;
    }
    if (columns[i].parent < kRoot || columns[i].parent >= static_cast<KvNodeId>(nodes + i)) {
      return bad("parent of column " + std::to_string(i) + " is " +
                 std::to_string(columns[i].parent) + ", there are " + std::to_string(nodes + i) +
                 " nodes before it");
    }
  }
  const KvNodeId first = cache.add_nodes(columns);
  Status status;
  for (std::size_t i = 0; i < n && status; ++i) {
    status = check_cache(shape, cache,
                         cache.length() + cache.depth(first + static_cast<KvNodeId>(i)) - 1);
  }
  if (status) {
    status = forward(workspace, cache, Pass::Tree, columns, hidden, cancel);
  }
  if (!status) {
    cache.drop_nodes_from(first);
  }
  return status;
}

}  // namespace laya::model
