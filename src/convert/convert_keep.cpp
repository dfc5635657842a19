#include "convert/convert_keep.h"

#include <zstd.h>

#include <algorithm>
#include <set>

#include "base/byte_reader.h"
#include "base/fnv1a.h"
#include "convert/convert_tokenizer.h"

namespace laya::convert {
namespace {

using text::SubwordTokenizer;

constexpr std::string_view kMagic = "LAYAKEPT";
constexpr std::uint32_t kVersion = 1;
constexpr std::uint32_t kMaxLanguages = 64;
constexpr std::uint32_t kMaxBits = 1u << 20;  // tokens of a vocabulary, as SubwordTokenizer allows

Error corrupt(const std::string& what) { return {ErrorCode::Corrupt, "kept tokens: " + what}; }

Result<std::vector<TokenId>> read_ids(base::ByteReader& reader) {
  const std::uint32_t bits = reader.u32("bits");
  const auto packed = reader.bytes(reader.u32("size"), "bits of a language");
  if (auto status = reader.status("kept tokens"); !status) return status.error();
  if (bits > kMaxBits) {
    return Error{ErrorCode::TooLarge, "kept tokens: bits is " + std::to_string(bits) +
                                          ", the limit is " + std::to_string(kMaxBits)};
  }
  std::vector<std::uint8_t> set((bits + 7) / 8);
  const std::size_t size = ZSTD_decompress(set.data(), set.size(), packed.data(), packed.size());
  if (ZSTD_isError(size) != 0 || size != set.size()) {
    return corrupt("the bits of a language do not unpack to " + std::to_string(set.size()) +
                   " bytes");
  }
  std::vector<TokenId> ids;
  for (TokenId id = 0; id < bits; ++id) {
    if ((set[id / 8] >> (id % 8) & 1) != 0) ids.push_back(id);
  }
  return ids;
}

template <typename T>
void put(std::vector<std::byte>& out, const T& value) {
  const auto bytes = std::as_bytes(std::span<const T, 1>(&value, 1));
  out.insert(out.end(), bytes.begin(), bytes.end());
}

void put_text(std::vector<std::byte>& out, std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text.data(), text.size()));
  out.insert(out.end(), bytes.begin(), bytes.end());
}

std::set<std::string, std::less<>> split(std::string_view list) {
  std::set<std::string, std::less<>> parts;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    if (comma > 0) parts.emplace(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return parts;
}

/// The table that was counted with this very tokenizer.
Result<KeptTable> table_for(const SubwordTokenizer& tokenizer) {
  for (const std::span<const std::byte> bytes : built_in_kept_tables()) {
    auto table = parse_kept_table(bytes);
    if (!table) return table.error();
    if (table->vocabulary_hash == vocabulary_hash(tokenizer, table->languages)) return table;
  }
  return Error{ErrorCode::Unsupported,
               "nobody has counted which tokens of this tokenizer are needed; --keep-text FILE "
               "counts on text of yours"};
}

}  // namespace

std::uint64_t vocabulary_hash(const SubwordTokenizer& tokenizer,
                              std::span<const KeptTable::Language> languages) {
  std::vector<std::byte> named;
  for (const KeptTable::Language& language : languages) {
    for (const TokenId id : language.ids) {
      if (id >= tokenizer.size()) return 0;
      const std::string_view bytes = tokenizer.bytes(id);
      put(named, id);
      put(named, static_cast<std::uint32_t>(bytes.size()));
      put_text(named, bytes);
    }
  }
  return base::fnv1a_64(named);
}

Result<KeptTable> parse_kept_table(std::span<const std::byte> bytes) {
  base::ByteReader reader(bytes);
  if (reader.text(kMagic.size(), "magic") != kMagic) return corrupt("not such a file");
  const std::uint32_t version = reader.u32("version");
  if (version != kVersion) {
    return Error{ErrorCode::Version, "kept tokens: version " + std::to_string(version) +
                                         ", this build reads " + std::to_string(kVersion)};
  }
  const std::uint32_t languages = reader.u32("languages");
  KeptTable table;
  table.vocabulary_hash = reader.u64("vocabulary_hash");
  if (auto status = reader.status("kept tokens"); !status) return status.error();
  if (languages > kMaxLanguages) return corrupt(std::to_string(languages) + " languages");
  for (std::uint32_t i = 0; i < languages; ++i) {
    KeptTable::Language language;
    language.name = std::string(reader.text(reader.u8("name length"), "name"));
    auto ids = read_ids(reader);
    if (!ids) return ids.error();
    language.ids = std::move(*ids);
    table.languages.push_back(std::move(language));
  }
  if (reader.left() != 0) return corrupt(std::to_string(reader.left()) + " bytes at the end");
  return table;
}

std::vector<std::byte> serialize(const KeptTable& table) {
  std::vector<std::byte> out;
  put_text(out, kMagic);
  put(out, kVersion);
  put(out, static_cast<std::uint32_t>(table.languages.size()));
  put(out, table.vocabulary_hash);
  for (const KeptTable::Language& language : table.languages) {
    const std::uint32_t bits = language.ids.empty() ? 0 : language.ids.back() + 1;
    std::vector<std::uint8_t> set((bits + 7) / 8);
    for (const TokenId id : language.ids) {
      set[id / 8] = static_cast<std::uint8_t>(set[id / 8] | 1 << id % 8);
    }
    std::vector<std::byte> packed(ZSTD_compressBound(set.size()));
    packed.resize(ZSTD_compress(packed.data(), packed.size(), set.data(), set.size(), 19));
    put(out, static_cast<std::uint8_t>(language.name.size()));
    put_text(out, language.name);
    put(out, bits);
    put(out, static_cast<std::uint32_t>(packed.size()));
    out.insert(out.end(), packed.begin(), packed.end());
  }
  return out;
}

Result<std::vector<TokenId>> kept_tokens(const SubwordTokenizer& tokenizer,
                                         std::string_view languages) {
  const auto wanted = split(languages);
  if (wanted.empty()) {
    return Error{ErrorCode::BadArgument, "--keep needs a language, as in zh,en"};
  }
  auto table = table_for(tokenizer);
  if (!table) return table.error();
  std::set<TokenId> ids;
  for (const std::string& name : wanted) {
    const auto language = std::ranges::find(table->languages, name, &KeptTable::Language::name);
    if (language == table->languages.end()) {
      return Error{ErrorCode::BadArgument,
                   "--keep '" + name +
                       "': counted were zh and en; --keep-text FILE counts on text of yours"};
    }
    ids.insert(language->ids.begin(), language->ids.end());
  }
  return std::vector<TokenId>(ids.begin(), ids.end());
}

Result<std::vector<TokenId>> kept_tokens(const format::Checkpoint& checkpoint,
                                         std::string_view languages) {
  auto tokenizer = read_source_tokenizer(checkpoint);
  if (!tokenizer) return tokenizer.error();
  auto kept = kept_tokens(*tokenizer, languages);
  if (!kept) return Error{kept.error().code, checkpoint.path() + ": " + kept.error().message};
  return kept;
}

void count_tokens(const SubwordTokenizer& tokenizer, std::string_view text,
                  std::span<std::uint64_t> counts) {
  std::vector<TokenId> ids;
  text::SubwordScratch scratch;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    ids.clear();
    tokenizer.encode(text.substr(0, end), ids, nullptr, text::TextPosition::Start, &scratch);
    for (const TokenId id : ids) {
      if (id < counts.size()) ++counts[id];
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

}  // namespace laya::convert
