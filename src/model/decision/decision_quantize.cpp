#include "model/decision/decision_quantize.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "format/metadata.h"
#include "format/model_writer.h"
#include "model/decision/decision_model.h"

namespace laya::model {

Status quantize_decision_file(const format::ModelFile& file, const std::string& path,
                              const QuantizeRecipe& recipe) {
  const auto config = read_decision_config(file);
  if (!config) {
    return config.error();
  }
  const std::vector<DecisionTensor> tensors = decision_tensors(*config);
  std::vector<std::string> names;
  std::vector<std::string> matrices;
  for (const DecisionTensor& tensor : tensors) {
    names.push_back(tensor.name);
    const format::Entry* entry = file.find(tensor.name);
    if (entry != nullptr && format::is_packed(entry->layout.element)) {
      return Error{ErrorCode::BadArgument, file.path() + ": tensor " + tensor.name +
                                               " is quantised already; start from the fp32 file"};
    }
    if (tensor.role == DecisionRole::Matrix) {
      matrices.push_back(tensor.name);
    }
  }
  if (Status status = check_recipe(recipe, matrices); !status) {
    return status;
  }
  const auto weights = load_decision_weights(file, *config);
  if (!weights) {
    return weights.error();
  }
  auto metadata = format::metadata(file);
  if (!metadata) {
    return metadata.error();
  }
  auto writer = format::ModelWriter::create(path);
  if (!writer) {
    return writer.error();
  }
  nlohmann::json kinds = nlohmann::json::object();
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const DecisionTensor& tensor = tensors[i];
    const bool is_matrix = tensor.role == DecisionRole::Matrix;
    const Precision& precision = recipe.of(tensor.name);
    if (Status status =
            is_matrix ? add_matrix(*writer, tensor.name, tensor.shape, (*weights)[i], precision)
                      : writer->add_f32(tensor.name, tensor.shape, (*weights)[i]);
        !status) {
      return status;
    }
    if (is_matrix) {
      kinds[tensor.name] = precision_text(precision);
    }
  }
  if (Status status = copy_other_entries(file, names, *writer); !status) {
    return status;
  }
  (*metadata)["quantization"] = std::move(kinds);
  if (Status status = writer->set_metadata(metadata->dump()); !status) {
    return status;
  }
  return writer->finish();
}

}  // namespace laya::model
