#include "train/text/overlap.h"

#include <xxhash.h>

#include <optional>

#include "base/utf8.h"
#include "train/text/corpus.h"

namespace laya::train {
namespace {

// The hash of a line that counts, without surrounding space; nothing for a short one. At 64 bits
// and a million lines a chance collision has a probability of about 1e-7.
std::optional<std::uint64_t> line_hash(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return std::nullopt;
  const std::string_view trimmed = line.substr(begin, line.find_last_not_of(" \t\r") - begin + 1);
  if (base::count_code_points(trimmed) <= HeldOut::kMinCharacters) return std::nullopt;
  return XXH3_64bits(trimmed.data(), trimmed.size());
}

}  // namespace

Result<HeldOut> HeldOut::load(const std::vector<std::filesystem::path>& files) {
  HeldOut held_out;
  for (const std::filesystem::path& file : files) {
    Result<std::string> text = read_text(file);
    if (!text) return text.error();
    held_out.add(*text, file);
  }
  return held_out;
}

void HeldOut::add(std::string_view text, const std::filesystem::path& file) {
  const auto index = static_cast<std::uint32_t>(files_.size());
  files_.push_back(file);
  for_each_line(text, [&](std::string_view line, std::size_t number) {
    const auto hash = line_hash(line);
    if (hash && lines_.try_emplace(*hash, Place{index, static_cast<std::uint32_t>(number)}).second)
      fingerprint_ += *hash;
  });
}

bool HeldOut::contains(std::string_view line) const {
  const auto hash = line_hash(line);
  return hash && lines_.contains(*hash);
}

Status HeldOut::check(std::string_view text, const std::filesystem::path& source) const {
  std::size_t count = 0;
  std::size_t first_line = 0;
  Place first{};
  for_each_line(text, [&](std::string_view line, std::size_t number) {
    const auto hash = line_hash(line);
    if (!hash) return;
    const auto found = lines_.find(*hash);
    if (found == lines_.end()) return;
    if (count++ == 0) {
      first_line = number;
      first = found->second;
    }
  });
  if (count == 0) return {};
  return Error{
      ErrorCode::BadArgument,
      source.string() + ": line " + std::to_string(first_line) + " also stands in " +
          files_[first.file].string() + ", line " + std::to_string(first.line) + " (" +
          std::to_string(count) +
          " such lines in all); training on dev or test text makes every figure worthless. Remove "
          "them from the "
          "text, or give the source  drop_held_out = true  in the mixture: then they are left out"};
}

}  // namespace laya::train
