#include "setup/remote_answers.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace laya::setup {

RemoteAnswers::RemoteAnswers(remote::CompletionClient client,
                             const remote::RemoteSettings& settings,
                             const predict::BlockList* blocked)
    : blocked_(blocked), tier_(std::move(client), settings.pause) {}

Result<std::unique_ptr<RemoteAnswers>> RemoteAnswers::create(const remote::RemoteSettings& settings,
                                                             const predict::BlockList* blocked) {
  Result<remote::CompletionClient> client = remote::CompletionClient::create(settings);
  if (!client) return client.error();
  return std::unique_ptr<RemoteAnswers>(
      new RemoteAnswers(std::move(client).value(), settings, blocked));
}

void RemoteAnswers::ask(const predict::Session& session) {
  const std::optional<predict::RemotePrompt> prompt = session.remote_prompt();
  if (!prompt) {
    cancel();
    return;
  }
  question_ = remote::remote_question(prompt->before());
  open_word_.assign(prompt->open_word());
  asked_ = true;
  tier_.ask(prompt->revision(), question_.prompt);
}

void RemoteAnswers::cancel() {
  asked_ = false;
  question_ = {};
  open_word_.clear();
  tier_.cancel();
}

bool RemoteAnswers::take(std::uint64_t revision, std::int64_t wait_ms,
                         std::vector<RemoteCandidate>* candidates) {
  std::vector<std::string> continuations;
  if (!asked_ || !tier_.take(revision, wait_ms, &continuations)) {
    return false;
  }
  candidates->clear();
  for (const std::string& continuation : continuations) {
    RemoteCandidate candidate;
    candidate.insert = remote::fitting(question_, continuation);
    candidate.text = open_word_ + candidate.insert;
    const bool known =
        std::any_of(candidates->begin(), candidates->end(),
                    [&](const RemoteCandidate& other) { return other.insert == candidate.insert; });
    if (candidate.insert.empty() || known ||
        (blocked_ != nullptr && blocked_->blocks_after(question_.prompt, continuation))) {
      continue;
    }
    candidates->push_back(std::move(candidate));
  }
  return true;
}

}  // namespace laya::setup
