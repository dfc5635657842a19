// libcurl, loaded when a completion server is first asked: most people have none, and linking it
// would cost every start 5 ms and 6.5 MB.
#pragma once

#include <curl/curl.h>

#include "base/result.h"

namespace laya::remote {

/// What of libcurl is used, by its own names.
struct CurlLibrary {
  decltype(&curl_global_init) global_init = nullptr;
  decltype(&curl_easy_init) easy_init = nullptr;
  decltype(&curl_easy_setopt) easy_setopt = nullptr;
  decltype(&curl_easy_perform) easy_perform = nullptr;
  decltype(&curl_easy_getinfo) easy_getinfo = nullptr;
  decltype(&curl_easy_strerror) easy_strerror = nullptr;
  decltype(&curl_easy_cleanup) easy_cleanup = nullptr;
  decltype(&curl_slist_append) slist_append = nullptr;
  decltype(&curl_slist_free_all) slist_free_all = nullptr;
};

/// Loads and starts it at the first call, for the rest of the process; from any thread.
/// Unsupported: it is not installed.
Result<const CurlLibrary*> load_curl();

}  // namespace laya::remote
