#include "remote/curl_library.h"

#include <dlfcn.h>

#include <string>

namespace laya::remote {
namespace {

constexpr const char* kFile = "libcurl.so.4";

template <typename Function>
bool find(void* library, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(::dlsym(library, name));
  return *function != nullptr;
}

Result<CurlLibrary> open_curl() {
  void* library = ::dlopen(kFile, RTLD_NOW | RTLD_LOCAL);  // never closed: it keeps threads' data
  if (library == nullptr) {
    return Error{ErrorCode::Unsupported,
                 std::string("remote: ") + kFile + " is not here; install libcurl4"};
  }
  CurlLibrary curl;
  const bool complete = find(library, "curl_global_init", &curl.global_init) &&
                        find(library, "curl_easy_init", &curl.easy_init) &&
                        find(library, "curl_easy_setopt", &curl.easy_setopt) &&
                        find(library, "curl_easy_perform", &curl.easy_perform) &&
                        find(library, "curl_easy_getinfo", &curl.easy_getinfo) &&
                        find(library, "curl_easy_strerror", &curl.easy_strerror) &&
                        find(library, "curl_easy_cleanup", &curl.easy_cleanup) &&
                        find(library, "curl_slist_append", &curl.slist_append) &&
                        find(library, "curl_slist_free_all", &curl.slist_free_all);
  if (!complete || curl.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
    return Error{ErrorCode::Unsupported, std::string("remote: ") + kFile + " cannot be started"};
  }
  return curl;
}

}  // namespace

Result<const CurlLibrary*> load_curl() {
  // libcurl wants to be started once before any thread uses it; a static local is.
  static const Result<CurlLibrary> curl = open_curl();
  if (!curl) return curl.error();
  return &*curl;
}

}  // namespace laya::remote
