// Fewer rows, the same cuts (see pruned() in subword_tokenizer.h).
#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "text/subword_assembly.h"

namespace laya::text {

std::vector<TokenId> SubwordTokenizer::required_by(std::span<const TokenId> wanted) const {
  std::vector<TokenId> needed;
  for (const TokenId id : wanted) {
    if (id < size()) {
      needed.push_back(id);
    }
  }
  for (int byte = 0; byte < 256; ++byte) {
    if (const TokenId id = vocabulary_.byte_id(static_cast<std::uint8_t>(byte)); id != kNoToken) {
      needed.push_back(id);
    }
  }
  for (const TokenId id : {bos(), eos()}) {
    if (id != kNoToken) {
      needed.push_back(id);
    }
  }
  std::sort(needed.begin(), needed.end());
  needed.erase(std::unique(needed.begin(), needed.end()), needed.end());
  return needed;
}

Result<SubwordTokenizer> SubwordTokenizer::pruned(std::span<const TokenId> kept) const {
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (kept[i] >= size() || (i > 0 && kept[i] <= kept[i - 1])) {
      return Error{ErrorCode::BadArgument,
                   "tokenizer: kept[" + std::to_string(i) + "] is " + std::to_string(kept[i]) +
                       ": not ascending, or no token of " + std::to_string(size())};
    }
  }
  if (const std::vector<TokenId> needed = required_by(kept); needed.size() != kept.size()) {
    return Error{ErrorCode::BadArgument, "tokenizer: kept lacks " +
                                             std::to_string(needed.size() - kept.size()) +
                                             " tokens of required_by(kept): bytes, BOS or EOS"};
  }

  // What merging passes through on its way to kept tokens: both sides of each merge that makes a
  // needed one. Sides are shorter, so one walk from the longest down finds them all.
  std::vector<std::uint8_t> needed(vocabulary_.total(), 0);
  for (const TokenId id : kept) {
    needed[id] = 1;
  }
  const std::span<const Merge> all = merges_.list();
  std::vector<std::uint32_t> order(all.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return vocabulary_.bytes(all[a].result).size() > vocabulary_.bytes(all[b].result).size();
  });
  for (const std::uint32_t i : order) {
    if (needed[all[i].result] != 0) {
      needed[all[i].left] = 1;
      needed[all[i].right] = 1;
    }
  }

  std::vector<TokenId> old_ids(kept.begin(), kept.end());
  std::vector<TokenId> new_ids(vocabulary_.total(), kNoToken);
  for (const TokenId id : kept) {
    needed[id] = 0;
  }
  for (TokenId id = 0; id < vocabulary_.total(); ++id) {
    if (needed[id] != 0) {
      old_ids.push_back(id);
    }
  }
  std::vector<SubwordVocabulary::Token> tokens;
  for (std::size_t id = 0; id < old_ids.size(); ++id) {
    const TokenId old = old_ids[id];
    new_ids[old] = static_cast<TokenId>(id);
    tokens.push_back({vocabulary_.text(old), vocabulary_.kind(old), vocabulary_.user_defined(old)});
  }
  std::vector<Merge> merges;
  for (const Merge& merge : all) {
    if (new_ids[merge.result] != kNoToken) {
      merges.push_back({new_ids[merge.left], new_ids[merge.right], new_ids[merge.result]});
    }
  }
  SubwordOptions options = options_;
  for (TokenId* id : {&options.bos, &options.eos}) {
    *id = *id == kNoToken ? kNoToken : new_ids[*id];
  }
  return SubwordAssembly::make(options, tokens, kept.size(), std::move(merges));
}

}  // namespace laya::text
