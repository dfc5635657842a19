#include "train/text/corpus.h"

#include <xxhash.h>

#include <array>
#include <bit>
#include <cstring>
#include <memory>

#include "base/atomic_file.h"
#include "base/utf8.h"
#include "text/text_file.h"

namespace laya::train {
namespace {

constexpr std::uint64_t kMaxTextBytes = 1ull << 32;
// Cache file: this header, then `unit_count + 1` u32 offsets, then the tokens (u16); little-endian,
// checked by XXH3-64.
constexpr std::array<char, 8> kMagic = {'L', 'A', 'Y', 'A', 'T', 'O', 'K', '1'};
constexpr std::uint64_t kCacheVersion = 1;

struct CacheHeader {
  std::array<char, 8> magic;
  std::uint64_t checksum;  ///< of what the tokens were made from
  std::uint64_t units;
  std::uint64_t tokens;
  std::uint64_t characters;
  std::uint64_t payload_hash;  ///< XXH3-64 of everything after the header
};
static_assert(sizeof(CacheHeader) == 48);
static_assert(std::endian::native == std::endian::little, "the cache is read as it lies");

std::string hex(std::uint64_t value) {
  constexpr const char* digits = "0123456789abcdef";
  std::string text(16, '0');
  for (std::size_t i = 0; i < 16; ++i) text[15 - i] = digits[(value >> (4 * i)) & 15U];
  return text;
}

std::uint64_t source_checksum(std::string_view raw, const LineEncoder& encoder) {
  const std::array<std::uint64_t, 4> parts = {
      XXH3_64bits(raw.data(), raw.size()), encoder.vocabulary_checksum,
      encoder.skip ? encoder.skip_checksum : 0, kCacheVersion};
  return XXH3_64bits(parts.data(), sizeof(parts));
}

Result<std::string> read_raw(const std::filesystem::path& path) {
  return base::read_file(path.string(), kMaxTextBytes);
}

Result<std::string> text_of(std::string raw, const std::filesystem::path& path) {
  if (path.extension() == ".zst") return text::decompressed(raw, path.string(), kMaxTextBytes);
  return raw;
}

struct Tokenised {
  std::vector<std::uint16_t> tokens;
  std::vector<std::uint32_t> unit_begin;
  std::uint64_t characters = 0;
};

Result<Tokenised> tokenise(std::string_view text, std::string_view name,
                           const LineEncoder& encoder) {
  Tokenised out;
  out.unit_begin.push_back(0);
  std::vector<TokenId> ids;
  bool too_large = false;
  const auto close_unit = [&] {
    const auto at = static_cast<std::uint32_t>(out.tokens.size());
    if (at != out.unit_begin.back()) out.unit_begin.push_back(at);
  };
  for_each_line(text, [&](std::string_view line, std::size_t) {
    if (line.find_first_not_of(" \t") == std::string_view::npos) return close_unit();
    if (encoder.skip && encoder.skip(line)) return;
    ids.clear();
    encoder.encode(line, ids);
    if (ids.empty()) return;
    if (out.tokens.size() + ids.size() + 1 > 0xFFFFFFFFu) {
      too_large = true;
      return;
    }
    if (out.tokens.size() + ids.size() + 1 - out.unit_begin.back() > Corpus::kMaxUnitTokens)
      close_unit();
    for (TokenId id : ids) {
      if (id > 0xFFFFu) too_large = true;
      out.tokens.push_back(static_cast<std::uint16_t>(id));
    }
    out.tokens.push_back(static_cast<std::uint16_t>(kNewlineId));
    out.characters += base::count_code_points(line) + 1;
  });
  close_unit();
  if (too_large) {
    return Error{ErrorCode::BadArgument,
                 std::string(name) + ": more than 4 G tokens, or a vocabulary above 65,536 pieces"};
  }
  if (out.tokens.empty())
    return Error{ErrorCode::BadArgument, std::string(name) + ": holds no text"};
  return out;
}

std::span<const std::byte> as_bytes_of(const auto& container) {
  return std::as_bytes(std::span(container));
}

Status write_cache(const std::filesystem::path& path, std::uint64_t checksum,
                   const Tokenised& data) {
  CacheHeader header{kMagic,          checksum, data.unit_begin.size() - 1, data.tokens.size(),
                     data.characters, 0};
  const std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> hash(XXH3_createState(),
                                                                             XXH3_freeState);
  XXH3_64bits_reset(hash.get());
  XXH3_64bits_update(hash.get(), data.unit_begin.data(),
                     data.unit_begin.size() * sizeof(std::uint32_t));
  XXH3_64bits_update(hash.get(), data.tokens.data(), data.tokens.size() * sizeof(std::uint16_t));
  header.payload_hash = XXH3_64bits_digest(hash.get());
  Result<base::AtomicFile> file = base::AtomicFile::create(path.string());
  if (!file) return file.error();
  if (Status s = file->write(std::as_bytes(std::span(&header, 1))); !s) return s;
  if (Status s = file->write(as_bytes_of(data.unit_begin)); !s) return s;
  if (Status s = file->write(as_bytes_of(data.tokens)); !s) return s;
  return file->commit();
}

}  // namespace

Result<std::string> read_text(const std::filesystem::path& path) {
  Result<std::string> raw = read_raw(path);
  if (!raw) return raw;
  return text_of(*std::move(raw), path);
}

void for_each_line(std::string_view text,
                   const std::function<void(std::string_view, std::size_t)>& line) {
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    std::string_view one = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (!one.empty() && one.back() == '\r') one.remove_suffix(1);
    line(one, number);
  }
}

Result<Corpus> Corpus::from_text(std::string_view text, std::string_view name,
                                 const LineEncoder& encoder) {
  Result<Tokenised> data = tokenise(text, name, encoder);
  if (!data) return data.error();
  Corpus corpus;
  corpus.owned_ = std::move(data->tokens);
  corpus.tokens_ = corpus.owned_;
  corpus.unit_begin_ = std::move(data->unit_begin);
  corpus.characters_ = data->characters;
  corpus.checksum_ = source_checksum(text, encoder);
  return corpus;
}

Result<Corpus> Corpus::from_cache_file(const std::filesystem::path& path, std::uint64_t checksum) {
  Result<base::MappedFile> file = base::MappedFile::open(path.string(), kMaxTextBytes * 2);
  if (!file) return file.error();
  const std::span<const std::byte> bytes = file->bytes();
  const Error corrupt{ErrorCode::Corrupt,
                      path.string() + ": not a token cache of this text; delete it"};
  CacheHeader header;
  if (bytes.size() < sizeof(header)) return corrupt;
  std::memcpy(&header, bytes.data(), sizeof(header));
  const std::span<const std::byte> payload = bytes.subspan(sizeof(header));
  if (header.magic != kMagic || header.checksum != checksum) return corrupt;
  if (header.units >= payload.size() / sizeof(std::uint32_t)) return corrupt;
  const std::size_t offsets_bytes = (header.units + 1) * sizeof(std::uint32_t);
  if (header.tokens != (payload.size() - offsets_bytes) / sizeof(std::uint16_t)) return corrupt;
  if (XXH3_64bits(payload.data(), payload.size()) != header.payload_hash) return corrupt;
  Corpus corpus;
  corpus.unit_begin_.resize(header.units + 1);
  std::memcpy(corpus.unit_begin_.data(), payload.data(), offsets_bytes);
  // The header is 48 bytes and offsets are 4 each, so the tokens are aligned.
  corpus.tokens_ = {reinterpret_cast<const std::uint16_t*>(payload.data() + offsets_bytes),
                    header.tokens};
  corpus.characters_ = header.characters;
  corpus.checksum_ = checksum;
  corpus.from_cache_ = true;
  corpus.file_ = *std::move(file);
  return corpus;
}

Result<Corpus> Corpus::open(const std::filesystem::path& source, std::string_view name,
                            const LineEncoder& encoder, const std::filesystem::path& cache_dir) {
  Result<std::string> raw = read_raw(source);
  if (!raw) return raw.error();
  const std::uint64_t checksum = source_checksum(*raw, encoder);
  const std::filesystem::path cache =
      cache_dir / (std::string(name) + "-" + hex(checksum) + ".tok");
  if (Result<Corpus> cached = from_cache_file(cache, checksum)) return cached;

  Result<std::string> text = text_of(*std::move(raw), source);
  if (!text) return text.error();
  Result<Tokenised> data = tokenise(*text, source.string(), encoder);
  if (!data) return data.error();
  std::error_code code;
  std::filesystem::create_directories(cache_dir, code);
  if (code)
    return Error{ErrorCode::Io, cache_dir.string() + ": cannot be created: " + code.message()};
  if (Status s = write_cache(cache, checksum, *data); !s) return s.error();
  Result<Corpus> opened = from_cache_file(cache, checksum);
  if (opened) opened->from_cache_ = false;
  return opened;
}

}  // namespace laya::train
