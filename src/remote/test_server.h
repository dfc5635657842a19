// For tests: an HTTP server on this machine that answers as it is told, badly if it is told so.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "base/unique_fd.h"

namespace laya::remote {

class TestServer {
 public:
  /// What the server writes back, byte for byte, for a whole request; slowly if it sleeps.
  using Answer = std::function<std::string(const std::string& request)>;

  explicit TestServer(Answer answer) : answer_(std::move(answer)) {
    listener_.reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* general = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(listener_.get(), general, size), 0);
    EXPECT_EQ(::listen(listener_.get(), 8), 0);
    EXPECT_EQ(::getsockname(listener_.get(), general, &size), 0);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ~TestServer() {
    stop_ = true;
    thread_.join();
  }
  std::string url() const {
    return "http://127.0.0.1:" + std::to_string(port_) + "/v1/completions";
  }
  int requests() const { return requests_; }
  /// All that anybody sent, whole requests or not.
  std::size_t bytes() const { return bytes_; }
  std::string last_request() {
    const std::lock_guard lock(mutex_);
    return last_;
  }
  /// "HTTP/1.1 200 OK" with `body`.
  static std::string ok(const std::string& body) {
    return "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n"
           "Content-Length: " +
           std::to_string(body.size()) + "\r\n\r\n" + body;
  }
  bool stopping() const { return stop_; }

 private:
  void serve() {
    while (!stop_) {
      pollfd what{listener_.get(), POLLIN, 0};
      if (::poll(&what, 1, 20) != 1) {
        continue;
      }
      const base::UniqueFd peer(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      std::string request;
      char buffer[4096];
      while (!whole(request)) {
        const ssize_t bytes = ::recv(peer.get(), buffer, sizeof buffer, 0);
        if (bytes <= 0) {
          break;
        }
        request.append(buffer, static_cast<std::size_t>(bytes));
        bytes_ += static_cast<std::size_t>(bytes);
      }
      if (request.empty()) {
        continue;
      }
      {
        const std::lock_guard lock(mutex_);
        last_ = request;
      }
      ++requests_;
      const std::string reply = answer_(request);
      std::size_t sent = 0;
      while (sent < reply.size()) {
        const ssize_t bytes =
            ::send(peer.get(), reply.data() + sent, reply.size() - sent, MSG_NOSIGNAL);
        if (bytes <= 0) {
          break;
        }
        sent += static_cast<std::size_t>(bytes);
      }
    }
  }
  static bool whole(const std::string& request) {
    const std::size_t head = request.find("\r\n\r\n");
    const std::size_t field = request.find("Content-Length: ");
    if (head == std::string::npos || field == std::string::npos) {
      return false;
    }
    return request.size() >= head + 4 + std::stoul(request.substr(field + 16));
  }

  Answer answer_;
  base::UniqueFd listener_;
  int port_ = 0;
  std::atomic<bool> stop_{false};
  std::atomic<int> requests_{0};
  std::atomic<std::size_t> bytes_{0};
  std::mutex mutex_;
  std::string last_;
  std::thread thread_;
};

}  // namespace laya::remote
