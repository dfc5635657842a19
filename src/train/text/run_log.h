// log.jsonl: one JSON object a line about a training run (loss, speed, dev curve), for plots and
// for the model card. Never text.
#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace laya::train {

/// Appends; a resumed run goes on in the same file. Each line is flushed, so that a watcher and a
/// crash see whole lines. One thread.
class RunLog {
 public:
  /// Io: cannot be opened for appending; BadArgument: another run has it open, here or in another
  /// process.
  static Result<RunLog> open(const std::filesystem::path& path);

  /// `json` is one object without newlines. Error Io: disk full.
  Status write(std::string_view json);

 private:
  struct Closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::filesystem::path path_;
  std::unique_ptr<std::FILE, Closer> file_;
};

}  // namespace laya::train
