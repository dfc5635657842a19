#include "eval/simulator.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <utility>
#include <vector>

#include "base/utf8.h"
#include "eval/simulator_slips.h"
#include "model/core/split_mix.h"
#include "predict/session/session.h"
#include "text/grapheme.h"
#include "text/script.h"

namespace laya::eval {
namespace {

constexpr double kMsPerMinute = 60000;
constexpr double kCharactersPerWord = 5;
constexpr double kKeySpread = 0.35;     // of ln interval, key to key
constexpr double kTypistSpread = 0.25;  // of ln interval, person to person
constexpr double kEraseFactor = 0.7;    // Backspace repeats
constexpr double kNoticeMs = 280;       // from the mistake seen to the first Backspace
constexpr double kLookMs = 350;         // reading a list of five
constexpr double kJumpMs = 1100;        // the mouse, or a finger on the text
constexpr double kLettersPerHan = 2.6;  // keys of pinyin, and the choosing
constexpr std::size_t kWorthAKey = 2;   // characters that a pick must bring

enum class Notice : std::uint8_t { AtOnce, WordEnd, Later };

/// A mistake that will be seen: these bytes of the field stand where those of `meant` belong.
struct Mistake {
  std::size_t field_begin;
  std::size_t field_end;
  std::size_t meant_begin;
  std::size_t meant_end;
  Notice notice;
  int keys_left;  // AtOnce: until it is seen
};

char32_t first_of(std::string_view text) {
  return text.empty() ? 0 : base::decode_utf8(text).code_point;
}
char32_t last_of(std::string_view text) {
  return text.empty() ? 0 : first_of(text.substr(base::previous_code_point(text, text.size())));
}
bool is_word_part(char32_t c) {
  const text::Script script = text::script_of(c);
  return script == text::Script::Latin || script == text::Script::Digit;
}

/// One session being typed.
class Typing {
 public:
  /// `revision` goes on from one text of the engine's session to the next.
  Typing(const SimulatorOptions& options, predict::Session* session, std::uint64_t* revision,
         std::uint64_t seed, std::string_view meant)
      : options_(options), engine_(session), revision_(*revision), random_(seed), field_(log_) {
    log_.typist = TypistKind::Simulated;
    log_.seed = seed;
    log_.meant = meant;
    interval_ms_ = kMsPerMinute / (options.words_per_minute * kCharactersPerWord) *
                   std::exp(kTypistSpread * normal());
    if (engine_ != nullptr) {
      engine_->clear();
      engine_->set_text({.revision = ++revision_, .before = {}, .after = {}});
    }
  }

  Result<KeySession> run() {
    while (status_ && (done_ < meant().size() || near_)) {
      step();
    }
    while (status_ && !later_.empty()) {
      repair_later();
    }
    if (!status_) return status_.error();
    log_.end_ms = now_ms() + rounded(interval_ms_);
    return std::move(log_);
  }

 private:
  std::string_view meant() const { return log_.meant; }
  std::uint64_t now_ms() const { return log_.events.empty() ? 0 : log_.events.back().t_ms; }
  bool chance(double p) { return random_.unit() < p; }
  double normal() {  // Box and Muller; 1 - unit() is never 0
    return std::sqrt(-2 * std::log(1 - random_.unit())) *
           std::cos(2 * std::numbers::pi * random_.unit());
  }
  double spread(double ms) { return ms * std::exp(kKeySpread * normal()); }
  static std::uint64_t rounded(double ms) { return static_cast<std::uint64_t>(std::lround(ms)); }

  // What happens is logged, played and told to the engine, in this one place.
  void happen(KeyEvent event, double wait_ms) {
    event.t_ms = now_ms() + std::max<std::uint64_t>(1, rounded(spread(wait_ms + pause_ms_)));
    pause_ms_ = 0;
    event.done = done_;
    status_ = field_.apply(event);
    if (status_ && engine_ != nullptr) {
      if (event.kind == KeyEventKind::Caret) {
        engine_->set_text(
            {.revision = ++revision_, .before = field_.before(), .after = field_.after()});
      } else {
        status_ = engine_->edit({.revision = ++revision_,
                                 .erase_before = event.erase_before,
                                 .erase_after = event.erase_after,
                                 .insert = event.text});
      }
    }
    log_.events.push_back(std::move(event));
  }

  void key(std::string_view text, SlipKind slip, double factor) {
    const char32_t from = last_of(field_.before());
    if (slip == SlipKind::None) slip = std::exchange(owed_label_, SlipKind::None);
    happen({.kind = KeyEventKind::Key, .text = std::string(text), .slip = slip},
           interval_ms_ * interval_factor(from, first_of(text)) * factor);
  }

  void backspace() {
    const std::string_view before = field_.before();
    const std::size_t erased = before.size() - text::previous_grapheme(before, before.size());
    happen({.kind = KeyEventKind::Erase, .erase_before = static_cast<std::uint32_t>(erased)},
           interval_ms_ * kEraseFactor);
  }

  void erase_to(std::size_t field_offset) {
    pause_ms_ += kNoticeMs;
    while (status_ && field_.caret() > field_offset) backspace();
  }

  void step() {
    if (near_ && is_due(*near_)) return repair_near();
    if (done_ == meant().size()) {
      // The text is there; a mistake in its last word is seen now.
      near_->notice = Notice::AtOnce;
      near_->keys_left = 0;
      return;
    }
    if (engine_ != nullptr && chance(options_.look_rate) && pick()) return;
    if (!near_ && at_word_start() && chance(options_.reword_rate)) return reword();
    if (!near_ && chance(options_.slip_rate)) {
      if (const std::optional<Slip> slip = draw_slip(meant(), done_, random_)) {
        return make_slip(*slip);
      }
    }
    const std::size_t length = next_piece();
    const std::string_view piece = meant().substr(done_, length);
    done_ += length;
    const bool han = text::is_han(first_of(piece));
    key(piece, SlipKind::None,
        han ? kLettersPerHan * static_cast<double>(base::count_code_points(piece)) : 1);
    if (near_) --near_->keys_left;
  }

  /// Bytes that come at once: a character, or a few that an input method commits.
  std::size_t next_piece() {
    std::size_t end = text::next_grapheme(meant(), done_);
    if (!text::is_han(first_of(meant().substr(done_)))) return end - done_;
    const auto more = static_cast<int>(random_.unit() * 4);
    for (int i = 0; i < more && text::is_han(first_of(meant().substr(end))); ++i) {
      end = text::next_grapheme(meant(), end);
    }
    return end - done_;
  }

  bool at_word_start() const {
    return done_ > 0 && meant()[done_ - 1] == ' ' && is_word_part(first_of(meant().substr(done_)));
  }

  void make_slip(const Slip& slip) {
    Mistake mistake{field_.caret(), 0, done_, done_ + slip.meant_bytes, Notice::AtOnce, 0};
    done_ += slip.meant_bytes;
    bool first = true;
    for (const char c : slip.typed) {
      key({&c, 1}, first ? slip.kind : SlipKind::None, 1);
      first = false;
    }
    mistake.field_end = field_.caret();
    const double draw = random_.unit();
    mistake.keys_left = static_cast<int>(random_.unit() * 3);
    if (draw < options_.notice_at_once) {
      near_ = mistake;
    } else if (draw < options_.notice_at_once + options_.notice_at_word_end) {
      mistake.notice = Notice::WordEnd;
      near_ = mistake;
    } else if (draw <
               options_.notice_at_once + options_.notice_at_word_end + options_.notice_later) {
      mistake.notice = Notice::Later;
      later_.push_back(mistake);
    }
    if (slip.typed.empty()) owed_label_ = slip.kind;
  }

  bool is_due(const Mistake& mistake) const {
    if (mistake.notice == Notice::AtOnce) return mistake.keys_left <= 0;
    return !is_word_part(first_of(meant().substr(done_)));  // the word is over
  }

  void repair_near() {
    const Mistake mistake = *near_;
    near_.reset();
    erase_to(mistake.field_begin);
    done_ = mistake.meant_begin;
  }

  /// The last of the mistakes left: those before it keep their places in the field.
  void repair_later() {
    const Mistake mistake = later_.back();
    later_.pop_back();
    happen({.kind = KeyEventKind::Caret, .caret = mistake.field_end}, kJumpMs);
    while (status_ && field_.caret() > mistake.field_begin) backspace();
    std::string_view right =
        meant().substr(mistake.meant_begin, mistake.meant_end - mistake.meant_begin);
    while (status_ && !right.empty()) {
      const std::size_t length = text::next_grapheme(right, 0);
      key(right.substr(0, length), SlipKind::None, 1);
      right.remove_prefix(length);
    }
    happen({.kind = KeyEventKind::Caret, .caret = field_.text().size()}, kJumpMs / 2);
  }

  /// Begins a word of earlier in the text and takes it back.
  void reword() {
    std::vector<std::string_view> words;
    std::string_view rest = meant().substr(0, done_ - 1);
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find(' '), rest.size());
      if (end > 1) words.push_back(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    if (words.empty()) return;
    const auto at = static_cast<std::size_t>(random_.unit() * static_cast<double>(words.size()));
    const std::size_t begin = field_.caret();
    std::string_view word = words[at];
    for (bool first = true; status_ && !word.empty(); first = false) {
      const std::size_t length = text::next_grapheme(word, 0);
      key(word.substr(0, length), first ? SlipKind::Reworded : SlipKind::None, 1);
      word.remove_prefix(length);
    }
    pause_ms_ += 2 * kNoticeMs;
    erase_to(begin);
  }

  /// Takes the offer that brings most, if one fits what is meant. With a mistake that is not seen
  /// yet only an offer that replaces the whole word fits.
  bool pick() {
    const predict::Reply& reply =
        engine_->decide({.candidates = options_.list, .deep_wait_us = predict::kUntilDone});
    KeyEvent best{.kind = KeyEventKind::Pick};
    std::size_t best_gain = 0;
    std::size_t best_done = 0;
    const auto consider = [&](PickFrom from, std::size_t rank, std::string_view insert,
                              std::size_t erased) {
      const std::optional<std::size_t> end = end_of(insert, erased);
      if (!end || *end <= done_) return;
      const std::size_t gain = text::count_graphemes(meant().substr(done_, *end - done_));
      if (gain < kWorthAKey || gain <= best_gain) return;
      best_gain = gain;
      best_done = *end;
      best.from = from;
      best.rank = static_cast<std::uint32_t>(rank);
      best.text = insert;
      best.erase_before = static_cast<std::uint32_t>(erased);
    };
    if (reply.has_ghost) {
      const std::string_view ghost = reply.ghost.text;
      consider(PickFrom::Ghost, 0, ghost, 0);
      std::string_view word = ghost.substr(0, text::first_word_length(ghost));
      while (word.ends_with(' ')) word.remove_suffix(1);
      consider(PickFrom::GhostWord, 0, word, 0);
    }
    for (std::size_t i = 0; i < reply.candidates.size(); ++i) {
      const predict::Candidate& candidate = reply.candidates[i];
      consider(PickFrom::List, i, candidate.insert, candidate.erase_before);
    }
    if (best_gain == 0) {
      pause_ms_ += kLookMs / 2;
      return false;
    }
    for (const predict::Candidate& candidate : reply.candidates) {
      best.offers.emplace_back(candidate.text);
    }
    done_ = best_done;
    if (meant().substr(done_).starts_with(' ')) {  // accepting brings the space
      best.text += ' ';
      ++done_;
    }
    if (best.erase_before != 0) near_.reset();
    happen(std::move(best), interval_ms_ + kLookMs);
    return true;
  }

  /// How far `meant` is typed after `insert` in place of `erased` bytes; none where it does not
  /// fit, or stops inside a word.
  std::optional<std::size_t> end_of(std::string_view insert, std::size_t erased) const {
    std::size_t begin = done_;
    if (erased == 0) {
      if (near_) return std::nullopt;
    } else {
      // The offer replaces a word: the same word of `meant`, from its beginning, must be it.
      if (erased > field_.caret()) return std::nullopt;
      const std::size_t field_begin = field_.caret() - erased;
      if (!near_ || near_->field_begin < field_begin) return std::nullopt;
      if (!later_.empty() && later_.back().field_end > field_begin) return std::nullopt;
      const std::size_t right = near_->field_begin - field_begin;
      if (right > near_->meant_begin) return std::nullopt;
      begin = near_->meant_begin - right;
      if (field_.text().substr(field_begin, right) != meant().substr(begin, right)) {
        return std::nullopt;
      }
    }
    if (insert.empty() || !meant().substr(begin).starts_with(insert)) return std::nullopt;
    const std::size_t end = begin + insert.size();
    if (is_word_part(last_of(insert)) && is_word_part(first_of(meant().substr(end)))) {
      return std::nullopt;
    }
    return end;
  }

  const SimulatorOptions& options_;
  predict::Session* engine_;
  std::uint64_t& revision_;
  model::SplitMix random_;
  KeySession log_;
  PlayedField field_;
  Status status_;
  std::size_t done_ = 0;  // bytes of meant that the typist thinks are typed
  double interval_ms_ = 0;
  double pause_ms_ = 0;                   // before what happens next
  SlipKind owed_label_ = SlipKind::None;  // a character left out: said at the next key
  std::optional<Mistake> near_;           // the one that will be taken back by Backspace
  std::vector<Mistake> later_;            // in the order of their places
};

Status check_rate(const char* name, double rate, double limit) {
  if (rate >= 0 && rate <= limit) return {};
  return Error{ErrorCode::BadArgument, std::string("simulate: ") + name + " is " +
                                           std::to_string(rate) + "; allowed are 0 to " +
                                           std::to_string(limit)};
}

}  // namespace

struct Simulator::Impl {
  SimulatorOptions options;
  std::optional<predict::Session> session;
  std::uint64_t revision = 0;
  model::SplitMix seeds;
};

Result<Simulator> Simulator::make(const SimulatorOptions& options, const predict::Engine* engine) {
  const double noticed = options.notice_at_once + options.notice_at_word_end + options.notice_later;
  for (const Status& status : {check_rate("slip rate", options.slip_rate, 0.5),
                               check_rate("at-once rate", options.notice_at_once, 1),
                               check_rate("word-end rate", options.notice_at_word_end, 1),
                               check_rate("later rate", options.notice_later, 1),
                               check_rate("sum of the rates of noticing", noticed, 1 + 1e-9),
                               check_rate("reword rate", options.reword_rate, 0.5),
                               check_rate("look rate", options.look_rate, 1)}) {
    if (!status) return status.error();
  }
  if (!(options.words_per_minute >= 1 && options.words_per_minute <= 1000)) {
    return Error{ErrorCode::BadArgument, "simulate: words a minute: allowed are 1 to 1000"};
  }
  if (options.list > predict::Reply::kMaxCandidates) {
    return Error{ErrorCode::BadArgument, "simulate: list length: allowed are 0 to " +
                                             std::to_string(predict::Reply::kMaxCandidates)};
  }
  auto impl = std::make_unique<Impl>(Impl{options, std::nullopt, 0, model::SplitMix(options.seed)});
  if (engine != nullptr) impl->session.emplace(*engine);
  return Simulator(std::move(impl));
}

Simulator::Simulator(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Simulator::Simulator(Simulator&&) noexcept = default;
Simulator& Simulator::operator=(Simulator&&) noexcept = default;
Simulator::~Simulator() = default;

Result<KeySession> Simulator::type(std::string_view meant) {
  if (meant.size() > kMaxKeyText || !base::is_valid_utf8(meant) ||
      meant.find('\n') != std::string_view::npos) {
    return Error{ErrorCode::BadArgument, "simulate: a line must be UTF-8 of at most " +
                                             std::to_string(kMaxKeyText) + " bytes"};
  }
  const auto seed = static_cast<std::uint64_t>(impl_->seeds.unit() * 0x1.0p53);
  Typing typing(impl_->options, impl_->session ? &*impl_->session : nullptr, &impl_->revision, seed,
                meant);
  return typing.run();
}

}  // namespace laya::eval
