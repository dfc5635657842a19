#include "format/llama2c_file.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/byte_reader.h"
#include "format/quantised_blocks.h"

namespace laya::format {
namespace {

constexpr std::uint32_t kMagic = 0x616B3432;  // "ak42"
constexpr std::uint64_t kHeaderBytes = 256;   // versions 1 and 2
constexpr std::uint64_t kLegacyHeaderBytes = 28;
// Beyond any model of that program; they keep every product below far from 2^64.
constexpr std::int32_t kMaxDim = 1 << 16;
constexpr std::int32_t kMaxHidden = 1 << 20;
constexpr std::int32_t kMaxLayers = 1024;
constexpr std::int32_t kMaxVocabulary = 1 << 20;
constexpr std::int32_t kMaxContext = 1 << 24;
constexpr std::uint32_t kMaxTokenBytes = 1024;

Status in_range(const std::string& name, std::string_view field, std::int64_t value,
                std::int64_t high) {
  if (value < 1 || value > high) {
    return Error{ErrorCode::Corrupt, name + ": header field " + std::string(field) + " is " +
                                         std::to_string(value) + ", 1 to " + std::to_string(high) +
                                         " is allowed"};
  }
  return {};
}

/// The seven integers that every version has.
Status read_config(base::ByteReader& reader, const std::string& name, Llama2cConfig& config) {
  const auto next = [&] { return reader.read<std::int32_t>("the header"); };
  const std::int32_t dim = next();
  const std::int32_t hidden = next();
  const std::int32_t layers = next();
  const std::int32_t heads = next();
  const std::int32_t kv_heads = next();
  std::int64_t vocabulary = next();
  const std::int32_t context = next();
  if (Status fits = reader.status(name); !fits) return fits;
  if (config.version == 0) {  // the sign says whether the head is a matrix of its own
    config.tied_head = vocabulary > 0;
    vocabulary = std::abs(vocabulary);
  }
  if (Status fine = in_range(name, "dim", dim, kMaxDim); !fine) return fine;
  if (Status fine = in_range(name, "hidden_dim", hidden, kMaxHidden); !fine) return fine;
  if (Status fine = in_range(name, "n_layers", layers, kMaxLayers); !fine) return fine;
  if (Status fine = in_range(name, "n_heads", heads, dim); !fine) return fine;
  if (Status fine = in_range(name, "n_kv_heads", kv_heads, heads); !fine) return fine;
  if (Status fine = in_range(name, "vocab_size", vocabulary, kMaxVocabulary); !fine) return fine;
  if (Status fine = in_range(name, "max_seq_len", context, kMaxContext); !fine) return fine;
  if (dim % heads != 0 || heads % kv_heads != 0 || dim / heads % 2 != 0) {
    return Error{ErrorCode::Corrupt, name + ": header fields dim " + std::to_string(dim) +
                                         ", n_heads " + std::to_string(heads) + ", n_kv_heads " +
                                         std::to_string(kv_heads) +
                                         " do not divide (into heads of even size)"};
  }
  config.dim = static_cast<std::uint32_t>(dim);
  config.hidden_dim = static_cast<std::uint32_t>(hidden);
  config.layers = static_cast<std::uint32_t>(layers);
  config.heads = static_cast<std::uint32_t>(heads);
  config.kv_heads = static_cast<std::uint32_t>(kv_heads);
  config.vocabulary_size = static_cast<std::uint32_t>(vocabulary);
  config.max_context = static_cast<std::uint32_t>(context);
  return {};
}

/// Takes tensors off the file in its order.
class Taker {
 public:
  Taker(base::ByteReader& reader, const Llama2cConfig& config, std::vector<SourceTensor>& tensors)
      : reader_(reader), config_(config), tensors_(tensors) {}

  void plain(std::string name, std::vector<std::uint64_t> shape) {
    SourceTensor tensor;
    tensor.name = std::move(name);
    tensor.shape = std::move(shape);
    tensor.bytes = reader_.bytes(tensor.elements() * 4, "the weights");
    tensors_.push_back(std::move(tensor));
  }
  /// A matrix: fp32, or int8 in groups in version 2.
  void matrix(std::string name, std::uint64_t rows, std::uint64_t columns) {
    if (config_.version < 2) {
      return plain(std::move(name), {rows, columns});
    }
    SourceTensor tensor;
    tensor.name = std::move(name);
    tensor.type = SourceType::Int8Groups;
    tensor.shape = {rows, columns};
    tensor.bits = 8;
    tensor.group = config_.group;
    tensor.bytes = reader_.bytes(rows * columns, "the codes of a matrix");
    tensor.scales = reader_.bytes(rows * columns / config_.group * 4, "the scales of a matrix");
    tensors_.push_back(std::move(tensor));
  }
  /// The same tensor of every layer, "layers.<l>.<name>".
  void each_plain(std::string_view name, std::uint64_t size) {
    for (std::uint32_t l = 0; l < config_.layers && !reader_.failed(); ++l) {
      plain(layer(l, name), {size});
    }
  }
  void each_matrix(std::string_view name, std::uint64_t rows, std::uint64_t columns) {
    for (std::uint32_t l = 0; l < config_.layers && !reader_.failed(); ++l) {
      matrix(layer(l, name), rows, columns);
    }
  }

 private:
  static std::string layer(std::uint32_t l, std::string_view name) {
    return "layers." + std::to_string(l) + "." + std::string(name);
  }
  base::ByteReader& reader_;
  const Llama2cConfig& config_;
  std::vector<SourceTensor>& tensors_;
};

/// Version 0 mixes the norms among the matrices; 1 and 2 have all norms first.
void take_all(Taker& take, base::ByteReader& reader, const Llama2cConfig& config) {
  const std::uint64_t d = config.dim;
  const std::uint64_t hidden = config.hidden_dim;
  const std::uint64_t kv = d / config.heads * config.kv_heads;
  const bool legacy = config.version == 0;
  if (legacy) {
    take.matrix("tok_embeddings.weight", config.vocabulary_size, d);
    take.each_plain("attention_norm.weight", d);
  } else {
    take.each_plain("attention_norm.weight", d);
    take.each_plain("ffn_norm.weight", d);
    take.plain("norm.weight", {d});
    take.matrix("tok_embeddings.weight", config.vocabulary_size, d);
  }
  take.each_matrix("attention.wq.weight", d, d);
  take.each_matrix("attention.wk.weight", kv, d);
  take.each_matrix("attention.wv.weight", kv, d);
  take.each_matrix("attention.wo.weight", d, d);
  if (legacy) {
    take.each_plain("ffn_norm.weight", d);
  }
  take.each_matrix("feed_forward.w1.weight", hidden, d);
  take.each_matrix("feed_forward.w2.weight", d, hidden);
  take.each_matrix("feed_forward.w3.weight", hidden, d);
  if (legacy) {
    take.plain("norm.weight", {d});
    // Tables of cosines and sines, [max_context, head size / 2] each: computed anew by everybody.
    reader.bytes(config.max_context * (d / config.heads) * 4, "the RoPE tables");
  }
  if (!config.tied_head) {
    take.matrix("output.weight", config.vocabulary_size, d);
  }
}

}  // namespace

Result<Llama2cFile> Llama2cFile::open(const std::string& path) {
  Result<base::MappedFile> mapped = base::MappedFile::open(path, kMaxCheckpointBytes);
  if (!mapped) {
    return mapped.error();
  }
  Llama2cFile file;
  file.name_ = path;
  file.file_ = std::move(*mapped);
  if (Status read = file.read(file.file_.bytes()); !read) {
    return read.error();
  }
  return file;
}

Result<Llama2cFile> Llama2cFile::parse(std::span<const std::byte> bytes,
                                       std::string name_for_errors) {
  Llama2cFile file;
  file.name_ = std::move(name_for_errors);
  if (Status read = file.read(bytes); !read) {
    return read.error();
  }
  return file;
}

Status Llama2cFile::read(std::span<const std::byte> bytes) {
  base::ByteReader reader(bytes);
  if (reader.u32("the header") == kMagic) {
    const std::uint32_t version = reader.u32("the version");
    if (!reader.failed() && version != 1 && version != 2) {
      return Error{ErrorCode::Version, name_ + ": llama2.c version " + std::to_string(version) +
                                           ", versions 0, 1 and 2 are read"};
    }
    config_.version = version;
  } else {
    reader.seek(0, "the header");
    config_.version = 0;
  }
  if (Status read = read_config(reader, name_, config_); !read) {
    return read;
  }
  if (config_.version > 0) {
    const std::uint8_t tied = reader.u8("the shared-classifier flag");
    config_.tied_head = tied == 1;
    const std::int64_t group =
        config_.version == 2 ? reader.read<std::int32_t>("the group size") : 1;
    reader.seek(kHeaderBytes, "the header");
    if (Status fits = reader.status(name_); !fits) {
      return fits;
    }
    if (tied > 1) {
      return Error{ErrorCode::Corrupt, name_ + ": header field shared_classifier is " +
                                           std::to_string(tied) + ", 0 or 1 is allowed"};
    }
    if (Status fine = in_range(name_, "group_size", group, kMaxDim); !fine) {
      return fine;
    }
    if (config_.dim % static_cast<std::uint32_t>(group) != 0 ||
        config_.hidden_dim % static_cast<std::uint32_t>(group) != 0) {
      return Error{ErrorCode::Unsupported, name_ + ": groups of " + std::to_string(group) +
                                               " cross rows of " + std::to_string(config_.dim) +
                                               " or " + std::to_string(config_.hidden_dim) +
                                               "; export it again as version 1"};
    }
    config_.group = config_.version == 2 ? static_cast<std::uint32_t>(group) : 0;
  }
  static_assert(kLegacyHeaderBytes == 7 * sizeof(std::int32_t));
  Taker taker(reader, config_, tensors_);
  take_all(taker, reader, config_);
  if (reader.failed()) {
    return Error{ErrorCode::Corrupt,
                 name_ + ": its header promises dim " + std::to_string(config_.dim) + ", " +
                     std::to_string(config_.layers) + " layers, vocabulary " +
                     std::to_string(config_.vocabulary_size) + ", but the file ends at byte " +
                     std::to_string(bytes.size()) + " (was the download cut?)"};
  }
  if (reader.left() != 0) {
    return Error{ErrorCode::Corrupt,
                 name_ + ": " + std::to_string(reader.left()) + " bytes more than its header says"};
  }
  std::ranges::sort(tensors_, {}, &SourceTensor::name);
  return {};
}

const SourceTensor* Llama2cFile::find_tensor(std::string_view name) const {
  return find_sorted(tensors_, name);
}

Result<Llama2cTokenizer> parse_llama2c_tokenizer(std::span<const std::byte> bytes,
                                                 std::uint32_t vocabulary_size,
                                                 std::string_view name_for_errors) {
  const std::string name(name_for_errors);
  base::ByteReader reader(bytes);
  Llama2cTokenizer tokenizer;
  tokenizer.max_token_bytes = reader.u32("the longest token's length");
  if (!reader.failed() && tokenizer.max_token_bytes > kMaxTokenBytes) {
    return Error{ErrorCode::Corrupt, name + ": tokens of " +
                                         std::to_string(tokenizer.max_token_bytes) +
                                         " bytes, the limit is " + std::to_string(kMaxTokenBytes)};
  }
  while (!reader.failed() &&
         (vocabulary_size == 0 ? reader.left() != 0 : tokenizer.tokens.size() < vocabulary_size)) {
    const float score = reader.f32("a token's score");
    const std::uint32_t length = reader.u32("a token's length");
    const std::string label = name + ": token " + std::to_string(tokenizer.tokens.size());
    if (!reader.failed() && length > tokenizer.max_token_bytes) {
      return Error{ErrorCode::Corrupt, label + " has " + std::to_string(length) +
                                           " bytes, the longest is said to have " +
                                           std::to_string(tokenizer.max_token_bytes)};
    }
    const std::string_view text = reader.text(length, "a token");
    if (reader.failed()) {
      return Error{ErrorCode::Corrupt, label + " does not fit: " + std::to_string(reader.left()) +
                                           " bytes left (was the download cut?)"};
    }
    if (!std::isfinite(score)) {
      return Error{ErrorCode::Corrupt, label + " has a score that is not finite"};
    }
    if (tokenizer.tokens.size() == static_cast<std::size_t>(kMaxVocabulary)) {
      return Error{ErrorCode::Corrupt,
                   name + ": more than " + std::to_string(kMaxVocabulary) + " tokens"};
    }
    tokenizer.tokens.emplace_back(text);
    tokenizer.scores.push_back(score);
  }
  if (Status fits = reader.status(name); !fits) {
    return fits.error();
  }
  if (reader.left() != 0) {
    return Error{ErrorCode::Corrupt, name + ": " + std::to_string(reader.left()) +
                                         " bytes after the last of " +
                                         std::to_string(vocabulary_size) + " tokens"};
  }
  return tokenizer;
}

}  // namespace laya::format
