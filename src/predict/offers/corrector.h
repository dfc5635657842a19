// Corrector: what may have been meant by letters that are no word. Noise (edit_noise.h) times
// language: lexicon, n-gram table in context.
//
// It only ever answers; nothing typed is changed or marked by it (complaints 15, 17). A word that
// the lexicon knows has no corrections while it is typed, and afterwards only where another, a slip
// away, is far likelier in its context ("eft me a note"); nor has what the writer used before in
// this text. What holds other than Latin letters and apostrophes is not looked at (18).
//
//   Corrector corrector(lexicon, ngrams);            // one per session, ~40 KB
//   for (const Correction& c : corrector.correct("see you ", "tomorow", Typing::Finished)) …
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "predict/offers/edit_noise.h"
#include "predict/offers/lexicon.h"

namespace laya::model {
class NgramModel;
}

namespace laya::predict {

/// Whether more letters may follow. Open: corrections also complete ("becua": because).
enum class Typing : std::uint8_t { Open, Finished };

struct Correction {
  std::string_view text;       ///< as it will stand, cased as the typed word
  std::size_t erase_more = 0;  ///< bytes of `before` that go with the typed word: "to gether"
  float log_prob = 0;          ///< ln p(text | context)
  float log_noise = 0;         ///< ln p(typed | text)
  float probability = 0;       ///< that this was meant: all corrections and the typed word weighed
};

/// When to stay silent, in nats; chosen on dev (corrector.cpp says how). The first three are added
/// to the chance that a word is meant as it stands, though the lexicon lacks it.
struct CorrectionRules {
  float small = 0;    ///< small letters, by a writer who uses capitals (or has written nothing yet)
  float name = 0;     ///< a capital inside a sentence
  float acronym = 0;  ///< all capitals
  float spaces = 0;   ///< against a correction that adds, moves or drops a space
  float renamed = 0;  ///< against one that makes a name of small letters
  float enough = 0;   ///< least evidence, in nats, that something else was meant
};
const CorrectionRules& correction_rules();

class Corrector {
 public:
  static constexpr std::size_t kMaxCorrections = 8;
  /// Shorter words are left alone: too many things are two letters long.
  static constexpr std::size_t kMinLetters = 2;
  static constexpr std::size_t kMaxLetters = 24;  ///< longer ones too
  /// Both must outlive the corrector; `ngrams` may be nullptr (no context then).
  Corrector(const Lexicon& lexicon, const model::NgramModel* ngrams,
            const NoiseCosts& costs = noise_costs(),
            const CorrectionRules& rules = correction_rules());
  Corrector(Corrector&&) noexcept;
  ~Corrector();

  /// What may have been meant by `typed`, which follows `before`, likeliest first; at most
  /// kMaxCorrections. Empty where `typed` is a word, or is likelier meant as it stands. Lives until
  /// the next call. No allocation; at most about a millisecond.
  ///
  /// `log_prefix` (Open only): ln of the probability that some known word that begins as typed was
  /// meant, in this context; left out, the lexicon guesses.
  std::span<const Correction> correct(std::string_view before, std::string_view typed,
                                      Typing typing,
                                      std::optional<float> log_prefix = std::nullopt);

  /// That `typed` was meant as it stands, of the last correct(); 1 for a word left alone.
  float probability_as_typed() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace laya::predict
