#include "train/gru/run_checkpoint.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

#include "format/metadata.h"
#include "format/model_file.h"
#include "format/model_writer.h"

namespace laya::train {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

constexpr std::size_t kKept = 2;

Json config_json(const model::GruConfig& config) {
  return {{"vocabulary_size", config.vocabulary_size},
          {"embedding_dim", config.embedding_dim},
          {"hidden_dim", config.hidden_dim},
          {"layers", config.layers},
          {"heads", config.heads},
          {"head_dim", config.head_dim},
          {"window", config.window},
          {"norm_eps", config.norm_eps}};
}

Json model_metadata(const model::GruConfig& config, const ModelRecord& record) {
  const Json training =
      record.training_json.empty() ? Json::object() : Json::parse(record.training_json);
  return {{"architecture", "gru-local"},
          {"config", config_json(config)},
          {"licence", record.licence},
          {"training", training},
          {"tokenizer", {{"kind", "unigram"}, {"blob", "vocabulary"}}},
          {"generator", "laya train"}};
}

Json position_json(const BatchPosition& position) {
  Json lanes = Json::array();
  for (const LanePosition& l : position.lanes) {
    lanes.push_back({l.source, l.unit, l.offset, l.previous, l.split, l.active});
  }
  Json sources = Json::array();
  for (const SourcePosition& s : position.sources) sources.push_back({s.epoch, s.cursor, s.tokens});
  return {{"random_state", position.random_state}, {"lanes", lanes}, {"sources", sources}};
}

BatchPosition position_from(const Json& json) {
  BatchPosition position;
  json.at("random_state").get_to(position.random_state);
  for (const Json& l : json.at("lanes")) {
    position.lanes.push_back({l.at(0).get<std::uint32_t>(), l.at(1).get<std::uint32_t>(),
                              l.at(2).get<std::uint32_t>(), l.at(3).get<std::uint16_t>(),
                              l.at(4).get<std::uint8_t>(), l.at(5).get<std::uint8_t>()});
  }
  for (const Json& s : json.at("sources")) {
    position.sources.push_back(
        {s.at(0).get<std::uint64_t>(), s.at(1).get<std::uint64_t>(), s.at(2).get<std::uint64_t>()});
  }
  return position;
}

Json progress_json(const TrainProgress& p) {
  Json curve = Json::array();
  for (const DevPoint& point : p.curve) curve.push_back({point.tokens, point.bits_per_character});
  return {{"curve", curve},
          {"tokens", p.tokens},
          {"step", p.step},
          {"progress", p.progress},
          {"seconds", p.seconds},
          {"best_dev", p.best_dev},
          {"evals_since_best", p.evals_since_best},
          {"next_eval", p.next_eval}};
}

TrainProgress progress_from(const Json& json) {
  TrainProgress p;
  json.at("tokens").get_to(p.tokens);
  json.at("step").get_to(p.step);
  json.at("progress").get_to(p.progress);
  json.at("seconds").get_to(p.seconds);
  json.at("best_dev").get_to(p.best_dev);
  json.at("evals_since_best").get_to(p.evals_since_best);
  json.at("next_eval").get_to(p.next_eval);
  for (const Json& point : json.value("curve", Json::array())) {
    p.curve.push_back({point.at(0).get<std::uint64_t>(), point.at(1).get<double>()});
  }
  return p;
}

std::string first_moment_name(const std::string& name) { return "adam.first." + name; }
std::string second_moment_name(const std::string& name) { return "adam.second." + name; }
std::string carry_name(std::size_t layer, const char* part) {
  return "carry." + std::to_string(layer) + "." + part;
}

Status add_weights(format::ModelWriter& writer, const GruParameters& parameters,
                   const ModelRecord& record) {
  if (Status s = writer.add_blob("vocabulary", record.vocabulary); !s) return s;
  for (const Parameter& tensor : parameters.tensors()) {
    if (Status s = writer.add_f32(tensor.name, tensor.shape, tensor.value); !s) return s;
  }
  return {};
}

Status add_moments(format::ModelWriter& writer, const GruParameters& parameters) {
  for (const Parameter& tensor : parameters.tensors()) {
    if (Status s =
            writer.add_f32(first_moment_name(tensor.name), tensor.shape, tensor.first_moment);
        !s)
      return s;
    if (Status s =
            writer.add_f32(second_moment_name(tensor.name), tensor.shape, tensor.second_moment);
        !s)
      return s;
  }
  return {};
}

Status add_carry(format::ModelWriter& writer, const GruCarry& carry) {
  for (std::size_t l = 0; l < carry.layers.size(); ++l) {
    const GruCarry::Layer& layer = carry.layers[l];
    const std::uint32_t hidden[] = {static_cast<std::uint32_t>(layer.hidden.size())};
    if (Status s = writer.add_f32(carry_name(l, "hidden"), hidden, layer.hidden); !s) return s;
    if (!layer.past_kv.empty()) {
      const std::uint32_t past[] = {static_cast<std::uint32_t>(layer.past_kv.size())};
      if (Status s = writer.add_f32(carry_name(l, "past_kv"), past, layer.past_kv); !s) return s;
    }
    format::Layout layout;
    layout.element = format::Element::I32;
    layout.rank = 1;
    layout.shape[0] = static_cast<std::uint32_t>(layer.history.size());
    if (Status s = writer.add_tensor(carry_name(l, "history"), layout,
                                     std::as_bytes(std::span(layer.history)));
        !s)
      return s;
  }
  return {};
}

template <typename T>
Status read_into(const format::ModelFile& file, const std::string& name, format::Element element,
                 std::span<const std::uint32_t> shape, std::vector<T>& out) {
  Result<format::TensorView> tensor = file.tensor(name, element, shape);
  if (!tensor) return tensor.error();
  const std::span<const T> values = tensor->as<T>();
  out.assign(values.begin(), values.end());
  return {};
}

Status read_arrays(const format::ModelFile& file, RunCheckpoint& checkpoint) {
  for (Parameter& tensor : checkpoint.parameters.tensors()) {
    const std::span<const std::uint32_t> shape = tensor.shape;
    if (Status s = read_into(file, tensor.name, format::Element::F32, shape, tensor.value); !s)
      return s;
    if (Status s = read_into(file, first_moment_name(tensor.name), format::Element::F32, shape,
                             tensor.first_moment);
        !s)
      return s;
    if (Status s = read_into(file, second_moment_name(tensor.name), format::Element::F32, shape,
                             tensor.second_moment);
        !s) {
      return s;
    }
  }
  for (std::size_t l = 0; l < checkpoint.carry.layers.size(); ++l) {
    GruCarry::Layer& layer = checkpoint.carry.layers[l];
    const auto shape_of = [](const auto& values) {
      return std::vector{static_cast<std::uint32_t>(values.size())};
    };
    if (Status s = read_into(file, carry_name(l, "hidden"), format::Element::F32,
                             shape_of(layer.hidden), layer.hidden);
        !s)
      return s;
    if (!layer.past_kv.empty()) {
      const auto shape = shape_of(layer.past_kv);
      if (Status s =
              read_into(file, carry_name(l, "past_kv"), format::Element::F32, shape, layer.past_kv);
          !s)
        return s;
    }
    const auto shape = shape_of(layer.history);
    if (Status s =
            read_into(file, carry_name(l, "history"), format::Element::I32, shape, layer.history);
        !s)
      return s;
  }
  return {};
}

}  // namespace

Result<fs::path> save_checkpoint(const RunCheckpoint& checkpoint, const ModelRecord& record) {
  const fs::path& run_dir = checkpoint.options.run_dir;
  std::error_code code;
  fs::create_directories(run_dir, code);
  if (code)
    return Error{ErrorCode::Io, run_dir.string() + ": cannot be created: " + code.message()};
  char name[64];
  std::snprintf(name, sizeof(name), "checkpoint-%012llu.laya",
                static_cast<unsigned long long>(checkpoint.progress.tokens));
  const fs::path path = run_dir / name;

  Result<format::ModelWriter> writer = format::ModelWriter::create(path.string());
  if (!writer) return writer.error();
  if (Status s = add_weights(*writer, checkpoint.parameters, record); !s) return s.error();
  if (Status s = add_moments(*writer, checkpoint.parameters); !s) return s.error();
  if (Status s = add_carry(*writer, checkpoint.carry); !s) return s.error();
  Json metadata = model_metadata(checkpoint.parameters.config(), record);
  Json sources = Json::array();
  for (const SourceRecord& source : checkpoint.sources)
    sources.push_back({source.name, source.checksum});
  metadata["resume"] = {{"options", Json::parse(options_to_json(checkpoint.options))},
                        {"progress", progress_json(checkpoint.progress)},
                        {"position", position_json(checkpoint.position)},
                        {"sources", sources}};
  if (Status s = writer->set_metadata(metadata.dump()); !s) return s.error();
  if (Status s = writer->finish(); !s) return s.error();

  const std::vector<fs::path> all = list_checkpoints(run_dir);
  for (std::size_t i = kKept; i < all.size(); ++i) fs::remove(all[i], code);
  return path;
}

std::vector<fs::path> list_checkpoints(const fs::path& run_dir) {
  std::vector<fs::path> found;
  std::error_code code;
  for (fs::directory_iterator it(run_dir, code), end; !code && it != end; it.increment(code)) {
    const std::string name = it->path().filename().string();
    if (name.starts_with("checkpoint-") && name.ends_with(".laya")) found.push_back(it->path());
  }
  std::sort(found.begin(), found.end(), std::greater<>());
  return found;
}

Result<RunCheckpoint> load_checkpoint(const fs::path& path) {
  Result<format::ModelFile> file = format::ModelFile::open(path.string(), format::Verify::Full);
  if (!file) return file.error();
  Result<Json> metadata = format::metadata(*file);
  if (!metadata) return metadata.error();
  try {
    if (!metadata->contains("resume")) {
      return Error{ErrorCode::BadArgument,
                   path.string() + ": a model, but no checkpoint; resume needs checkpoint-*.laya"};
    }
    const Json& resume = metadata->at("resume");
    Result<TrainOptions> options = options_from_json(resume.at("options").dump());
    if (!options)
      return Error{options.error().code, path.string() + ": " + options.error().message};
    if (Status s = options->config.validate(); !s)
      return Error{ErrorCode::Corrupt, path.string() + ": " + s.error().message};
    if (Status s = options->validate(); !s)
      return Error{ErrorCode::Corrupt, path.string() + ": " + s.error().message};
    RunCheckpoint checkpoint{*options,
                             progress_from(resume.at("progress")),
                             position_from(resume.at("position")),
                             {},
                             GruCarry::zero(options->config, options->lanes),
                             GruParameters(options->config)};
    for (const Json& source : resume.at("sources")) {
      checkpoint.sources.push_back(
          {source.at(0).get<std::string>(), source.at(1).get<std::uint64_t>()});
    }
    if (Status s = read_arrays(*file, checkpoint); !s) return s.error();
    return checkpoint;
  } catch (const Json::exception& error) {
    return Error{ErrorCode::Corrupt, path.string() + ": metadata 'resume': " + error.what()};
  }
}

Result<RunCheckpoint> load_newest_checkpoint(const fs::path& run_dir) {
  Error last{ErrorCode::Io,
             run_dir.string() + ": no checkpoint-*.laya in it; start a run without --resume"};
  for (const fs::path& path : list_checkpoints(run_dir)) {
    Result<RunCheckpoint> checkpoint = load_checkpoint(path);
    if (checkpoint) return checkpoint;
    last = checkpoint.error();
  }
  return last;
}

Status export_model(const GruParameters& parameters, const ModelRecord& record,
                    const fs::path& path) {
  Result<format::ModelWriter> writer = format::ModelWriter::create(path.string());
  if (!writer) return writer.error();
  if (Status s = add_weights(*writer, parameters, record); !s) return s;
  if (Status s = writer->set_metadata(model_metadata(parameters.config(), record).dump()); !s)
    return s;
  return writer->finish();
}

Status export_checkpoint(const fs::path& checkpoint_path, const fs::path& path) {
  Result<RunCheckpoint> checkpoint = load_checkpoint(checkpoint_path);
  if (!checkpoint) return checkpoint.error();
  Result<format::ModelFile> file = format::ModelFile::open(checkpoint_path.string());
  if (!file) return file.error();
  Result<std::span<const std::byte>> vocabulary = file->blob("vocabulary");
  if (!vocabulary) return vocabulary.error();
  Result<Json> metadata = format::metadata(*file);
  if (!metadata) return metadata.error();
  const ModelRecord record{*vocabulary, metadata->value("licence", std::string()),
                           metadata->value("training", Json::object()).dump()};
  return export_model(checkpoint->parameters, record, path);
}

}  // namespace laya::train
