#include "train/text/mixture.h"

#include <toml++/toml.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

namespace laya::train {
namespace {

Error bad(std::string_view where, const std::string& message) {
  return Error{ErrorCode::BadArgument, std::string(where) + ": " + message};
}

// Refuses a key that is not in `known`: "wieght = 4" must not quietly mean weight 1.
Status check_keys(const toml::table& table, std::initializer_list<std::string_view> known,
                  std::string_view where, const std::string& part) {
  for (const auto& [key, value] : table) {
    if (std::find(known.begin(), known.end(), key.str()) == known.end()) {
      std::string list;
      for (std::string_view name : known) list += (list.empty() ? "" : ", ") + std::string(name);
      return bad(where, part + ": unknown key '" + std::string(key.str()) + "'; known: " + list);
    }
  }
  return {};
}

Status read_number(const toml::table& table, const char* key, double low, double high, double& out,
                   std::string_view where, const std::string& part) {
  const toml::node* node = table.get(key);
  if (node == nullptr) return {};
  const auto value = node->value<double>();
  if (!value || !(*value >= low && *value <= high)) {
    std::ostringstream text;
    text << part << ": '" << key << "' must be a number from " << low << " to " << high;
    return bad(where, text.str());
  }
  out = *value;
  return {};
}

Result<MixtureSource> read_source(const toml::table& table, std::size_t index,
                                  std::string_view where, const std::filesystem::path& root) {
  MixtureSource source;
  const auto text = [&](const char* key) { return table[key].value_or(std::string()); };
  source.name = text("name");
  const std::string part =
      "source " + (source.name.empty() ? std::to_string(index + 1) : "'" + source.name + "'");
  const auto keys = {std::string_view("name"),        std::string_view("path"),
                     std::string_view("dev"),         std::string_view("language"),
                     std::string_view("weight"),      std::string_view("max_share"),
                     std::string_view("split_lines"), std::string_view("drop_held_out"),
                     std::string_view("licence")};
  if (Status s = check_keys(table, keys, where, part); !s) return s.error();
  if (source.name.empty()) return bad(where, part + ": 'name' is missing");
  if (text("path").empty()) return bad(where, part + ": 'path' is missing");
  source.path = root / text("path");
  if (!text("dev").empty()) source.dev = root / text("dev");
  source.language = text("language");
  source.licence = text("licence");
  if (Status s = read_number(table, "weight", 1e-6, 1e6, source.weight, where, part); !s)
    return s.error();
  if (Status s = read_number(table, "max_share", 1e-6, 1.0, source.max_share, where, part); !s)
    return s.error();
  if (Status s = read_number(table, "split_lines", 0.0, 1.0, source.split_lines, where, part); !s)
    return s.error();
  if (const toml::node* drop = table.get("drop_held_out")) {
    if (!drop->is_boolean()) return bad(where, part + ": 'drop_held_out' must be true or false");
    source.drop_held_out = drop->value_or(false);
  }
  return source;
}

Result<Mixture> read_mixture(const toml::table& root, std::string_view where,
                             const std::filesystem::path& data_root) {
  Mixture mixture;
  if (Status s = check_keys(root, {"languages", "source", "held_out"}, where, "top level"); !s)
    return s.error();

  double total = 0.0;
  if (const toml::table* languages = root["languages"].as_table()) {
    for (const auto& [key, node] : *languages) {
      const auto share = node.value<double>();
      if (!share || !(*share > 0.0))
        return bad(where, "[languages] " + std::string(key.str()) + ": must be a number above 0");
      mixture.languages.push_back({std::string(key.str()), *share});
      total += *share;
    }
  }
  if (mixture.languages.empty())
    return bad(where, "[languages] is missing; write for example  en = 0.5");
  for (MixtureLanguage& language : mixture.languages) language.share /= total;

  const toml::array* sources = root["source"].as_array();
  if (sources == nullptr || sources->empty())
    return bad(where, "no [[source]]; one is needed at least");
  std::set<std::string> names;
  for (std::size_t i = 0; i < sources->size(); ++i) {
    const toml::table* table = (*sources)[i].as_table();
    if (table == nullptr) return bad(where, "source " + std::to_string(i + 1) + " is not a table");
    Result<MixtureSource> source = read_source(*table, i, where, data_root);
    if (!source) return source.error();
    const auto same = [&](const MixtureLanguage& language) {
      return language.name == source->language;
    };
    if (std::none_of(mixture.languages.begin(), mixture.languages.end(), same)) {
      return bad(where, "source '" + source->name + "': language '" + source->language +
                            "' is not in [languages]");
    }
    if (!names.insert(source->name).second)
      return bad(where, "source '" + source->name + "' is named twice");
    mixture.sources.push_back(*std::move(source));
  }
  if (const toml::array* held_out = root["held_out"].as_array()) {
    for (const toml::node& node : *held_out) {
      const auto path = node.value<std::string>();
      if (!path || path->empty()) return bad(where, "'held_out' must be a list of paths");
      mixture.held_out.push_back(data_root / *path);
    }
  }
  return mixture;
}

}  // namespace

Result<Mixture> parse_mixture(std::string_view text, std::string_view where,
                              const std::filesystem::path& data_root) {
  try {
    Result<Mixture> mixture = read_mixture(toml::parse(text), where, data_root);
    if (mixture) mixture->text = std::string(text);
    return mixture;
  } catch (const toml::parse_error& error) {
    return Error{ErrorCode::Corrupt, std::string(where) + ": line " +
                                         std::to_string(error.source().begin.line) +
                                         ": not TOML: " + std::string(error.description())};
  }
}

Result<Mixture> load_mixture(const std::filesystem::path& file,
                             const std::filesystem::path& data_root) {
  std::ifstream in(file, std::ios::binary);
  if (!in)
    return Error{ErrorCode::Io, file.string() + ": cannot be opened; give the mixture's path"};
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  return parse_mixture(text, file.string(), data_root);
}

std::vector<double> source_shares(const Mixture& mixture, const std::vector<std::size_t>& tokens) {
  const std::size_t n = mixture.sources.size();
  std::vector<double> shares(n, 0.0);
  std::vector<char> capped(n, 0);
  // Each round caps at least one more source, so n rounds are enough.
  for (std::size_t round = 0; round <= n; ++round) {
    double given = 0.0;
    for (const MixtureLanguage& language : mixture.languages) {
      double mass = 0.0;
      double left = language.share;
      for (std::size_t i = 0; i < n; ++i) {
        if (mixture.sources[i].language != language.name) continue;
        if (capped[i]) {
          left -= shares[i];
        } else {
          mass += mixture.sources[i].weight * static_cast<double>(tokens[i]);
        }
      }
      for (std::size_t i = 0; i < n; ++i) {
        if (mixture.sources[i].language != language.name || capped[i]) continue;
        const double weighted = mixture.sources[i].weight * static_cast<double>(tokens[i]);
        shares[i] = mass > 0.0 ? std::max(left, 0.0) * weighted / mass : 0.0;
      }
    }
    bool changed = false;
    for (std::size_t i = 0; i < n; ++i) {
      if (!capped[i] && shares[i] > mixture.sources[i].max_share) {
        shares[i] = mixture.sources[i].max_share;
        capped[i] = 1;
        changed = true;
      }
      given += shares[i];
    }
    if (changed) continue;
    // A language without text, or all of whose sources are capped, leaves its share to everybody.
    if (given > 0.0) {
      for (double& share : shares) share /= given;
    }
    break;
  }
  return shares;
}

}  // namespace laya::train
