// The completion server in a program: asked about a session's text, its answers as candidates. The
// only way from a text field to a network: what is sent is what Session::remote_prompt() gives.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "predict/session/session.h"
#include "predict/source/block_list.h"
#include "predict/source/field_names.h"
#include "remote/remote_question.h"
#include "remote/remote_tier.h"

namespace laya::setup {

/// As predict::Candidate, with text of its own. The server gives no probability.
struct RemoteCandidate {
  static constexpr predict::Origin kOrigin = predict::Origin::Remote;
  static constexpr predict::Tier kTier = predict::Tier::Remote;
  std::string text;    ///< as it will stand: the open word and `insert`
  std::string insert;  ///< what accepting it adds at the caret
};

class RemoteAnswers {
 public:
  /// Errors as CompletionClient::create. `blocked` (may be nullptr): what is never shown; must
  /// outlive this.
  static Result<std::unique_ptr<RemoteAnswers>> create(const remote::RemoteSettings& settings,
                                                       const predict::BlockList* blocked);

  /// Asks how the session's text goes on; returns at once. Where the session gives nothing away
  /// (private fields, …) nothing is asked, and what was asked is taken back.
  void ask(const predict::Session& session);
  /// The text changed: no answer to what was asked is wanted.
  void cancel();
  /// The answer to the last question, if it is for `revision` and there within `wait_ms`: true once
  /// (candidates may be none). Never one for another text.
  bool take(std::uint64_t revision, std::int64_t wait_ms, std::vector<RemoteCandidate>* candidates);
  bool asked() const { return asked_; }
  /// Readable (poll) when take() is worth a call; -1 if there is none.
  int fd() const { return tier_.fd(); }
  /// Why the last question that failed did; "" if none has.
  std::string last_error() { return tier_.last_error(); }

 private:
  RemoteAnswers(remote::CompletionClient client, const remote::RemoteSettings& settings,
                const predict::BlockList* blocked);

  const predict::BlockList* blocked_;
  remote::RemoteQuestion question_;
  std::string open_word_;
  bool asked_ = false;
  remote::RemoteTier tier_;
};

}  // namespace laya::setup
