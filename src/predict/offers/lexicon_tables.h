// A lexicon's tables from a list of words: what `laya train lexicon` writes to a file and tests
// read from memory. Not for the path of a key.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "predict/offers/lexicon.h"

namespace laya::predict {

struct LexiconEntry {
  std::string written;     ///< as inside a sentence: "the", "London", "iPhone"
  double weight = 1;       ///< how often it is said; > 0
  bool is_silent = false;  ///< no mistake, but never offered
};

/// The blobs of a lexicon (lexicon_layout.h). Must outlive a Lexicon made from it.
class LexiconTables {
 public:
  /// `unknown_weight`: how often something is said that is none of the words. The same key twice
  /// (March, march): weights add up, the heavier form is kept, offered if one of them is. Entries
  /// that are empty, too long (kLexiconMaxWordBytes) or longer in lower case than as written are
  /// left out. BadArgument: no word left; TooLarge: too many nodes.
  static Result<LexiconTables> make(std::span<const LexiconEntry> entries, double unknown_weight);

  std::span<const std::byte> blob(std::string_view name) const;
  const std::map<std::string, std::vector<std::byte>, std::less<>>& blobs() const { return blobs_; }
  Result<Lexicon> lexicon() const {
    return Lexicon::from_blobs([this](std::string_view name) { return blob(name); }, "tables");
  }

 private:
  std::map<std::string, std::vector<std::byte>, std::less<>> blobs_;
};

}  // namespace laya::predict
