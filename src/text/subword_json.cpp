// Hugging Face's tokenizer.json (https://huggingface.co/docs/tokenizers): the two families that we
// run, in the spellings that the models' files use. Anything else is refused by name, since a
// tokenizer that is nearly right makes a model quietly worse.
#include <array>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "format/metadata.h"
#include "text/subword_tokenizer.h"

namespace laya::text {
namespace {

using nlohmann::json;

constexpr std::string_view kBlank = "\xE2\x96\x81";  // ▁
constexpr std::uint32_t kMaxDepth = 16;              // today's files reach 6

// The patterns that subword_pretokenizer.cpp does by hand, as the files write them.
constexpr std::string_view kLlama3Pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kQwen2Pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

Error corrupt(const std::string& what) { return {ErrorCode::Corrupt, what}; }
Error unsupported(const std::string& what) { return {ErrorCode::Unsupported, what}; }

const json* member(const json& object, const char* key) {
  if (!object.is_object()) {
    return nullptr;
  }
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

/// The string `object[key]`, or "" where there is none.
std::string_view text_of(const json& object, const char* key) {
  const json* value = member(object, key);
  return value != nullptr && value->is_string()
             ? std::string_view(value->get_ref<const std::string&>())
             : std::string_view();
}

bool flag_of(const json& object, const char* key, bool absent) {
  const json* value = member(object, key);
  return value != nullptr && value->is_boolean() ? value->get<bool>() : absent;
}

/// A part of the pipeline as a list: a Sequence's parts, itself, or none for null.
std::vector<const json*> steps(const json* part, const char* list) {
  std::vector<const json*> out;
  if (part == nullptr) {
    return out;
  }
  const json* inner = text_of(*part, "type") == "Sequence" ? member(*part, list) : nullptr;
  if (inner != nullptr && inner->is_array()) {
    for (const json& step : *inner) {
      out.push_back(&step);
    }
  } else {
    out.push_back(part);
  }
  return out;
}

std::string_view pattern_of(const json& step, const char* kind) {
  const json* pattern = member(step, "pattern");
  return pattern == nullptr ? std::string_view() : text_of(*pattern, kind);
}

Error refuse_step(const char* part, const json& step) {
  std::string message = std::string(part) + ": \"" + std::string(text_of(step, "type")) + "\"";
  if (const std::string_view pattern = pattern_of(step, "Regex"); !pattern.empty()) {
    message += " with pattern " + std::string(pattern.substr(0, 200));
  }
  return unsupported(message + " is not one that this build knows here");
}

Status read_byte_level(const json& file, SubwordOptions& options) {
  for (const json* step : steps(member(file, "normalizer"), "normalizers")) {
    if (text_of(*step, "type") != "NFC") {
      return refuse_step("normalizer", *step);
    }
    options.normalizer = SubwordNormalizer::Nfc;
  }
  std::optional<PreTokenizer> split;
  bool digits = false;
  bool byte_level = false;
  for (const json* step : steps(member(file, "pre_tokenizer"), "pretokenizers")) {
    const std::string_view type = text_of(*step, "type");
    if (byte_level) {
      return refuse_step("pre_tokenizer", *step);  // nothing follows ByteLevel
    }
    if (type == "Digits" && flag_of(*step, "individual_digits", false) && !split) {
      digits = true;
    } else if (type == "Split" && !digits && !split && !flag_of(*step, "invert", false) &&
               text_of(*step, "behavior") == "Isolated") {
      const std::string_view pattern = pattern_of(*step, "Regex");
      if (pattern != kLlama3Pattern && pattern != kQwen2Pattern) {
        return refuse_step("pre_tokenizer", *step);
      }
      split = pattern == kLlama3Pattern ? PreTokenizer::Llama3 : PreTokenizer::Qwen2;
    } else if (type == "ByteLevel") {
      byte_level = true;
      if (flag_of(*step, "add_prefix_space", true)) {
        return unsupported("pre_tokenizer: ByteLevel with add_prefix_space");
      }
      if (flag_of(*step, "use_regex", true) == split.has_value()) {
        return unsupported("pre_tokenizer: ByteLevel must cut text exactly where no Split does");
      }
    } else {
      return refuse_step("pre_tokenizer", *step);
    }
  }
  if (!byte_level) {
    return unsupported(
        "pre_tokenizer: has no ByteLevel, and model.byte_fallback is off: not a kind of tokenizer "
        "that this build knows");
  }
  options.kind = SubwordKind::ByteLevel;
  options.pre_tokenizer = split.value_or(digits ? PreTokenizer::SmolLm : PreTokenizer::Gpt2);
  return {};
}

Status read_sentencepiece(const json& file, SubwordOptions& options) {
  options.kind = SubwordKind::Sentencepiece;
  bool replaces_spaces = false;
  for (const json* step : steps(member(file, "normalizer"), "normalizers")) {
    const std::string_view type = text_of(*step, "type");
    if (type == "Prepend" && text_of(*step, "prepend") == kBlank && !replaces_spaces) {
      options.prefix_space = PrefixSpace::Always;
    } else if (type == "Replace" && pattern_of(*step, "String") == " " &&
               text_of(*step, "content") == kBlank) {
      replaces_spaces = true;
    } else {
      return refuse_step("normalizer", *step);
    }
  }
  for (const json* step : steps(member(file, "pre_tokenizer"), "pretokenizers")) {
    const std::string_view type = text_of(*step, "type");
    if (type == "Split" && pattern_of(*step, "String") == " " && replaces_spaces) {
      continue;  // Gemma: there are no spaces any more, so it cuts nothing
    }
    if (type != "Metaspace" || text_of(*step, "replacement") != kBlank ||
        flag_of(*step, "split", true) || replaces_spaces) {
      return refuse_step("pre_tokenizer", *step);
    }
    replaces_spaces = true;
    const std::string_view scheme = text_of(*step, "prepend_scheme");
    if (scheme == "first" || scheme == "always") {
      options.prefix_space = PrefixSpace::UnlessThere;
    } else if (scheme != "never") {
      return refuse_step("pre_tokenizer", *step);
    }
  }
  if (!replaces_spaces) {
    return unsupported("normalizer: leaves spaces as they are, which no known model does");
  }
  return {};
}

/// Pieces by id, from model.vocab and added_tokens; and ids by name.
class Pieces {
 public:
  Status add(std::string_view name, const json& id_value, const std::string& where) {
    if (!id_value.is_number_unsigned() || id_value.get<std::uint64_t>() >= kMaxSubwordTokens) {
      return corrupt(where + ": id is not a number below " + std::to_string(kMaxSubwordTokens));
    }
    const auto id = id_value.get<TokenId>();
    if (id >= tokens.size()) {
      tokens.resize(id + 1);
      roles.resize(id + 1, PieceRole::Unused);
    }
    const auto [known, is_new] = ids.emplace(name, id);
    if (!is_new && known->second != id) {
      return corrupt(where + ": id " + std::to_string(id) + ", but before " +
                     std::to_string(known->second));
    }
    // Gemma 2 calls the byte <0x09> "\t" as well: the byte's own name counts.
    const bool alias = roles[id] != PieceRole::Unused && tokens[id] != name;
    const bool byte_named = name.starts_with("<0x") && name.size() == 6;
    if (alias && !byte_named && !tokens[id].starts_with("<0x")) {
      return corrupt(where + ": id " + std::to_string(id) + " is taken");
    }
    if (!alias || byte_named) {
      tokens[id] = name;
    }
    roles[id] = roles[id] == PieceRole::Unused ? PieceRole::Normal : roles[id];
    return {};
  }

  std::vector<std::string> tokens;
  std::vector<PieceRole> roles;  // Unused: no piece has this id
  std::unordered_map<std::string, TokenId> ids;
};

Status read_vocabulary(const json& model, Pieces& pieces) {
  const json* vocabulary = member(model, "vocab");
  if (vocabulary == nullptr || !vocabulary->is_object()) {
    return corrupt("model.vocab is not an object");
  }
  std::size_t number = 0;
  for (const auto& [name, id] : vocabulary->items()) {
    const std::string where = "model.vocab, entry " + std::to_string(number++);
    if (Status status = pieces.add(name, id, where); !status) {
      return status;
    }
  }
  if (flag_of(model, "byte_fallback", false)) {
    for (int byte = 0; byte < 256; ++byte) {
      static constexpr std::string_view kHex = "0123456789ABCDEF";
      const std::string name = std::string("<0x") + kHex[byte >> 4] + kHex[byte & 15] + ">";
      if (const auto found = pieces.ids.find(name); found != pieces.ids.end()) {
        pieces.roles[found->second] = PieceRole::Byte;
      }
    }
  }
  return {};
}

/// Special tokens are never produced. The others are found before merging in sentencepiece models;
/// those of ▁ come about by merging, since the text has spaces there.
Status read_added_tokens(const json& file, SubwordKind kind, Pieces& pieces) {
  const json* added = member(file, "added_tokens");
  if (added == nullptr) {
    return {};
  }
  if (!added->is_array()) {
    return corrupt("added_tokens is not an array");
  }
  for (std::size_t i = 0; i < added->size(); ++i) {
    const json& token = (*added)[i];
    const std::string where = "added_tokens[" + std::to_string(i) + "]";
    const std::string_view content = text_of(token, "content");
    const json* id = member(token, "id");
    if (content.empty() || id == nullptr) {
      return corrupt(where + " has no content or no id");
    }
    if (Status status = pieces.add(content, *id, where); !status) {
      return status;
    }
    PieceRole& role = pieces.roles[id->get<TokenId>()];
    if (flag_of(token, "special", false) || kind == SubwordKind::ByteLevel) {
      role = PieceRole::Control;
      continue;
    }
    for (const char* flag : {"single_word", "lstrip", "rstrip"}) {
      if (flag_of(token, flag, false)) {
        return unsupported(where + ": " + flag);
      }
    }
    if (content.find(kBlank) == std::string_view::npos && role != PieceRole::Byte) {
      role = PieceRole::UserDefined;
    }
  }
  return {};
}

Status read_merges(const json& model, const Pieces& pieces,
                   std::vector<std::array<TokenId, 2>>& out) {
  const json* merges = member(model, "merges");
  if (merges == nullptr || !merges->is_array()) {
    return corrupt("model.merges is not an array");
  }
  if (merges->size() > kMaxSubwordMerges) {
    return Error{ErrorCode::TooLarge, "model.merges: " + std::to_string(merges->size()) +
                                          ", at most " + std::to_string(kMaxSubwordMerges)};
  }
  out.reserve(merges->size());
  for (std::size_t i = 0; i < merges->size(); ++i) {
    const json& merge = (*merges)[i];
    std::array<std::string, 2> sides;
    if (merge.is_string()) {
      const auto& both = merge.get_ref<const std::string&>();
      const std::size_t space = std::min(both.find(' '), both.size());
      sides = {both.substr(0, space), both.substr(std::min(space + 1, both.size()))};
    } else if (merge.is_array() && merge.size() == 2 && merge[0].is_string() &&
               merge[1].is_string()) {
      sides = {merge[0].get<std::string>(), merge[1].get<std::string>()};
    }
    std::array<TokenId, 2> ids{};
    for (std::size_t side = 0; side < 2; ++side) {
      const auto found = pieces.ids.find(sides[side]);
      if (found == pieces.ids.end()) {
        return corrupt("model.merges[" + std::to_string(i) + "] is not two pieces of model.vocab");
      }
      ids[side] = found->second;
    }
    out.push_back(ids);
  }
  return {};
}

std::optional<TokenId> first_of(const Pieces& pieces, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const auto found = pieces.ids.find(name);
    if (found != pieces.ids.end() && pieces.roles[found->second] == PieceRole::Control) {
      return found->second;
    }
  }
  return std::nullopt;
}

/// BOS where the post-processor puts a token before the text, else by the usual names.
void read_specials(const json& file, const Pieces& pieces, SubwordOptions& options) {
  for (const json* step : steps(member(file, "post_processor"), "processors")) {
    const json* single = member(*step, "single");
    if (single == nullptr || !single->is_array() || single->empty()) {
      continue;
    }
    if (const json* token = member(single->front(), "SpecialToken"); token != nullptr) {
      if (const auto found = pieces.ids.find(std::string(text_of(*token, "id")));
          found != pieces.ids.end()) {
        options.bos = found->second;
        options.add_bos = true;
      }
    }
  }
  if (options.bos == kNoToken) {
    options.bos =
        first_of(pieces, {"<bos>", "<s>", "<|begin_of_text|>", "<|endoftext|>"}).value_or(kNoToken);
  }
  options.eos =
      first_of(pieces, {"<eos>", "</s>", "<|end_of_text|>", "<|endoftext|>"}).value_or(kNoToken);
}

Status check_model(const json& model) {
  if (text_of(model, "type") != "BPE") {
    return unsupported("model.type \"" + std::string(text_of(model, "type")) + "\", only BPE");
  }
  for (const char* affix : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    if (!text_of(model, affix).empty()) {
      return unsupported(std::string("model.") + affix);
    }
  }
  return {};
}

Result<SubwordParts> read(const json& file, const SubwordSpecials& specials) {
  const json* model = member(file, "model");
  if (model == nullptr) {
    return corrupt("has no model");
  }
  SubwordParts parts;
  if (Status status = check_model(*model); !status) {
    return std::move(status).error();
  }
  if (Status status = flag_of(*model, "byte_fallback", false)
                          ? read_sentencepiece(file, parts.options)
                          : read_byte_level(file, parts.options);
      !status) {
    return std::move(status).error();
  }
  parts.options.ignore_merges = flag_of(*model, "ignore_merges", false);
  Pieces pieces;
  if (Status status = read_vocabulary(*model, pieces); !status) {
    return std::move(status).error();
  }
  if (Status status = read_added_tokens(file, parts.options.kind, pieces); !status) {
    return std::move(status).error();
  }
  // The unknown piece is an added token in all known files; named so here for those where it isn't.
  if (const auto unknown = pieces.ids.find(std::string(text_of(*model, "unk_token")));
      unknown != pieces.ids.end()) {
    pieces.roles[unknown->second] = PieceRole::Unknown;
  }
  if (Status status = read_merges(*model, pieces, parts.merge_ids); !status) {
    return std::move(status).error();
  }
  read_specials(file, pieces, parts.options);
  parts.options.bos = specials.bos.value_or(parts.options.bos);
  parts.options.eos = specials.eos.value_or(parts.options.eos);
  parts.options.add_bos = specials.add_bos.value_or(parts.options.add_bos);
  parts.tokens = std::move(pieces.tokens);
  parts.roles = std::move(pieces.roles);
  return parts;
}

}  // namespace

Result<SubwordTokenizer> SubwordTokenizer::from_tokenizer_json(std::string_view text,
                                                               const SubwordSpecials& specials) {
  Result<SubwordParts> parts{SubwordParts()};
  {
    const Result<json> file = format::parse_json(text, kMaxDepth);
    if (!file) {
      return Error{file.error().code, "tokenizer.json: " + file.error().message};
    }
    parts = read(*file, specials);
  }
  if (!parts) {
    return Error{parts.error().code, "tokenizer.json: " + parts.error().message};
  }
  Result<SubwordTokenizer> made = from_parts(*parts);
  if (!made) {
    // "tokenizer: …" ▶ "tokenizer.json: …"
    return Error{made.error().code,
                 "tokenizer.json" + made.error().message.substr(std::string("tokenizer").size())};
  }
  return made;
}

}  // namespace laya::text
