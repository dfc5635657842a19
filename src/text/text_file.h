// A text as it lies in a file: plain, or compressed by zstd.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace laya::text {

/// All of `path`, decompressed where its name ends in .zst; at most `limit_bytes` of text are ever
/// held. Errors: Io, Corrupt (not zstd, or cut off), TooLarge.
Result<std::string> read_text_file(const std::string& path, std::uint64_t limit_bytes);

/// The text that the zstd data `raw` hold; `name` is for errors, which are those above.
Result<std::string> decompressed(std::string_view raw, const std::string& name,
                                 std::uint64_t limit_bytes);

}  // namespace laya::text
