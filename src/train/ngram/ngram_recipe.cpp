#include "train/ngram/ngram_recipe.h"

#include <toml++/toml.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>
#include <vector>

#include "model/ngram/ngram_layout.h"

namespace laya::train {
namespace {

/// Reads one table of the file, key by key, and remembers the first thing that is wrong.
class TableReader {
 public:
  TableReader(const toml::table& table, std::string name, std::string_view where)
      : table_(table), name_(std::move(name)), where_(where) {}

  template <typename T>
  void number(const char* key, double low, double high, T* out) {
    known_.emplace_back(key);
    const toml::node* node = table_.get(key);
    if (node == nullptr) {
      return;
    }
    check(key, node->value<double>(), low, high, out);
  }

  template <std::size_t N>
  void numbers(const char* key, double low, double high, std::array<double, N>* out) {
    known_.emplace_back(key);
    const toml::node* node = table_.get(key);
    if (node == nullptr) {
      return;
    }
    const toml::array* array = node->as_array();
    if (array == nullptr || array->size() != N) {
      fail(std::string("'") + key + "' must hold " + std::to_string(N) + " numbers");
      return;
    }
    for (std::size_t i = 0; i < N; ++i) {
      check(key, array->get(i)->value<double>(), low, high, &(*out)[i]);
    }
  }

  void strings(const char* key, std::vector<std::string>* out) {
    known_.emplace_back(key);
    const toml::node* node = table_.get(key);
    if (node == nullptr) {
      return;
    }
    const toml::array* array = node->as_array();
    for (std::size_t i = 0; array != nullptr && i < array->size(); ++i) {
      if (const auto value = array->get(i)->value<std::string>()) {
        out->push_back(*value);
      }
    }
    if (array == nullptr || out->size() != array->size()) {
      fail(std::string("'") + key + "' must be a list of strings");
    }
  }

  const toml::table* table(const char* key) {
    known_.emplace_back(key);
    const toml::node* node = table_.get(key);
    if (node != nullptr && !node->is_table()) {
      fail(std::string("'") + key + "' must be a table");
    }
    return node == nullptr ? nullptr : node->as_table();
  }

  const toml::array* tables(const char* key) {
    known_.emplace_back(key);
    const toml::node* node = table_.get(key);
    if (node != nullptr && !node->is_array_of_tables()) {
      fail(std::string("'") + key + "' must be a list of tables");
    }
    return node == nullptr ? nullptr : node->as_array();
  }

  /// To be asked when every key has been read.
  Status status() {
    for (const auto& [key, value] : table_) {
      if (std::find(known_.begin(), known_.end(), key.str()) == known_.end()) {
        fail("unknown key '" + std::string(key.str()) + "'");
      }
    }
    if (!message_.empty()) {
      return Error{ErrorCode::BadArgument, message_};
    }
    return {};
  }

 private:
  template <typename T>
  void check(const char* key, const std::optional<double>& value, double low, double high, T* out) {
    if (!value || !(*value >= low && *value <= high)) {
      std::ostringstream text;
      text << "'" << key << "' must be a number from " << low << " to " << high;
      fail(text.str());
      return;
    }
    *out = static_cast<T>(*value);
  }

  void fail(const std::string& what) {
    if (message_.empty()) {
      message_ = std::string(where_) + ": " + (name_.empty() ? "" : name_ + ": ") + what;
    }
  }

  const toml::table& table_;
  std::string name_;
  std::string_view where_;
  std::vector<std::string> known_;
  std::string message_;
};

Status read_smoothing(const toml::array& levels, const std::string& name, std::string_view where,
                      std::uint32_t order, std::array<NgramSmoothing, 6>* out) {
  if (levels.size() != order) {
    return Error{ErrorCode::BadArgument,
                 std::string(where) + ": '" + name + "' must stand once for each of the " +
                     std::to_string(order) + " orders, shortest first; it stands " +
                     std::to_string(levels.size()) + " times"};
  }
  for (std::size_t k = 0; k < levels.size(); ++k) {
    NgramSmoothing& smoothing = (*out)[k];
    TableReader reader(*levels.get(k)->as_table(), name + " " + std::to_string(k + 1), where);
    reader.numbers("discount", 0.0, 3.0, &smoothing.discount);
    reader.number("strength", 0.0, 1e6, &smoothing.strength);
    reader.number("spread", 0.0, 100.0, &smoothing.spread);
    reader.number("scale", 0.0, 1.0, &smoothing.scale);
    reader.number("continuation", 0.0, 1.0, &smoothing.continuation);
    if (Status status = reader.status(); !status) {
      return status;
    }
  }
  return {};
}

Status read_sources(const toml::table& sources, std::string_view where, NgramRecipe* recipe) {
  for (const auto& [name, node] : sources) {
    const std::string key(name.str());
    NgramSourceRecipe source;
    if (!node.is_table()) {
      return Error{ErrorCode::BadArgument, std::string(where) + ": source '" + key +
                                               "' must be a table, like { weight = 2 }"};
    }
    TableReader reader(*node.as_table(), "source '" + key + "'", where);
    reader.number("weight", 1e-6, 1e6, &source.weight);
    reader.number("cased", 0.0, 1.0, &source.cased);
    reader.number("part", 1e-3, 1.0, &source.part);
    if (Status status = reader.status(); !status) {
      return status;
    }
    recipe->sources.emplace(key, source);
  }
  return {};
}

}  // namespace

Result<NgramRecipe> parse_ngram_recipe(std::string_view text, std::string_view where) {
  toml::table root;
  try {
    root = toml::parse(text);
  } catch (const toml::parse_error& error) {
    std::ostringstream at;
    at << where << ": line " << error.source().begin.line << ": " << error.description();
    return Error{ErrorCode::Corrupt, at.str()};
  }
  NgramRecipe recipe;
  recipe.text = text;
  TableReader reader(root, "", where);
  reader.number("order", 2, model::kNgramMaxOrder, &recipe.count.order);
  reader.number("min_context", 0, 1000, &recipe.count.min_context);
  reader.strings("avoid", &recipe.avoid);
  const toml::table* lexicon = reader.table("lexicon");
  const toml::table* prune = reader.table("prune");
  const toml::array* smoothing = reader.tables("smoothing");
  const toml::array* smoothing_han = reader.tables("smoothing_han");
  const toml::table* sources = reader.table("sources");
  if (Status status = reader.status(); !status) {
    return status.error();
  }
  if (lexicon != nullptr) {
    TableReader part(*lexicon, "lexicon", where);
    part.number("min_weight", 0.0, 1e6, &recipe.lexicon.min_weight);
    part.number("min_han_weight", 0.0, 1e6, &recipe.lexicon.min_han_weight);
    part.number("max_common", 16, model::kNgramMaxCommon, &recipe.lexicon.max_common);
    part.number("max_units", 16, model::kNgramMaxUnits, &recipe.lexicon.max_units);
    if (Status status = part.status(); !status) {
      return status.error();
    }
  }
  if (prune != nullptr) {
    TableReader part(*prune, "prune", where);
    part.number("words", 0.0, 1.0, &recipe.estimate.prune_words);
    part.number("han", 0.0, 1.0, &recipe.estimate.prune_han);
    part.number("long_words", 1.0, 1e6, &recipe.estimate.prune_long_words);
    if (Status status = part.status(); !status) {
      return status.error();
    }
  }
  const std::uint32_t order = recipe.count.order;
  NgramEstimateOptions& estimate = recipe.estimate;
  if (smoothing != nullptr) {
    if (Status s = read_smoothing(*smoothing, "smoothing", where, order, &estimate.smoothing); !s) {
      return s.error();
    }
    estimate.smoothing_han = estimate.smoothing;
  }
  if (smoothing_han != nullptr) {
    if (Status s =
            read_smoothing(*smoothing_han, "smoothing_han", where, order, &estimate.smoothing_han);
        !s) {
      return s.error();
    }
  }
  if (sources != nullptr) {
    if (Status status = read_sources(*sources, where, &recipe); !status) {
      return status.error();
    }
  }
  if (recipe.sources.empty()) {
    return Error{ErrorCode::BadArgument, std::string(where) + ": [sources] names none"};
  }
  return recipe;
}

Result<NgramRecipe> load_ngram_recipe(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) {
    return Error{ErrorCode::Io, file.string() + ": cannot be read"};
  }
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  return parse_ngram_recipe(text, file.string());
}

}  // namespace laya::train
