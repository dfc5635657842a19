// What `laya type` shows and does, without a terminal: keys in, text and a screen out. `laya
// replay` drives the same object, so what the demo counts is what a user would get.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "laya/type/key_reader.h"
#include "laya/type/type_pinyin.h"
#include "observe/latency_histogram.h"
#include "predict/engine/engine.h"
#include "predict/session/session.h"
#include "predict/source/field_names.h"
#include "setup/remote_answers.h"

namespace laya::apps {

class TypeEditor {
 public:
  static constexpr std::size_t kCandidates = 5;
  /// Of them, those that a completion server may take, at the end of the list.
  static constexpr std::size_t kRemoteCandidates = 2;

  /// `engine` must outlive it. Warms up, so that the first key is as fast as the others.
  /// `deep_wait_us`: how long decide() may wait for the decoder, if there is one. `remote`: the
  /// completion server that the user configured; must outlive it; nullptr: none is asked.
  explicit TypeEditor(const predict::Engine& engine,
                      std::int32_t deep_wait_us = predict::kRestOfFrame,
                      setup::RemoteAnswers* remote = nullptr);

  enum class Outcome : std::uint8_t { Continue, Quit };
  /// Applies one key. The list and the ghost are of the text before until decide() is called;
  /// several keys that came at once need one decide(). A key that accepts something asks first when
  /// the list is of an older text.
  Outcome handle(const Key& key);
  /// Asks the session what to offer now.
  void decide();
  /// Takes over what the decoder has found for this very text since decide(). True when the screen
  /// has to change.
  bool take_deep_answers();
  /// Readable (poll) when take_deep_answers() is worth a call; -1 without a decoder.
  int deep_fd() { return session_.deep_fd(); }
  /// The same of the completion server: its candidates take the last places of the list.
  bool take_remote_answers();
  int remote_fd() const { return remote_ != nullptr ? remote_->fd() : -1; }
  /// Escape was pressed: nothing is to be shown for this text.
  bool is_hidden() const { return hidden_; }
  predict::DeepState deep_state() const { return session_.deep_state(); }

  std::string_view before() const { return before_; }  ///< left of the caret
  std::string_view after() const { return after_; }    ///< right of it
  /// None while pinyin is composed.
  std::string_view ghost() const { return is_composing() ? std::string_view() : ghost_.ghost(); }
  /// A space is owed behind the word just accepted: shown, not yet in the text.
  bool owes_space() const { return ghost_.pending_space() == predict::PendingSpace::Owed; }

  /// Pinyin input, Ctrl-Space: the letters of it that wait at the caret, for what offers() lists.
  bool is_pinyin() const { return pinyin_.is_on(); }
  bool is_composing() const { return !pinyin_.letters().empty(); }
  std::string_view composed_letters() const { return pinyin_.letters(); }
  /// Why the last key could not do what it is for; empty: it did.
  std::string_view notice() const { return notice_; }

  struct Offer {
    std::string text;    ///< as listed
    std::string insert;  ///< what picking it adds at the caret, an owed space not included
    std::size_t erase_before = 0;  ///< bytes left of the caret that picking it takes away first
    predict::Tier tier = predict::Tier::Instant;  ///< Remote: a completion server's
  };
  const std::vector<Offer>& offers() const { return offers_; }

  /// Since the start. Characters are grapheme clusters that stand in the text because of a key that
  /// typed or accepted them.
  std::uint64_t keys() const { return keys_; }
  std::uint64_t characters() const { return characters_; }
  /// 1 - keys / characters, in percent; 0 before anything was typed, and never negative.
  double saved_percent() const;
  const observe::LatencyHistogram& latency() const { return latency_; }
  double last_us() const { return last_us_; }
  /// The same of the two tiers apart: the instant one's own work; from asking the decoder to its
  /// list (0: it was not asked, or has not answered).
  const observe::LatencyHistogram& instant_latency() const { return instant_latency_; }
  const observe::LatencyHistogram& deep_latency() const { return deep_latency_; }
  double instant_us() const { return instant_us_; }
  double deep_us() const { return deep_us_; }

 private:
  void insert(const predict::Change& change, std::size_t erase_before = 0);
  bool compose(const Key& key);
  void list_pinyin();
  void type(std::string_view text);
  void pick(std::size_t number);
  void erase(std::size_t before_bytes, std::size_t after_bytes);
  void move_caret(std::size_t offset);
  std::size_t line_above() const;
  std::size_t line_below() const;
  void tell_whole_text();
  void show(const predict::Reply& reply);
  void show_remote_offers();

  predict::Session session_;
  predict::GhostState ghost_;
  PinyinInput pinyin_;
  std::string notice_;
  std::string before_;
  std::string after_;
  std::vector<Offer> offers_;
  setup::RemoteAnswers* remote_;
  std::vector<setup::RemoteCandidate> remote_offers_;  // for the text as it is
  std::uint64_t keys_ = 0;
  std::uint64_t characters_ = 0;
  observe::LatencyHistogram latency_;
  observe::LatencyHistogram instant_latency_;
  observe::LatencyHistogram deep_latency_;
  double last_us_ = 0;
  double instant_us_ = 0;
  double deep_us_ = 0;
  std::int32_t deep_wait_us_;
  bool hidden_ = false;  ///< Escape: nothing is shown for this text any more
  bool stale_ = true;    ///< the text has changed since decide()
};

}  // namespace laya::apps
