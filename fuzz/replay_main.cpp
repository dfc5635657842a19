// Runs a fuzz target over files and folders, and over damaged copies of each: `fuzz_x PATH…
// [--mutations N]`.
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "fuzz_target.h"
#include "mutator.h"

namespace {

constexpr std::uint64_t kMaxInputBytes = 64u << 20;

std::vector<std::string> files_under(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) {
    return {path};
  }
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(path, error)) {
    files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());  // the same order everywhere
  return files;
}

// An exact-size heap copy, so that AddressSanitizer sees one byte too many.
void run(const std::vector<std::uint8_t>& bytes) {
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> files;
  unsigned mutations = 0;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--mutations" && i + 1 < argc) {
      const std::string value = argv[++i];
      std::from_chars(value.data(), value.data() + value.size(), mutations);
    } else {
      const auto more = files_under(argument);
      files.insert(files.end(), more.begin(), more.end());
    }
  }
  if (files.empty()) {
    std::fputs("no input files\n", stderr);
    return 2;
  }
  std::size_t runs = 0;
  for (std::size_t index = 0; index < files.size(); ++index) {
    const auto text = laya::base::read_file(files[index], kMaxInputBytes);
    if (!text) {
      std::fprintf(stderr, "%s\n", text.error().message.c_str());
      return 1;
    }
    const std::vector<std::uint8_t> bytes(text->begin(), text->end());
    // Said before the run: a crash leaves the name (and the number of the mutation) as the last
    // line.
    std::printf("%s\n", files[index].c_str());
    std::fflush(stdout);
    run(bytes);
    ++runs;
    for (unsigned n = 0; n < mutations; ++n, ++runs) {
      run(laya::fuzz::mutate(bytes, (std::uint64_t{index} << 32) + n));
    }
  }
  std::printf("%zu inputs from %zu files, no crash\n", runs, files.size());
  return 0;
}
