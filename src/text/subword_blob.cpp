// The blob, all little-endian:
//   "LSUB"                u8[4]
//   version               u32     1
//   kind, pre_tokenizer, normalizer, prefix_space, ignore_merges, add_bos    u8[6]   SubwordOptions
//   reserved              u8[2]   0
//   bos, eos              u32[2]  FFFFFFFF: none
//   rows                  u32     tokens with a row of the model's matrices
//   count                 u32     all tokens: first those with a row, then the ones in between
//   merges                u32
//   text_bytes            u32     sum of lengths
//   kinds                 u8[count]       SubwordTokenKind; bit 7: found before merging
//   lengths               u16[count]
//   texts                 u8[text_bytes]  one after another, in id order
//   lefts, rights, results   u32[merges] each, best merge first
//   checksum              u64     FNV-1a of all bytes before it
#include <cstring>
#include <string>
#include <utility>

#include "base/byte_reader.h"
#include "base/fnv1a.h"
#include "text/subword_assembly.h"

namespace laya::text {
namespace {

constexpr std::string_view kMagic = "LSUB";
constexpr std::uint32_t kVersion = 1;
constexpr std::uint8_t kUserDefinedBit = 0x80;

template <typename T>
void put(std::vector<std::byte>& out, T value) {
  out.resize(out.size() + sizeof(value));
  std::memcpy(out.data() + out.size() - sizeof(value), &value, sizeof(value));
}

template <typename T>
T element(std::span<const std::byte> array, std::size_t index) {
  T value;
  std::memcpy(&value, array.data() + index * sizeof(T), sizeof(T));
  return value;
}

Error corrupt(const std::string& what) { return {ErrorCode::Corrupt, "tokenizer: " + what}; }

/// The next byte as one of an enumeration's values 0…last.
template <typename E>
Status read_enum(base::ByteReader& reader, const char* field, E last, E& out) {
  const std::uint8_t value = reader.u8(field);
  if (value > static_cast<std::uint8_t>(last)) {
    return corrupt(std::string(field) + " is " + std::to_string(value) + ", at most " +
                   std::to_string(static_cast<int>(last)));
  }
  out = static_cast<E>(value);
  return {};
}

enum class Flag : std::uint8_t { No, Yes };

Result<SubwordOptions> read_options(base::ByteReader& reader) {
  SubwordOptions options;
  Flag ignore_merges{};
  Flag add_bos{};
  for (Status status :
       {read_enum(reader, "kind", SubwordKind::Sentencepiece, options.kind),
        read_enum(reader, "pre_tokenizer", PreTokenizer::Qwen2, options.pre_tokenizer),
        read_enum(reader, "normalizer", SubwordNormalizer::Nfc, options.normalizer),
        read_enum(reader, "prefix_space", PrefixSpace::UnlessThere, options.prefix_space),
        read_enum(reader, "ignore_merges", Flag::Yes, ignore_merges),
        read_enum(reader, "add_bos", Flag::Yes, add_bos)}) {
    if (!status) {
      return std::move(status).error();
    }
  }
  options.ignore_merges = ignore_merges == Flag::Yes;
  options.add_bos = add_bos == Flag::Yes;
  if (reader.u16("reserved") != 0) {
    return corrupt("reserved is not 0");
  }
  options.bos = reader.u32("bos");
  options.eos = reader.u32("eos");
  return options;
}

}  // namespace

Result<SubwordTokenizer> SubwordTokenizer::parse(std::span<const std::byte> blob) {
  base::ByteReader reader(blob);
  if (reader.text(kMagic.size(), "magic") != kMagic) {
    return corrupt("does not start with LSUB, so it is none");
  }
  const std::uint32_t version = reader.u32("version");
  if (!reader.failed() && version != kVersion) {
    return Error{ErrorCode::Version, "tokenizer: version " + std::to_string(version) +
                                         ", this build reads " + std::to_string(kVersion)};
  }
  Result<SubwordOptions> options = read_options(reader);
  if (!options) {
    return std::move(options).error();
  }
  const std::uint32_t rows = reader.u32("rows");
  const std::uint32_t count = reader.u32("count");
  const std::uint32_t merge_count = reader.u32("merges");
  const std::uint32_t text_bytes = reader.u32("text_bytes");
  if (count > kMaxSubwordTokens || merge_count > kMaxSubwordMerges) {
    return Error{ErrorCode::TooLarge, "tokenizer: count " + std::to_string(count) + ", merges " +
                                          std::to_string(merge_count) + "; at most " +
                                          std::to_string(kMaxSubwordTokens) + " and " +
                                          std::to_string(kMaxSubwordMerges)};
  }
  const auto kinds = reader.bytes(count, "kinds");
  const auto lengths = reader.bytes(std::uint64_t{count} * sizeof(std::uint16_t), "lengths");
  const std::string_view texts = reader.text(text_bytes, "texts");
  const auto lefts = reader.bytes(std::uint64_t{merge_count} * sizeof(TokenId), "lefts");
  const auto rights = reader.bytes(std::uint64_t{merge_count} * sizeof(TokenId), "rights");
  const auto results = reader.bytes(std::uint64_t{merge_count} * sizeof(TokenId), "results");
  const std::size_t body_bytes = reader.position();
  const std::uint64_t checksum = reader.u64("checksum");
  if (Status status = reader.status("tokenizer"); !status) {
    return std::move(status).error();
  }
  if (reader.left() != 0) {
    return corrupt(std::to_string(reader.left()) + " bytes behind its end");
  }
  if (checksum != base::fnv1a_64(blob.first(body_bytes))) {
    return corrupt("checksum does not match, the file is damaged");
  }
  if (rows > count) {
    return corrupt("rows " + std::to_string(rows) + " of " + std::to_string(count) + " tokens");
  }

  std::vector<SubwordVocabulary::Token> tokens(count);
  std::size_t offset = 0;
  for (std::size_t id = 0; id < count; ++id) {
    const auto kind = std::to_integer<std::uint8_t>(kinds[id]);
    const std::size_t length = element<std::uint16_t>(lengths, id);
    if ((kind & ~kUserDefinedBit) > static_cast<std::uint8_t>(SubwordTokenKind::Control)) {
      return corrupt("tokens[" + std::to_string(id) + "] is of an unknown kind");
    }
    if (length > text_bytes - offset) {
      return corrupt("tokens[" + std::to_string(id) + "] reaches beyond text_bytes");
    }
    tokens[id] = {texts.substr(offset, length),
                  static_cast<SubwordTokenKind>(kind & ~kUserDefinedBit),
                  (kind & kUserDefinedBit) != 0};
    if (tokens[id].user_defined && tokens[id].kind != SubwordTokenKind::Normal) {
      return corrupt("tokens[" + std::to_string(id) + "] cannot be found before merging");
    }
    offset += length;
  }
  if (offset != text_bytes) {
    return corrupt("text_bytes is not the sum of the lengths");
  }
  std::vector<Merge> merges(merge_count);
  for (std::size_t i = 0; i < merge_count; ++i) {
    merges[i] = {element<TokenId>(lefts, i), element<TokenId>(rights, i),
                 element<TokenId>(results, i)};
  }
  Result<SubwordTokenizer> made = SubwordAssembly::make(*options, tokens, rows, std::move(merges));
  if (!made) {
    return Error{made.error().code, "tokenizer: " + made.error().message};
  }
  return made;
}

std::vector<std::byte> SubwordTokenizer::serialize() const {
  std::vector<std::byte> out;
  for (const char letter : kMagic) {
    put(out, letter);
  }
  put(out, kVersion);
  put(out, static_cast<std::uint8_t>(options_.kind));
  put(out, static_cast<std::uint8_t>(options_.pre_tokenizer));
  put(out, static_cast<std::uint8_t>(options_.normalizer));
  put(out, static_cast<std::uint8_t>(options_.prefix_space));
  put(out, static_cast<std::uint8_t>(options_.ignore_merges ? 1 : 0));
  put(out, static_cast<std::uint8_t>(options_.add_bos ? 1 : 0));
  put(out, std::uint16_t{0});
  put(out, options_.bos);
  put(out, options_.eos);
  put(out, static_cast<std::uint32_t>(vocabulary_.size()));
  put(out, static_cast<std::uint32_t>(vocabulary_.total()));
  put(out, static_cast<std::uint32_t>(merges_.list().size()));
  std::string texts;
  for (TokenId id = 0; id < vocabulary_.total(); ++id) {
    texts += vocabulary_.text(id);
  }
  put(out, static_cast<std::uint32_t>(texts.size()));
  for (TokenId id = 0; id < vocabulary_.total(); ++id) {
    put(out, static_cast<std::uint8_t>(static_cast<std::uint8_t>(vocabulary_.kind(id)) |
                                       (vocabulary_.user_defined(id) ? kUserDefinedBit : 0)));
  }
  for (TokenId id = 0; id < vocabulary_.total(); ++id) {
    put(out, static_cast<std::uint16_t>(vocabulary_.text(id).size()));
  }
  const auto bytes = std::as_bytes(std::span(texts));
  out.insert(out.end(), bytes.begin(), bytes.end());
  for (TokenId Merge::*side : {&Merge::left, &Merge::right, &Merge::result}) {
    for (const Merge& merge : merges_.list()) {
      put(out, merge.*side);
    }
  }
  put(out, base::fnv1a_64(out));
  return out;
}

}  // namespace laya::text
