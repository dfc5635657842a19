#include "convert/convert_tokenizer.h"

#include <optional>
#include <string>
#include <utility>

#include "format/metadata.h"

namespace laya::convert {
namespace {

using format::Checkpoint;
using format::GgufFile;
using text::SubwordParts;
using text::SubwordTokenizer;

Result<TokenId> special_id(const GgufFile& file, const std::string& key) {
  if (!file.has(key)) return kNoToken;
  const auto id = file.integer(key, 0, kNoToken);
  if (!id) return id.error();
  return static_cast<TokenId>(*id);
}

/// A flag of the metadata, or what its absence means.
Result<bool> flag_or(const GgufFile& file, const std::string& key, bool absent) {
  if (!file.has(key)) return absent;
  return file.boolean(key);
}

/// llama.cpp's defaults where a file says nothing: sentencepiece and Llama 3 begin with BOS.
bool begins_with_bos(std::string_view model, std::string_view pre) {
  return model == "llama" || pre == "llama-bpe" || pre == "llama3" || pre == "llama-v3";
}

Status read_options(const GgufFile& file, text::SubwordOptions& options) {
  auto model = file.text("tokenizer.ggml.model");
  if (!model) return model.error();
  std::string_view pre;
  if (file.has("tokenizer.ggml.pre")) {
    auto stated = file.text("tokenizer.ggml.pre");
    if (!stated) return stated.error();
    pre = *stated;
  }
  if (auto status = text::set_gguf_tokenizer(*model, pre, options); !status) {
    return Error{status.error().code, file.path() + ": " + status.error().message};
  }
  auto bos = special_id(file, "tokenizer.ggml.bos_token_id");
  auto eos = special_id(file, "tokenizer.ggml.eos_token_id");
  auto add_bos = flag_or(file, "tokenizer.ggml.add_bos_token", begins_with_bos(*model, pre));
  auto space = flag_or(file, "tokenizer.ggml.add_space_prefix", *model == "llama");
  if (!bos) return bos.error();
  if (!eos) return eos.error();
  if (!add_bos) return add_bos.error();
  if (!space) return space.error();
  options.bos = *bos;
  options.eos = *eos;
  options.add_bos = *add_bos && *bos != kNoToken;
  options.prefix_space = *space && options.kind == text::SubwordKind::Sentencepiece
                             ? text::PrefixSpace::Always
                             : text::PrefixSpace::Never;
  return {};
}

Result<SubwordTokenizer> from_gguf(const GgufFile& file) {
  SubwordParts parts;
  if (auto status = read_options(file, parts.options); !status) return status.error();
  auto tokens = file.texts("tokenizer.ggml.tokens");
  if (!tokens) return tokens.error();
  parts.tokens.assign(tokens->begin(), tokens->end());
  if (file.has("tokenizer.ggml.token_type")) {
    auto types = file.integers("tokenizer.ggml.token_type");
    if (!types) return types.error();
    for (const std::int64_t type : *types) {
      if (type < 1 || type > 6) {
        return Error{ErrorCode::Corrupt, file.path() + ": tokenizer.ggml.token_type holds " +
                                             std::to_string(type) + ", allowed are 1 to 6"};
      }
      parts.roles.push_back(static_cast<text::PieceRole>(type));
    }
  }
  if (parts.options.kind == text::SubwordKind::Sentencepiece) {
    auto scores = file.numbers("tokenizer.ggml.scores");
    if (!scores) return scores.error();
    parts.scores = std::move(*scores);
  } else {
    auto merges = file.texts("tokenizer.ggml.merges");
    if (!merges) return merges.error();
    parts.merges.assign(merges->begin(), merges->end());
  }
  auto tokenizer = SubwordTokenizer::from_parts(parts);
  if (!tokenizer) {
    return Error{tokenizer.error().code, file.path() + ": " + tokenizer.error().message};
  }
  return tokenizer;
}

/// The field as an id: a number, or a list of which the first counts (several ends of text).
std::optional<TokenId> id_of(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) return std::nullopt;
  const nlohmann::json& value = found->is_array() && !found->empty() ? found->front() : *found;
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() >= kNoToken) return std::nullopt;
  return value.get<TokenId>();
}

Result<nlohmann::json> side_object(const Checkpoint& checkpoint, const char* name) {
  if (!checkpoint.has_side_file(name)) return nlohmann::json::object();
  auto text = checkpoint.side_file(name);
  if (!text) return text.error();
  auto parsed = format::parse_json(*text);
  if (!parsed) {
    return Error{parsed.error().code,
                 checkpoint.path() + ": " + name + ": " + parsed.error().message};
  }
  return parsed->is_object() ? std::move(*parsed) : nlohmann::json::object();
}

Result<SubwordTokenizer> from_json(const Checkpoint& checkpoint) {
  auto json = checkpoint.side_file("tokenizer.json");
  if (!json) {
    const bool has_model = checkpoint.has_side_file("tokenizer.model");
    return Error{json.error().code,
                 checkpoint.path() + ": tokenizer.json is missing beside the weights" +
                     (has_model ? "; tokenizer.model is not read: save it anew with "
                                  "AutoTokenizer.from_pretrained(…).save_pretrained(…)"
                                : "; download it from where the weights came from")};
  }
  auto config = side_object(checkpoint, "config.json");
  if (!config) return config.error();
  auto tokenizer_config = side_object(checkpoint, "tokenizer_config.json");
  if (!tokenizer_config) return tokenizer_config.error();
  text::SubwordSpecials specials;
  const auto nested = config->find("text_config");
  for (const nlohmann::json* object :
       {&*config, nested != config->end() && nested->is_object() ? &*nested : &*config}) {
    if (!specials.bos) specials.bos = id_of(*object, "bos_token_id");
    if (!specials.eos) specials.eos = id_of(*object, "eos_token_id");
  }
  const auto add_bos = tokenizer_config->find("add_bos_token");
  if (add_bos != tokenizer_config->end() && add_bos->is_boolean()) {
    specials.add_bos = add_bos->get<bool>();
  }
  auto tokenizer = SubwordTokenizer::from_tokenizer_json(*json, specials);
  if (!tokenizer) {
    return Error{tokenizer.error().code, checkpoint.path() + ": " + tokenizer.error().message};
  }
  return tokenizer;
}

/// run.c: BOS is 1, EOS 2, a space is put in front; a space in a token is sentencepiece's ▁.
Result<SubwordTokenizer> from_llama2c(const Checkpoint& checkpoint) {
  auto bytes = checkpoint.side_file("tokenizer.bin");
  if (!bytes) {
    return Error{
        bytes.error().code,
        checkpoint.path() + ": tokenizer.bin is missing beside it; llama2.c's export writes one"};
  }
  auto read = format::parse_llama2c_tokenizer(
      std::as_bytes(std::span(bytes->data(), bytes->size())), checkpoint.llama2c()->vocabulary_size,
      checkpoint.path() + ": tokenizer.bin");
  if (!read) return read.error();
  SubwordParts parts;
  parts.options.kind = text::SubwordKind::Sentencepiece;
  parts.options.prefix_space = text::PrefixSpace::Always;
  parts.options.add_bos = true;
  parts.options.bos = 1;
  parts.options.eos = 2;
  parts.scores = std::move(read->scores);
  for (std::size_t id = 0; id < read->tokens.size(); ++id) {
    std::string& token = read->tokens[id];
    const bool is_byte = token.size() == 6 && token.starts_with("<0x") && token.back() == '>';
    parts.roles.push_back(id == 0   ? text::PieceRole::Unknown
                          : id <= 2 ? text::PieceRole::Control
                          : is_byte ? text::PieceRole::Byte
                                    : text::PieceRole::Normal);
    std::string piece;
    for (const char c : token) piece += c == ' ' ? std::string("▁") : std::string(1, c);
    parts.tokens.push_back(std::move(piece));
  }
  auto tokenizer = SubwordTokenizer::from_parts(parts);
  if (!tokenizer) {
    return Error{tokenizer.error().code,
                 checkpoint.path() + ": tokenizer.bin: " + tokenizer.error().message};
  }
  return tokenizer;
}

}  // namespace

Result<SubwordTokenizer> read_source_tokenizer(const Checkpoint& checkpoint) {
  if (checkpoint.gguf() != nullptr) return from_gguf(*checkpoint.gguf());
  if (checkpoint.llama2c() != nullptr) return from_llama2c(checkpoint);
  return from_json(checkpoint);
}

}  // namespace laya::convert
