#include "convert/convert_measure.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "convert/convert_calibrate.h"
#include "convert/convert_forward.h"
#include "simd/packing.h"

namespace laya::convert {
namespace {

using format::ModelFile;

/// A sequence of the file's rows, and the same as original ids.
struct Sequences {
  std::vector<std::vector<TokenId>> rows, originals;
  std::size_t tokens = 0;
};

Sequences sequences_of(const OpenedDecoder& opened, std::span<const std::string_view> texts,
                       std::size_t contexts) {
  Sequences sequences;
  for (auto& row_ids : encode_texts(opened.tokenizer, texts)) {
    if (sequences.tokens >= contexts) break;
    row_ids.resize(std::min(row_ids.size(), contexts - sequences.tokens));
    std::vector<TokenId> ids;
    for (const TokenId row : row_ids) ids.push_back(opened.original(row));
    sequences.tokens += ids.size();
    sequences.originals.push_back(std::move(ids));
    sequences.rows.push_back(std::move(row_ids));
  }
  return sequences;
}

/// The file's own matrix, whatever it is stored as: what convert() writes is always packed.
Status read_from_file(const ModelFile& file, std::string_view name, std::span<float> out) {
  auto tensor = file.tensor(name);
  if (!tensor) return tensor.error();
  const format::Layout& layout = tensor->layout;
  simd::PackedShape shape{layout.shape[0], layout.shape[1], simd::WeightType::Fp32, layout.group,
                          layout.has_minima ? simd::Minima::PerGroup : simd::Minima::None};
  switch (layout.element) {
    case format::Element::PackedInt4:
      shape.type = simd::WeightType::Int4;
      break;
    case format::Element::PackedInt8:
      shape.type = simd::WeightType::Int8;
      break;
    case format::Element::PackedF16:
      shape.type = simd::WeightType::Fp16;
      break;
    case format::Element::PackedF32:
      break;
    default:
      return Error{ErrorCode::Corrupt, file.path() + ": tensor " + std::string(name) + " is " +
                                           std::string(format::element_name(layout.element)) +
                                           ", no packed matrix"};
  }
  auto view = simd::view_packed(shape, tensor->data);
  if (!view) return view.error();
  return simd::unpack(*view, out);
}

double relative_difference(std::span<const float> a, std::span<const float> b) {
  double off = 0, size = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    off += (static_cast<double>(a[i]) - b[i]) * (a[i] - b[i]);
    size += static_cast<double>(a[i]) * a[i];
  }
  return size > 0 ? std::sqrt(off / size) : 0;
}

/// Both streams through all layers; fills in the worst layer.
Status run_layers(const SourceModel& source, const ModelFile& file, SourcePass& exact,
                  SourcePass& ours, const MeasureOptions& options, ConversionLoss& loss) {
  if (auto status = exact.embed(); !status) return status;
  if (auto status = ours.embed(); !status) return status;
  const MatrixReader from_source = [&](const SourcePart& part, std::span<const float>,
                                       std::span<float> out) {
    return read_matrix(source, part, out);
  };
  const MatrixReader from_file = [&](const SourcePart& part, std::span<const float>,
                                     std::span<float> out) {
    return read_from_file(file, part.name, out);
  };
  double before = 0, most = -1;
  for (std::uint32_t l = 0; l < source.config.layers; ++l) {
    if (options.cancel != nullptr && options.cancel->cancelled()) {
      return Error{ErrorCode::Cancelled, "interrupted"};
    }
    if (options.progress) options.progress(0.8 * l / source.config.layers);
    if (auto status = exact.layer(l, from_source); !status) return status;
    if (auto status = ours.layer(l, from_file); !status) return status;
    const double after = relative_difference(exact.stream(), ours.stream());
    if (after - before > most) {
      most = after - before;
      loss.worst_layer = l;
      loss.worst_layer_error = after;
    }
    before = after;
  }
  return {};
}

Status compare_scores(const SourceModel& source, const ModelFile& file, const OpenedDecoder& opened,
                      const Sequences& sequences, SourcePass& exact, SourcePass& ours,
                      const MeasureOptions& options, ConversionLoss& loss) {
  const std::size_t v = opened.decoder->config().vocabulary_size, d = source.config.hidden_dim;
  std::vector<std::size_t> chosen(sequences.tokens);
  for (std::size_t i = 0; i < chosen.size(); ++i) chosen[i] = i;
  const SourcePart* own = source.find("head.weight");
  const SourcePart& head = own != nullptr ? *own : *source.find("embedding.weight");
  std::vector<float> exact_scores, our_scores;
  auto status = exact.scores(
      chosen, v,
      [&](std::size_t row, std::span<float> out) {
        return format::read_rows(*head.tensor, opened.original(static_cast<TokenId>(row)), 1, out);
      },
      exact_scores);
  if (!status) return status;
  {
    std::vector<float> numbers(v * d);
    const char* name = file.has("head.weight") ? "head.weight" : "embedding.weight";
    if (status = read_from_file(file, name, numbers); !status) return status;
    status = ours.scores(
        chosen, v,
        [&](std::size_t row, std::span<float> out) {
          std::ranges::copy(std::span(numbers).subspan(row * d, d), out.begin());
          return Status();
        },
        our_scores);
    if (!status) return status;
  }
  const auto row_of = [&](const std::vector<float>& scores, std::size_t i) {
    return std::span(scores).subspan(i * v, v);
  };
  ParityMeter weights, run;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    weights.add(row_of(exact_scores, i), row_of(our_scores, i));
  }
  if (options.progress) options.progress(0.9);
  const auto workspace = opened.decoder->make_workspace(model::Threads::Two);
  std::size_t at = 0;
  for (const auto& sequence : sequences.rows) {
    const std::vector<std::uint8_t> wanted(sequence.size(), 1);
    status = run_over(
        *opened.decoder, *workspace, sequence, wanted,
        [&](std::size_t i, std::span<const float> scores) {
          run.add(row_of(exact_scores, at + i), scores);
        },
        options.cancel);
    if (!status) return status;
    at += sequence.size();
  }
  loss.weights = weights.result();
  loss.run = run.result();
  return {};
}

}  // namespace

Result<ConversionLoss> measure_conversion(const format::Checkpoint& checkpoint,
                                          const std::string& path,
                                          std::span<const std::string_view> texts,
                                          const MeasureOptions& options) {
  auto source = read_source_model(checkpoint);
  if (!source) return source.error();
  const auto file = ModelFile::open(path);
  if (!file) return file.error();
  auto opened = open_decoder(*file);
  if (!opened) return opened.error();
  const Sequences sequences = sequences_of(*opened, texts, options.contexts);
  if (sequences.tokens == 0) return Error{ErrorCode::BadArgument, "no text to measure on"};
  SourcePass exact(*source, sequences.originals), ours(*source, sequences.originals);
  ConversionLoss loss;
  if (auto status = run_layers(*source, *file, exact, ours, options, loss); !status) {
    return status.error();
  }
  if (auto status = compare_scores(*source, *file, *opened, sequences, exact, ours, options, loss);
      !status) {
    return status.error();
  }
  if (options.progress) options.progress(1);
  return loss;
}

}  // namespace laya::convert
