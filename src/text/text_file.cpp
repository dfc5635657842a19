#include "text/text_file.h"

#include <zstd.h>

#include <algorithm>
#include <memory>

#include "base/atomic_file.h"

namespace laya::text {
namespace {

// Prose shrinks to a third or a tenth, never to a two-hundredth: a small file that unpacks to
// gigabytes was made to fill memory.
constexpr std::uint64_t kMostExpansion = 200;
constexpr std::uint64_t kAlwaysAllowedBytes = 64u << 20;

Error too_large(const std::string& name, std::uint64_t limit_bytes) {
  return {ErrorCode::TooLarge, name + ": holds more than " + std::to_string(limit_bytes) +
                                   " bytes of text; give a part of it"};
}

}  // namespace

Result<std::string> decompressed(std::string_view raw, const std::string& name,
                                 std::uint64_t limit_bytes) {
  limit_bytes = std::min(limit_bytes, std::max(kAlwaysAllowedBytes, kMostExpansion * raw.size()));
  const unsigned long long declared = ZSTD_getFrameContentSize(raw.data(), raw.size());
  const bool known = declared != ZSTD_CONTENTSIZE_UNKNOWN && declared != ZSTD_CONTENTSIZE_ERROR;
  if (known && declared > limit_bytes) return too_large(name, limit_bytes);
  const std::unique_ptr<ZSTD_DStream, std::size_t (*)(ZSTD_DStream*)> stream(ZSTD_createDStream(),
                                                                             ZSTD_freeDStream);
  if (!stream) return Error{ErrorCode::Internal, name + ": zstd has no memory"};
  std::string text;
  ZSTD_inBuffer in{raw.data(), raw.size(), 0};
  std::size_t left = 1;
  std::string block(ZSTD_DStreamOutSize(), '\0');
  while (in.pos < in.size) {
    ZSTD_outBuffer out{block.data(), block.size(), 0};
    left = ZSTD_decompressStream(stream.get(), &out, &in);
    if (ZSTD_isError(left))
      return Error{ErrorCode::Corrupt, name + ": not zstd: " + ZSTD_getErrorName(left)};
    if (out.pos > limit_bytes - text.size()) return too_large(name, limit_bytes);
    text.append(block.data(), out.pos);
  }
  // A frame may still have output buffered once all input is read.
  while (left != 0) {
    ZSTD_outBuffer out{block.data(), block.size(), 0};
    left = ZSTD_decompressStream(stream.get(), &out, &in);
    if (ZSTD_isError(left) || out.pos == 0)
      return Error{ErrorCode::Corrupt, name + ": the zstd data end too early"};
    if (out.pos > limit_bytes - text.size()) return too_large(name, limit_bytes);
    text.append(block.data(), out.pos);
  }
  return text;
}

Result<std::string> read_text_file(const std::string& path, std::uint64_t limit_bytes) {
  Result<std::string> raw = base::read_file(path, limit_bytes);
  if (!raw || !path.ends_with(".zst")) return raw;
  return decompressed(*raw, path, limit_bytes);
}

}  // namespace laya::text
