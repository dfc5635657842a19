#include "train/convert.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>

#include "format/metadata.h"
#include "format/model_writer.h"
#include "text/subword_tokenizer.h"
#include "train/convert_repack.h"
#include "train/convert_source.h"
#include "train/convert_tokenizer.h"

namespace laya::train {
namespace {

using format::Checkpoint;
using format::SourceTensor;
using model::Precision;
using simd::WeightType;

/// Below this many parameters 4 bits cost more than they save (design: small models ship as int8).
constexpr std::uint64_t kInt4Parameters = 30'000'000;

constexpr Precision kInt4{WeightType::Int4, 32, simd::Minima::PerGroup};
constexpr Precision kInt8{WeightType::Int8, 32, simd::Minima::None};
constexpr Precision kFp16{WeightType::Fp16, 64, simd::Minima::None};

Error named(Error error, const Checkpoint& checkpoint, std::string_view tensor) {
  error.message = checkpoint.path() + ": tensor " + std::string(tensor) + ": " + error.message;
  return error;
}

/// The rows of the source, in our order.
std::vector<std::uint32_t> row_order(const SourcePart& part, const model::DecoderConfig& config,
                                     std::span<const TokenId> kept) {
  const bool by_token = part.name == "embedding.weight" || part.name == "head.weight";
  if (by_token && !kept.empty()) return {kept.begin(), kept.end()};
  std::vector<std::uint32_t> rows(part.role == SourceRole::Matrix ? part.tensor->rows()
                                                                  : part.tensor->elements());
  std::iota(rows.begin(), rows.end(), 0u);
  if (part.heads > 0) {
    for (std::uint32_t& row : rows) row = interleaved_row(row, config.head_dim);
  }
  return rows;
}

/// A vector as we keep it: fp32, norm weights effective.
Result<std::vector<float>> read_vector(const SourceModel& source, const SourcePart& part) {
  std::vector<float> stored(part.tensor->elements());
  if (auto status = format::read_rows(*part.tensor, 0, 1, stored); !status) return status.error();
  const std::vector<std::uint32_t> rows = row_order(part, source.config, {});
  std::vector<float> values(stored.size());
  const float add =
      part.role == SourceRole::Norm && source.norm_stored == NormStored::LessOne ? 1.0F : 0.0F;
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = stored[rows[i]] + add;
    if (!std::isfinite(values[i])) {
      return Error{ErrorCode::Corrupt, "a weight is NaN or infinite"};
    }
  }
  return values;
}

Precision precision_of(const SourceModel& source, const SourcePart& part,
                       const ConvertOptions& options) {
  const auto exception = options.exceptions.find(part.name);
  if (exception != options.exceptions.end()) return exception->second;
  const bool is_head =
      part.name == "head.weight" || (source.config.tied_head && part.name == "embedding.weight");
  if (is_head && options.head) return *options.head;
  if (options.policy == WeightPolicy::Fixed) return options.precision;
  if (const auto exact = exact_precision(*part.tensor)) return *exact;
  if (format::group_scheme(*part.tensor)) return kInt8;  // Q6_K
  if (options.policy == WeightPolicy::Source) return kFp16;
  return source.config.parameter_count() >= kInt4Parameters ? kInt4 : kInt8;
}

format::Layout layout_of(const Precision& precision, std::size_t rows, std::size_t cols) {
  format::Layout layout;
  layout.rank = 2;
  layout.shape = {static_cast<std::uint32_t>(rows), static_cast<std::uint32_t>(cols), 0, 0};
  switch (precision.type) {
    case WeightType::Int4:
      layout.element = format::Element::PackedInt4;
      break;
    case WeightType::Int8:
      layout.element = format::Element::PackedInt8;
      break;
    case WeightType::Fp16:
      layout.element = format::Element::PackedF16;
      break;
    case WeightType::Fp32:
      layout.element = format::Element::PackedF32;
      break;
  }
  if (format::is_quantised(layout.element)) {
    layout.group = precision.group;
    layout.has_minima = precision.minima == simd::Minima::PerGroup;
  }
  return layout;
}

class Converter {
 public:
  Converter(const Checkpoint& checkpoint, const ConvertOptions& options, SourceModel source,
            text::SubwordTokenizer tokenizer)
      : checkpoint_(checkpoint),
        options_(options),
        source_(std::move(source)),
        tokenizer_(std::move(tokenizer)) {}

  Result<ConvertReport> run(const std::string& path) {
    report_.name = options_.name.empty() ? source_.name : options_.name;
    report_.family = std::string(model::family_name(source_.family));
    report_.licence = options_.licence.empty() ? source_.licence : options_.licence;
    report_.source_vocabulary = source_.config.vocabulary_size;
    for (const SourceTensor& tensor : checkpoint_.tensors()) {
      report_.source_bytes += tensor.bytes.size() + tensor.scales.size() + tensor.minima.size();
    }
    if (auto status = prune(); !status) return status.error();
    auto writer = format::ModelWriter::create(path);
    if (!writer) return writer.error();
    for (std::size_t i = 0; i < source_.parts.size(); ++i) {
      if (options_.cancel != nullptr && options_.cancel->cancelled()) {
        return Error{ErrorCode::Cancelled, "conversion was interrupted; nothing was written"};
      }
      if (options_.progress) {
        options_.progress("weights",
                          static_cast<double>(i) / static_cast<double>(source_.parts.size()));
      }
      if (auto status = add(*writer, source_.parts[i]); !status) return status.error();
    }
    if (auto status = add_rest(*writer); !status) return status.error();
    if (auto status = writer->finish(); !status) return status.error();
    std::error_code ignored;
    report_.bytes = std::filesystem::file_size(path, ignored);
    if (options_.progress) options_.progress("weights", 1);
    return std::move(report_);
  }

 private:
  /// Settles which rows stay and whom the tokenizer then speaks for.
  Status prune() {
    if (tokenizer_.size() > source_.config.vocabulary_size) {
      return Error{ErrorCode::Corrupt,
                   checkpoint_.path() + ": the tokenizer has " + std::to_string(tokenizer_.size()) +
                       " tokens, the embedding " + std::to_string(source_.config.vocabulary_size) +
                       " rows"};
    }
    report_.config = source_.config;
    if (options_.kept.empty()) return {};
    kept_ = tokenizer_.required_by(options_.kept);
    auto pruned = tokenizer_.pruned(kept_);
    if (!pruned) return pruned.error();
    tokenizer_ = std::move(*pruned);
    report_.config.vocabulary_size = static_cast<std::uint32_t>(kept_.size());
    return {};
  }

  Status add(format::ModelWriter& writer, const SourcePart& part) {
    ConvertedTensor done;
    done.name = part.name;
    done.source = std::string(format::source_type_name(part.tensor->type));
    if (part.role != SourceRole::Matrix) {
      auto values = read_vector(source_, part);
      if (!values) return named(values.error(), checkpoint_, part.tensor->name);
      const std::uint32_t shape[] = {static_cast<std::uint32_t>(values->size())};
      return writer.add_f32(part.name, shape, *values);
    }
    const std::vector<std::uint32_t> rows = row_order(part, source_.config, kept_);
    const Precision precision = precision_of(source_, part, options_);
    RepackLoss loss;
    auto bytes = repack(*part.tensor, rows, precision, loss);
    if (!bytes) return named(bytes.error(), checkpoint_, part.tensor->name);
    done.precision = model::precision_text(precision);
    done.bytes = bytes->bytes().size();
    done.relative_error = loss.relative();
    report_.tensors.push_back(std::move(done));
    return writer.add_tensor(part.name, layout_of(precision, rows.size(), part.tensor->columns()),
                             std::as_const(*bytes).bytes());
  }

  /// Tokenizer, kept ids and metadata.
  Status add_rest(format::ModelWriter& writer) {
    if (auto status = writer.add_blob("tokenizer", tokenizer_.serialize()); !status) return status;
    if (!kept_.empty()) {
      const std::span<const TokenId> ids(kept_);
      if (auto status = writer.add_blob("kept_tokens", std::as_bytes(ids)); !status) return status;
    }
    auto config = format::parse_json(model::decoder_config_json(report_.config));
    if (!config) return config.error();
    nlohmann::json precisions = nlohmann::json::object();
    for (const ConvertedTensor& tensor : report_.tensors)
      precisions[tensor.name] = tensor.precision;
    nlohmann::json sources = nlohmann::json::array();
    for (const std::string& origin : options_.sources) {
      sources.push_back({{"name", origin}, {"licence", report_.licence}, {"share", 1}});
    }
    const nlohmann::json metadata = {
        {"architecture", model::kDecoderArchitecture},
        {"family", report_.family},
        {"name", report_.name},
        {"licence", report_.licence},
        {"sources", sources},
        {"config", *config},
        {"quantization", precisions},
        {"converted_from", format::checkpoint_kind_name(checkpoint_.kind())},
        {"generator", "laya convert"},
    };
    return writer.set_metadata(
        metadata.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  }

  const Checkpoint& checkpoint_;
  const ConvertOptions& options_;
  SourceModel source_;
  text::SubwordTokenizer tokenizer_;
  std::vector<TokenId> kept_;
  ConvertReport report_;
};

}  // namespace

Result<ConvertReport> convert(const Checkpoint& checkpoint, const ConvertOptions& options,
                              const std::string& path) {
  auto source = read_source_model(checkpoint);
  if (!source) return source.error();
  if (options.progress) options.progress("tokenizer", 0);
  auto tokenizer = read_source_tokenizer(checkpoint);
  if (!tokenizer) return tokenizer.error();
  return Converter(checkpoint, options, std::move(*source), std::move(*tokenizer)).run(path);
}

}  // namespace laya::train
