#include "remote/completion_client.h"

#include "remote/completion_answer.h"
#include "remote/curl_library.h"

namespace laya::remote {
namespace {

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

}  // namespace

struct CompletionClient::Impl {
  explicit Impl(const CurlLibrary& library) : curl(library) {}
  ~Impl() {
    if (handle != nullptr) curl.easy_cleanup(handle);
    curl.slist_free_all(headers);  // takes nullptr
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  const CurlLibrary& curl;
  RemoteSettings settings;
  curl_slist* headers = nullptr;
  CURL* handle = nullptr;
};

CompletionClient::CompletionClient(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
CompletionClient::CompletionClient(CompletionClient&&) noexcept = default;
CompletionClient& CompletionClient::operator=(CompletionClient&&) noexcept = default;
CompletionClient::~CompletionClient() = default;

Result<CompletionClient> CompletionClient::create(const RemoteSettings& settings) {
  if (auto fits = check(settings); !fits) {
    return fits.error();
  }
  const Result<const CurlLibrary*> loaded = load_curl();
  if (!loaded) return loaded.error();
  const CurlLibrary& curl = **loaded;
  auto impl = std::make_unique<Impl>(curl);
  impl->settings = settings;
  impl->handle = curl.easy_init();
  if (impl->handle == nullptr) {
    return Error{ErrorCode::Internal, "remote: libcurl cannot be started"};
  }
  impl->headers = curl.slist_append(nullptr, "Content-Type: application/json");
  // No "Expect: 100-continue": it would cost a round trip.
  curl.slist_append(impl->headers, "Expect:");
  if (!settings.key.empty()) {
    curl.slist_append(impl->headers, ("Authorization: Bearer " + settings.key).c_str());
  }
  CURL* const handle = impl->handle;
  curl.easy_setopt(handle, CURLOPT_URL, settings.url.c_str());
  curl.easy_setopt(handle, CURLOPT_HTTPHEADER, impl->headers);
  curl.easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
  curl.easy_setopt(handle, CURLOPT_FOLLOWLOCATION, 0L);
  curl.easy_setopt(handle, CURLOPT_PROXY, "");
  curl.easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
  curl.easy_setopt(handle, CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
  curl.easy_setopt(handle, CURLOPT_TIMEOUT_MS, static_cast<long>(settings.time_limit.count()));
  curl.easy_setopt(handle, CURLOPT_WRITEFUNCTION, laya_remote_write);
  curl.easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, laya_remote_progress);
  curl.easy_setopt(handle, CURLOPT_NOPROGRESS, 0L);
  return CompletionClient(std::move(impl));
}

Result<std::vector<std::string>> CompletionClient::complete(std::string_view prompt,
                                                            const base::CancelFlag* cancel) {
  const CurlLibrary& curl = impl_->curl;
  CURL* const handle = impl_->handle;
  const RemoteSettings& settings = impl_->settings;
  const std::string body =
      completion_request(settings.model, prompt, settings.tokens, settings.candidates);
  Received received;
  curl.easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
  curl.easy_setopt(handle, CURLOPT_POSTFIELDS, body.data());
  curl.easy_setopt(handle, CURLOPT_WRITEDATA, &received);
  curl.easy_setopt(handle, CURLOPT_XFERINFODATA, cancel);
  const CURLcode code = curl.easy_perform(handle);
  curl.easy_setopt(handle, CURLOPT_POSTFIELDS, nullptr);
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
    return Error{ErrorCode::Io, std::string("completion server: ") + curl.easy_strerror(code)};
  }
  long status = 0;
  curl.easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
  if (status != 200) {
    return Error{ErrorCode::Io, "completion server: status " + std::to_string(status)};
  }
  return parse_completions(received.body, settings.candidates);
}

}  // namespace laya::remote
