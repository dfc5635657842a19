#include "common/program_output.h"

#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <iostream>
#include <string>
#include <string_view>
#include <system_error>

#include "base/printable.h"

namespace laya::apps {
namespace {

/// 0, or errno.
int write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(fd, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return errno;
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  return 0;
}

}  // namespace

struct ProgramOutput::Sink {
  explicit Sink(int descriptor) : fd(descriptor) {}

  void write(std::string_view bytes) {
    safe.clear();
    filter.feed(bytes, safe);
    pass_on();
  }
  void finish() {
    safe.clear();
    filter.finish(safe);
    pass_on();
  }
  void pass_on() {
    const int code = write_all(fd, safe);
    if (error == 0) error = code;
  }

  int fd;
  int error = 0;  ///< errno of the first write that failed
  base::PrintableFilter filter{base::PrintableFilter::Lines::Kept};
  std::string safe;
};

/// A stream's buffer that holds nothing back: std::cout's goes to stdout, which buffers, so that
/// std::cout and std::printf keep their order; std::cerr's to its sink.
class ProgramOutput::Buffer final : public std::streambuf {
 public:
  explicit Buffer(Sink* sink) : sink_(sink) {}

 protected:
  std::streamsize xsputn(const char* text, std::streamsize count) override {
    const std::string_view bytes(text, static_cast<std::size_t>(count));
    if (sink_ == nullptr) {
      return static_cast<std::streamsize>(std::fwrite(bytes.data(), 1, bytes.size(), stdout));
    }
    sink_->write(bytes);
    return count;
  }
  int_type overflow(int_type c) override {
    const char one = traits_type::to_char_type(c);
    return traits_type::eq_int_type(c, traits_type::eof()) || xsputn(&one, 1) == 1
               ? traits_type::not_eof(c)
               : traits_type::eof();
  }
  int sync() override { return sink_ == nullptr ? std::fflush(stdout) : 0; }

 private:
  Sink* sink_;
};

ProgramOutput::ProgramOutput()
    : out_(std::make_unique<Sink>(STDOUT_FILENO)),
      error_(std::make_unique<Sink>(STDERR_FILENO)),
      out_buffer_(std::make_unique<Buffer>(nullptr)),
      error_buffer_(std::make_unique<Buffer>(error_.get())) {
  std::fflush(stdout);
  const cookie_io_functions_t functions{
      nullptr,
      [](void* sink, const char* bytes, std::size_t count) {
        static_cast<Sink*>(sink)->write({bytes, count});
        return static_cast<ssize_t>(count);  // the sink remembers what failed
      },
      nullptr, nullptr};
  if (std::FILE* filtered = ::fopencookie(out_.get(), "w", functions); filtered != nullptr) {
    std::setvbuf(filtered, nullptr, ::isatty(STDOUT_FILENO) != 0 ? _IOLBF : _IOFBF, BUFSIZ);
    stdout_before_ = std::exchange(stdout, filtered);  // glibc: a variable as any other
  }
  cout_before_ = std::cout.rdbuf(out_buffer_.get());
  cerr_before_ = std::cerr.rdbuf(error_buffer_.get());
}

ProgramOutput::~ProgramOutput() { [[maybe_unused]] const Status unseen = finish(); }

Status ProgramOutput::finish() {
  if (std::exchange(finished_, true)) {
    return {};
  }
  std::cout.flush();
  std::cout.rdbuf(cout_before_);
  std::cerr.rdbuf(cerr_before_);
  if (stdout_before_ != nullptr) {
    std::fclose(std::exchange(stdout, stdout_before_));
  }
  out_->finish();
  error_->finish();
  if (out_->error != 0) {
    return Error{ErrorCode::Io,
                 "standard output: cannot write: " + std::generic_category().message(out_->error)};
  }
  return {};
}

void write_terminal(std::string_view text) {
  std::cout.flush();
  std::fflush(stdout);
  [[maybe_unused]] const int code = write_all(STDOUT_FILENO, text);
}

}  // namespace laya::apps
