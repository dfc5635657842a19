#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <span>

#include "remote/completion_client.h"

namespace laya::remote {
namespace {

bool is_near_ipv4(std::span<const std::uint8_t, 4> ip) {
  return ip[0] == 127 || ip[0] == 10 || (ip[0] == 172 && ip[1] >= 16 && ip[1] < 32) ||
         (ip[0] == 192 && ip[1] == 168) || (ip[0] == 169 && ip[1] == 254);
}

bool is_near_ipv6(const std::array<std::uint8_t, 16>& ip) {
  constexpr std::array<std::uint8_t, 12> kMapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
  constexpr std::array<std::uint8_t, 16> kLoopback{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  if (std::equal(kMapped.begin(), kMapped.end(), ip.begin())) {
    return is_near_ipv4(std::span(ip).last<4>());
  }
  return ip == kLoopback || (ip[0] & 0xFE) == 0xFC || (ip[0] == 0xFE && (ip[1] & 0xC0) == 0x80);
}

/// Whether resolvers would read it as a number in some notation of theirs: "2130706433", "0x7f.1",
/// "0177.0.0.1". The URL standard's rule: its last label is a number.
bool ends_in_number(std::string_view host) {
  while (host.ends_with('.')) host.remove_suffix(1);
  const std::string_view last = host.substr(host.rfind('.') + 1);
  return last.find_first_not_of("0123456789") == std::string_view::npos || last.starts_with("0x");
}

/// What stands between "//" and the path, taken apart.
struct Place {
  std::string host;  ///< lower case; an IPv6 address without its brackets
  bool is_near = false;
};

Error wrong(const std::string& what) { return {ErrorCode::BadArgument, "remote: " + what}; }

Result<Place> parse_place(std::string_view place) {
  constexpr std::string_view kNameCharacters = "abcdefghijklmnopqrstuvwxyz0123456789-._";
  if (place.find('@') != std::string_view::npos) {
    return wrong("url must not name a user; set key instead");
  }
  Place parsed;
  const bool bracket = place.starts_with('[');
  const std::size_t end = place.find(bracket ? ']' : ':');
  if (bracket && end == std::string_view::npos) {
    return wrong("url has a [ without ]");
  }
  const std::string_view host = place.substr(bracket ? 1 : 0, bracket ? end - 1 : end);
  std::transform(host.begin(), host.end(), std::back_inserter(parsed.host),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  std::string_view port =
      end == std::string_view::npos ? "" : place.substr(end + (bracket ? 1 : 0));
  if (!port.empty()) {
    unsigned number = 0;
    const auto [stop, error] = std::from_chars(port.data() + 1, port.data() + port.size(), number);
    if (port.front() != ':' || error != std::errc() || stop != port.data() + port.size() ||
        number < 1 || number > 65535) {
      return wrong("url has something else than :PORT (1 to 65535) behind its host");
    }
  }
  if (parsed.host.empty()) {
    return wrong("url names no host");
  }
  if (bracket) {
    std::array<std::uint8_t, 16> ip{};
    if (::inet_pton(AF_INET6, parsed.host.c_str(), ip.data()) != 1) {
      return wrong("url has no IPv6 address between [ and ]");
    }
    parsed.is_near = is_near_ipv6(ip);
  } else if (parsed.host.find_first_not_of(kNameCharacters) != std::string::npos) {
    return wrong("url's host may hold letters, digits, '-', '.' and '_' only, and no %");
  } else if (std::array<std::uint8_t, 4> ip{};
             ::inet_pton(AF_INET, parsed.host.c_str(), ip.data()) == 1) {
    parsed.is_near = is_near_ipv4(ip);
  } else if (ends_in_number(parsed.host)) {
    return wrong("url's host is a number; an address is written as four decimal ones, 192.168.1.7");
  } else {
    parsed.is_near = parsed.host == "localhost" || parsed.host.ends_with(".local") ||
                     parsed.host.ends_with(".localhost") ||
                     parsed.host.find('.') == std::string::npos;
  }
  return parsed;
}

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
  const std::string_view place = url.substr(plain ? 7 : 8);
  const Result<Place> parsed =
      parse_place(place.substr(0, std::min(place.find_first_of("/?#"), place.size())));
  if (!parsed) return parsed.error();
  if (plain && !parsed->is_near) {
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
