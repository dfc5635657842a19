#include <algorithm>
#include <array>
#include <charconv>

#include "remote/completion_client.h"

namespace laya::remote {
namespace {

bool parse_ipv4(std::string_view host, std::array<unsigned, 4>& parts) {
  const char* at = host.data();
  const char* const end = host.data() + host.size();
  for (std::size_t i = 0; i < 4; ++i) {
    if (i > 0 && (at == end || *at++ != '.')) {
      return false;
    }
    const auto [next, error] = std::from_chars(at, end, parts[i]);
    if (error != std::errc() || parts[i] > 255 || next == at) {
      return false;
    }
    at = next;
  }
  return at == end;
}

// In this machine, or in the network it stands in.
bool is_near(std::string_view host) {
  std::array<unsigned, 4> ip{};
  if (parse_ipv4(host, ip)) {
    return ip[0] == 127 || ip[0] == 10 || (ip[0] == 172 && ip[1] >= 16 && ip[1] < 32) ||
           (ip[0] == 192 && ip[1] == 168) || (ip[0] == 169 && ip[1] == 254);
  }
  if (host.find(':') != std::string_view::npos) {  // IPv6, brackets taken off
    return host == "::1" || host.starts_with("fc") || host.starts_with("fd") ||
           host.starts_with("fe8") || host.starts_with("fe9") || host.starts_with("fea") ||
           host.starts_with("feb");
  }
  return host == "localhost" || host.ends_with(".local") || host.ends_with(".localhost") ||
         (!host.empty() && host.find('.') == std::string_view::npos);
}

Error wrong(const std::string& what) { return {ErrorCode::BadArgument, "remote: " + what}; }

}  // namespace

Status check(const RemoteSettings& settings) {
  const std::string_view url = settings.url;
  const bool plain = url.starts_with("http://");
  if (!plain && !url.starts_with("https://")) {
    return wrong("url must begin with http:// or https://");
  }
  for (const char c : url) {
    if (static_cast<unsigned char>(c) <= 0x20 || static_cast<unsigned char>(c) >= 0x7F) {
      return wrong("url holds a character that no address may hold");
    }
  }
  std::string_view host = url.substr(plain ? 7 : 8);
  host = host.substr(0, std::min(host.find_first_of("/?#"), host.size()));
  if (host.find('@') != std::string_view::npos) {
    return wrong("url must not name a user; set key instead");
  }
  if (host.starts_with('[')) {
    const std::size_t end = host.find(']');
    if (end == std::string_view::npos) {
      return wrong("url has a [ without ]");
    }
    host = host.substr(1, end - 1);
  } else {
    host = host.substr(0, std::min(host.find(':'), host.size()));
  }
  std::string lower(host);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  if (lower.empty()) {
    return wrong("url names no host");
  }
  if (plain && !is_near(lower)) {
    return wrong(
        "plain http to a host outside this network would show what you type to others; use https");
  }
  for (const char c : settings.key) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      return wrong("key holds a control character");
    }
  }
  const auto ms = settings.time_limit.count();
  if (ms < 1 || ms > 60'000) {
    return wrong("time_limit_ms is " + std::to_string(ms) + "; must be 1 to 60000");
  }
  const auto pause = settings.pause.count();
  if (pause < 0 || pause > 10'000) {
    return wrong("pause_ms is " + std::to_string(pause) + "; must be 0 to 10000");
  }
  if (settings.tokens < 1 || settings.tokens > 64) {
    return wrong("tokens is " + std::to_string(settings.tokens) + "; must be 1 to 64");
  }
  if (settings.candidates < 1 || settings.candidates > 10) {
    return wrong("candidates is " + std::to_string(settings.candidates) + "; must be 1 to 10");
  }
  return {};
}

}  // namespace laya::remote
