#include "remote/completion_client.h"

#include <curl/curl.h>

#include "remote/completion_answer.h"

namespace laya::remote {
namespace {

// libcurl wants to be told once before any thread uses it; a static local is initialised once.
bool library_is_ready() {
  static const bool ready = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
  return ready;
}

struct Received {
  std::string body;
  bool too_large = false;
};

extern "C" std::size_t laya_remote_write(char* data, std::size_t size, std::size_t count,
                                         void* user) {
  auto* received = static_cast<Received*>(user);
  const std::size_t bytes = size * count;  // size is 1, says libcurl
  if (bytes > kMaxAnswerBytes - received->body.size()) {
    received->too_large = true;
    return 0;  // ends the transfer
  }
  received->body.append(data, bytes);
  return bytes;
}

extern "C" int laya_remote_progress(void* user, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  const auto* cancel = static_cast<const base::CancelFlag*>(user);
  return cancel != nullptr && cancel->cancelled() ? 1 : 0;
}

struct FreeList {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
struct FreeHandle {
  void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
};

}  // namespace

struct CompletionClient::Impl {
  RemoteSettings settings;
  std::unique_ptr<curl_slist, FreeList> headers;
  std::unique_ptr<CURL, FreeHandle> handle;
};

CompletionClient::CompletionClient(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
CompletionClient::CompletionClient(CompletionClient&&) noexcept = default;
CompletionClient& CompletionClient::operator=(CompletionClient&&) noexcept = default;
CompletionClient::~CompletionClient() = default;

Result<CompletionClient> CompletionClient::create(const RemoteSettings& settings) {
  if (auto fits = check(settings); !fits) {
    return fits.error();
  }
  auto impl = std::make_unique<Impl>();
  impl->settings = settings;
  if (!library_is_ready() || (impl->handle.reset(curl_easy_init()), impl->handle == nullptr)) {
    return Error{ErrorCode::Internal, "remote: libcurl cannot be started"};
  }
  impl->headers.reset(curl_slist_append(nullptr, "Content-Type: application/json"));
  // No "Expect: 100-continue": it would cost a round trip.
  curl_slist_append(impl->headers.get(), "Expect:");
  if (!settings.key.empty()) {
    curl_slist_append(impl->headers.get(), ("Authorization: Bearer " + settings.key).c_str());
  }
  CURL* const handle = impl->handle.get();
  curl_easy_setopt(handle, CURLOPT_URL, settings.url.c_str());
  curl_easy_setopt(handle, CURLOPT_HTTPHEADER, impl->headers.get());
  curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(handle, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(handle, CURLOPT_PROXY, "");
  curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(handle, CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
  curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS, static_cast<long>(settings.time_limit.count()));
  curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, laya_remote_write);
  curl_easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, laya_remote_progress);
  curl_easy_setopt(handle, CURLOPT_NOPROGRESS, 0L);
  return CompletionClient(std::move(impl));
}

Result<std::vector<std::string>> CompletionClient::complete(std::string_view prompt,
                                                            const base::CancelFlag* cancel) {
  CURL* const handle = impl_->handle.get();
  const RemoteSettings& settings = impl_->settings;
  const std::string body =
      completion_request(settings.model, prompt, settings.tokens, settings.candidates);
  Received received;
  curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
  curl_easy_setopt(handle, CURLOPT_POSTFIELDS, body.data());
  curl_easy_setopt(handle, CURLOPT_WRITEDATA, &received);
  curl_easy_setopt(handle, CURLOPT_XFERINFODATA, cancel);
  const CURLcode code = curl_easy_perform(handle);
  curl_easy_setopt(handle, CURLOPT_POSTFIELDS, nullptr);
  if (received.too_large) {
    return Error{ErrorCode::TooLarge, "completion server: the answer has more than " +
                                          std::to_string(kMaxAnswerBytes) + " bytes"};
  }
  if (code == CURLE_ABORTED_BY_CALLBACK) {
    return Error{ErrorCode::Cancelled, "completion server: cancelled"};
  }
  if (code == CURLE_OPERATION_TIMEDOUT) {
    return Error{ErrorCode::Timeout, "completion server: no answer within " +
                                         std::to_string(settings.time_limit.count()) + " ms"};
  }
  if (code != CURLE_OK) {
    return Error{ErrorCode::Io, std::string("completion server: ") + curl_easy_strerror(code)};
  }
  long status = 0;
  curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
  if (status != 200) {
    return Error{ErrorCode::Io, "completion server: status " + std::to_string(status)};
  }
  return parse_completions(received.body, settings.candidates);
}

}  // namespace laya::remote
