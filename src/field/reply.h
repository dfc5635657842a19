// What a session answers at one key: candidates for the list, perhaps a ghost, and why not.
//
// A Reply and all its views belong to the Session that gave it and live until that session's next
// call. Nothing here allocates.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace laya::field {

/// Which source put a candidate into the pool. Both: more than one proposed it by itself.
enum class Origin : std::uint8_t {
  Network,
  Ngram,
  Both,
  Deep,
  Lexicon,     ///< a word that network and table do not know
  Emoji,       ///< by its name
  Correction,  ///< what was typed, as it was probably meant
  Pinyin,      ///< Chinese for Latin letters typed
  Remote,      ///< the completion server that the user configured
};

/// Short lower-case name of `origin` ("network", "ngram", "both", "deep", "lexicon", …), for JSON.
constexpr const char* origin_name(Origin origin) {
  switch (origin) {
    case Origin::Network:
      return "network";
    case Origin::Ngram:
      return "ngram";
    case Origin::Both:
      return "both";
    case Origin::Deep:
      return "deep";
    case Origin::Lexicon:
      return "lexicon";
    case Origin::Emoji:
      return "emoji";
    case Origin::Correction:
      return "correction";
    case Origin::Pinyin:
      return "pinyin";
    case Origin::Remote:
      return "remote";
  }
  return "both";
}

/// One entry of the list. Accepting it takes erase_before bytes away left of the caret and puts
/// `insert` there. Where it takes nothing away: typed prefix + insert == text, byte for byte;
/// else insert == text.
struct Candidate {
  std::string_view
      text;  ///< the whole word or phrase as it will stand, typed prefix included, without a space
  std::string_view insert;  ///< what accepting it adds at the caret
  float log_prob = 0;  ///< natural logarithm of p(word | context), before the prefix was typed; ≤ 0
  Origin origin = Origin::Both;
  std::uint16_t erase_before = 0;  ///< 0 but for what changes what is typed (corrections, emoji)
};

/// The grey phrase after the caret. It only ever extends what was typed.
struct Ghost {
  std::string_view
      text;  ///< what accepting all of it adds at the caret; begins with the rest of the open word
  float log_prob = 0;  ///< of the whole phrase given what is typed (prefix included); ≤ 0
};

/// What a list was made by. Deep: the decoder had its say; Instant: network and table alone.
/// Remote: what a completion server said, which no Reply holds: front ends add it, marked.
enum class Tier : std::uint8_t { Instant, Deep, Remote };

/// Short lower-case name of `tier` ("instant", "deep", "remote"), for JSON.
constexpr const char* tier_name(Tier tier) {
  switch (tier) {
    case Tier::Instant:
      return "instant";
    case Tier::Deep:
      return "deep";
    case Tier::Remote:
      return "remote";
  }
  return "instant";
}

/// Why a reply is empty. Answered: it is not, or nothing was asked for.
enum class Silence : std::uint8_t {
  Answered,
  FieldBlocked,   ///< password, PIN, private or terminal field: the text never reached the engine
  NothingKnown,   ///< no word known begins with what is typed (gibberish, emoji, an address)
  HalfCharacter,  ///< the text ends inside a UTF-8 sequence; held back until the rest arrives
  NeedsSpace,     ///< behind a comma or a digit: a word offered here would run into it
  MidWord,        ///< the caret stands inside a word that nothing fits
};

/// Short lower-case name of `silence` ("answered", "field-blocked", …), for JSON and tests.
constexpr const char* silence_name(Silence silence) {
  switch (silence) {
    case Silence::Answered:
      return "answered";
    case Silence::FieldBlocked:
      return "field-blocked";
    case Silence::NothingKnown:
      return "nothing-known";
    case Silence::HalfCharacter:
      return "half-character";
    case Silence::NeedsSpace:
      return "needs-space";
    case Silence::MidWord:
      return "mid-word";
  }
  return "answered";
}

/// Time spent, in microseconds.
struct Latency {
  float edit_us = 0;        ///< applying the edit: tokenising, truncating
  float advance_us = 0;     ///< model steps over tokens closed by the edit, logits included
  float candidates_us = 0;  ///< proposing, scoring and ordering, advance_us not included
  float ghost_us = 0;       ///< the instant tier's phrase search
  float total_us = 0;       ///< the whole, from edit to reply
  float deep_us = 0;        ///< from asking the decoder to its list or, if it came later, its ghost
};

struct Reply {
  static constexpr std::size_t kMaxCandidates = 10;

  std::uint64_t revision =
      0;  ///< of the edit this answers. A front end drops a reply whose revision is not its latest
  std::span<const Candidate>
      candidates;  ///< best first; ties by text, so the same input gives the same order
  bool has_ghost = false;
  Ghost ghost;  ///< only if has_ghost
  Silence silence = Silence::Answered;
  Tier tier = Tier::Instant;        ///< of the list
  Tier ghost_tier = Tier::Instant;  ///< of the ghost: Deep if the decoder verified it
  std::uint32_t deep_passes = 0;    ///< passes of the decoder for this text so far
  Latency latency;
};

}  // namespace laya::field
