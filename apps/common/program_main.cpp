#include "common/program_main.h"

#include <exception>
#include <filesystem>
#include <iostream>
#include <new>
#include <system_error>

#include "base/process_guard.h"
#include "common/command.h"
#include "common/program_output.h"

namespace laya::apps {
namespace {

/// One line to standard error.
int failed(std::string_view program, std::string_view what) {
  std::cerr << program << ": " << what << std::endl;
  return kFailed;
}

int run(std::string_view program, const std::function<int()>& body) {
  if (Status status = base::keep_memory_private(); !status) {
    return failed(program, status.error().message);
  }
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return failed(program,
                  "not enough memory; close other programs, raise the limit (ulimit -v), or use "
                  "less: a smaller model, --deep none, a smaller file");
  } catch (const std::filesystem::filesystem_error& error) {
    return failed(program, error.path1().string() + ": " + error.code().message());
  } catch (const std::system_error& error) {
    return failed(program, "the system refuses: " + error.code().message() +
                               "; a limit of it may be reached (ulimit -a)");
  } catch (const std::exception& error) {
    return failed(program, std::string("internal error, please report: ") + error.what());
  }
}

}  // namespace

int run_main(std::string_view program, const std::function<int()>& body) {
  base::report_file_size_limit();
  ProgramOutput output;
  const int code = run(program, body);
  const Status written = output.finish();
  if (!written && code == kOk) {
    return failed(program, written.error().message);
  }
  return code;
}

}  // namespace laya::apps
