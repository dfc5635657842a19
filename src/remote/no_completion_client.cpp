// A build without libcurl: settings are checked, nothing is ever sent.
#include "remote/completion_client.h"

namespace laya::remote {

struct CompletionClient::Impl {};

CompletionClient::CompletionClient(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
CompletionClient::CompletionClient(CompletionClient&&) noexcept = default;
CompletionClient& CompletionClient::operator=(CompletionClient&&) noexcept = default;
CompletionClient::~CompletionClient() = default;

Result<CompletionClient> CompletionClient::create(const RemoteSettings& settings) {
  if (auto fits = check(settings); !fits) {
    return fits.error();
  }
  return Error{ErrorCode::Unsupported,
               "remote: this build has no libcurl; scripts/setup server, then build again"};
}

Result<std::vector<std::string>> CompletionClient::complete(std::string_view,
                                                            const base::CancelFlag*) {
  return Error{ErrorCode::Unsupported, "remote: this build has no libcurl"};
}

}  // namespace laya::remote
