#include "convert/convert.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "convert/convert_calibrate.h"
#include "convert/convert_forward.h"
#include "convert/convert_repack.h"
#include "convert/convert_source.h"
#include "convert/convert_texts.h"
#include "convert/convert_tokenizer.h"
#include "format/metadata.h"
#include "format/model_writer.h"
#include "text/subword_tokenizer.h"

namespace laya::convert {
namespace {

using format::Checkpoint;
using format::SourceTensor;
using model::Precision;
using simd::WeightType;

/// Below this many parameters 4 bits cost more than they save (design: small models ship as int8).
constexpr std::uint64_t kInt4Parameters = 30'000'000;

/// From so many weights on, a head is read in 4 bits: it would be half of a pass otherwise. Gemma 3
/// 270M with 89,772 rows: 110 MB a token instead of 135, for 0.018 nats.
constexpr std::uint64_t kLargeHead = 40'000'000;

constexpr Precision kInt4{WeightType::Int4, 32, simd::Minima::PerGroup};
constexpr Precision kInt8{WeightType::Int8, 32, simd::Minima::None};
constexpr Precision kFp16{WeightType::Fp16, 64, simd::Minima::None};

Error named(Error error, const Checkpoint& checkpoint, std::string_view tensor) {
  error.message = checkpoint.path() + ": tensor " + std::string(tensor) + ": " + error.message;
  return error;
}

/// What a matrix that makes no logits is stored as, if the policy alone decides.
Precision by_policy(const SourceModel& source, const SourcePart& part,
                    const ConvertOptions& options) {
  if (options.policy == WeightPolicy::Fixed) return options.precision;
  const std::optional<Precision> exact = exact_precision(*part.tensor);
  const std::optional<format::GroupScheme> scheme = format::group_scheme(*part.tensor);
  if (options.policy == WeightPolicy::Source) return exact ? *exact : scheme ? kInt8 : kFp16;
  if (exact && exact->type == WeightType::Int4) return *exact;
  const Precision wide = exact ? *exact : kInt8;
  if (source.config.parameter_count() < kInt4Parameters) return wide;
  // Values are the smallest matrices and the most sensitive ones: 4 bits there alone cost 0.042
  // nats in Gemma 3 270M, 4 bits in q and k, five times as large, 0.013. What somebody kept at 6 or
  // more bits, they kept for a reason (0.040 for half of the down projections).
  const bool sensitive = part.name.ends_with("attn.v.weight") || (scheme && scheme->bits >= 6);
  return sensitive ? wide : kInt4;
}

bool is_rows_of_tokens(const SourcePart& part) {
  return part.name == "embedding.weight" || part.name == "head.weight";
}

Precision precision_of(const SourceModel& source, const SourcePart& part,
                       const ConvertOptions& options) {
  const auto exception = options.exceptions.find(part.name);
  if (exception != options.exceptions.end()) return exception->second;
  if (is_rows_of_tokens(part) && options.policy == WeightPolicy::Auto) {
    const auto exact = exact_precision(*part.tensor);
    return exact ? *exact : kInt8;
  }
  return by_policy(source, part, options);
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
    for (const auto& [name, precision] : options_.exceptions) {
      const SourcePart* part = source_.find(name);
      if (part == nullptr || part->role != SourceRole::Matrix) {
        return Error{ErrorCode::BadArgument,
                     "no matrix is called '" + name +
                         "'; they are called embedding.weight, "
                         "layers.0.attn.q.weight, layers.0.ffn.down.weight and so on"};
      }
    }
    if (auto status = prune(); !status) return status.error();
    if (auto status = quantise_for_text(); !status) return status.error();
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
    whole_tokenizer_ = std::move(tokenizer_);
    tokenizer_ = std::move(*pruned);
    report_.config.vocabulary_size = static_cast<std::uint32_t>(kept_.size());
    return {};
  }

  /// What makes logits, as the options or, for a large one, the policy want it.
  std::optional<Precision> wanted_head() const {
    if (options_.head || options_.policy != WeightPolicy::Auto) return options_.head;
    const std::uint64_t weights =
        std::uint64_t{report_.config.vocabulary_size} * source_.config.hidden_dim;
    return weights > kLargeHead ? std::optional(kInt4) : std::nullopt;
  }

  Precision precision(const SourcePart& part) const {
    const bool is_named = options_.exceptions.contains(part.name);
    if (part.name == "head.weight" && !is_named) {
      if (const auto wanted = wanted_head()) return *wanted;
    }
    return precision_of(source_, part, options_);
  }

  /// The head's own precision, where it is not to be the embedding's.
  std::optional<Precision> own_head() const {
    const std::optional<Precision> wanted = wanted_head();
    if (!source_.config.tied_head ||
        wanted == precision_of(source_, *source_.find("embedding.weight"), options_)) {
      return std::nullopt;
    }
    return wanted;
  }

  /// Quantises what is to be int4 for the inputs that it meets on the built-in text.
  Status quantise_for_text() {
    CalibrateOptions calibration;
    calibration.precision_of = [&](const SourcePart& part) { return precision(part); };
    calibration.cancel = options_.cancel;
    if (options_.progress) {
      calibration.progress = [&](double done) { options_.progress("quantising", done); };
    }
    const SourcePart* head = source_.find("head.weight");
    const SourcePart& rows = head != nullptr ? *head : *source_.find("embedding.weight");
    calibration.head =
        head != nullptr ? precision_of(source_, *head, options_) : own_head().value_or(kInt8);
    if (calibration.head.type == WeightType::Int4 &&
        source_.config.hidden_dim % calibration.head.group == 0 &&
        exact_precision(*rows.tensor) != calibration.head) {
      calibration.head_rows = row_order(rows, source_.config, kept_);
    }
    std::vector<std::string_view> lines(options_.texts.begin(), options_.texts.end());
    if (lines.empty()) lines = lines_of(calibration_text());
    auto matrices =
        calibrate(source_, encode_texts(whole_tokenizer_ ? *whole_tokenizer_ : tokenizer_, lines),
                  calibration);
    if (!matrices) {
      return Error{matrices.error().code, checkpoint_.path() + ": " + matrices.error().message};
    }
    calibrated_ = std::move(*matrices);
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
    if (const auto found = calibrated_.find(part.name); found != calibrated_.end()) {
      return add_calibrated(writer, part, found->second);
    }
    const std::vector<std::uint32_t> rows = row_order(part, source_.config, kept_);
    const Precision stored = precision(part);
    RepackLoss loss;
    auto bytes = repack(*part.tensor, rows, stored, loss);
    if (!bytes) return named(bytes.error(), checkpoint_, part.tensor->name);
    done.precision = model::precision_text(stored);
    done.bytes = bytes->bytes().size();
    done.relative_error = loss.relative();
    report_.tensors.push_back(std::move(done));
    return writer.add_tensor(part.name, layout_of(stored, rows.size(), part.tensor->columns()),
                             std::as_const(*bytes).bytes());
  }

  Status add_calibrated(format::ModelWriter& writer, const SourcePart& part,
                        const CalibratedMatrix& matrix) {
    ConvertedTensor done;
    done.name = part.name;
    done.source = std::string(format::source_type_name(part.tensor->type));
    done.precision = model::precision_text(matrix.precision);
    done.bytes = matrix.bytes.bytes().size();
    done.relative_error = matrix.weight_error;
    done.output_error = matrix.output_error;
    report_.tensors.push_back(std::move(done));
    const std::size_t rows =
        is_rows_of_tokens(part) ? report_.config.vocabulary_size : part.tensor->rows();
    return writer.add_tensor(part.name, layout_of(matrix.precision, rows, part.tensor->columns()),
                             matrix.bytes.bytes());
  }

  /// A tied head at another precision than the embedding is a tensor of its own.
  Status add_own_head(format::ModelWriter& writer) {
    const std::optional<Precision> precision = own_head();
    if (!precision) return {};
    SourcePart head = *source_.find("embedding.weight");
    head.name = "head.weight";
    if (const auto found = calibrated_.find(head.name); found != calibrated_.end()) {
      return add_calibrated(writer, head, found->second);
    }
    return add(writer, head);
  }

  /// Tokenizer, kept ids and metadata.
  Status add_rest(format::ModelWriter& writer) {
    if (auto status = add_own_head(writer); !status) return status;
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
  std::optional<text::SubwordTokenizer> whole_tokenizer_;  ///< before pruning
  std::vector<TokenId> kept_;
  CalibratedMatrices calibrated_;
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

}  // namespace laya::convert
