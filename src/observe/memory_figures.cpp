#include "observe/memory_figures.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>

namespace laya::observe {
namespace {

/// Bytes of the line "<key>:   <n> kB", none if it is missing or is not a number.
std::optional<std::uint64_t> kilobytes(std::string_view text, std::string_view key) {
  std::size_t start = 0;
  while (start < text.size()) {
    std::string_view line = text.substr(start, text.find('\n', start) - start);
    start += line.size() + 1;
    if (!line.starts_with(key) || line.size() <= key.size() || line[key.size()] != ':') {
      continue;
    }
    line.remove_prefix(key.size() + 1);
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    std::uint64_t value = 0;
    const auto parsed = std::from_chars(line.data(), line.data() + line.size(), value);
    if (parsed.ec != std::errc{} || value > UINT64_MAX / 1024) {
      return std::nullopt;
    }
    return value * 1024;
  }
  return std::nullopt;
}

}  // namespace

Result<MemoryFigures> parse_proc_status(std::string_view text) {
  const auto resident = kilobytes(text, "VmRSS");
  const auto peak = kilobytes(text, "VmHWM");
  if (!resident || !peak) {
    return Error{ErrorCode::Corrupt, "/proc/self/status: no VmRSS or VmHWM"};
  }
  MemoryFigures figures;
  figures.resident = *resident;
  figures.peak_resident = *peak;
  figures.private_bytes = kilobytes(text, "RssAnon").value_or(0);
  figures.locked = kilobytes(text, "VmLck").value_or(0);
  return figures;
}

}  // namespace laya::observe
