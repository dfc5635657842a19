#include "format/metadata.h"

#include <cmath>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace laya::format {
namespace {

/// Byte of the first bracket that goes deeper than `limit`, or npos. A scan over the text before
/// parsing, so that the parser never builds (and never has to take down) a deeper value.
std::size_t too_deep_at(std::string_view text, std::uint32_t limit) {
  std::uint32_t depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') {
        ++i;
      } else if (c == '"') {
        in_string = false;
      }
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > limit) {
        return i;
      }
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  return std::string_view::npos;
}

Error corrupt(std::string message) { return {ErrorCode::Corrupt, std::move(message)}; }

Error wrong(std::string_view what, std::string_view key, std::string problem) {
  return corrupt(std::string(what) + ": \"" + std::string(key) + "\" " + std::move(problem));
}

const nlohmann::json* member(const nlohmann::json& object, std::string_view key) {
  if (!object.is_object()) {
    return nullptr;
  }
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

/// Learns where parsing stops (nlohmann reports it only through exceptions or a SAX handler) and
/// accepts everything else.
class PlaceOfError final : public nlohmann::json_sax<nlohmann::json> {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override {
    keys_.emplace_back();
    return true;
  }
  bool key(string_t& name) override {
    duplicate_ = !keys_.back().insert(name).second;
    return !duplicate_;
  }
  bool end_object() override {
    keys_.pop_back();
    return true;
  }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    position_ = position;
    return false;
  }

  std::size_t position() const { return position_; }
  bool duplicate() const { return duplicate_; }

 private:
  std::vector<std::set<std::string>> keys_;
  std::size_t position_ = 0;
  bool duplicate_ = false;
};

}  // namespace

Result<nlohmann::json> parse_json(std::string_view text, std::uint32_t max_depth) {
  if (const std::size_t at = too_deep_at(text, max_depth); at != std::string_view::npos) {
    return corrupt("JSON nested deeper than " + std::to_string(max_depth) + " levels at byte " +
                   std::to_string(at));
  }
  PlaceOfError handler;
  if (!nlohmann::json::sax_parse(text, &handler)) {
    return corrupt(handler.duplicate() ? std::string("JSON object with a key twice")
                                       : "not JSON at byte " + std::to_string(handler.position()));
  }
  nlohmann::json value = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (value.is_discarded()) {
    return corrupt("not JSON");
  }
  return value;
}

Result<nlohmann::json> metadata(const ModelFile& file) {
  Result<nlohmann::json> parsed = parse_json(file.metadata_json());
  if (!parsed) {
    return corrupt(file.path() + ": " + std::string(kMetadataName) + ": " + parsed.error().message);
  }
  return parsed;
}

Result<std::uint64_t> json_integer(const nlohmann::json& object, std::string_view key,
                                   std::uint64_t low, std::uint64_t high, std::string_view what) {
  const nlohmann::json* value = member(object, key);
  if (value == nullptr || !value->is_number_integer()) {
    return wrong(what, key, "must be a whole number");
  }
  if (!value->is_number_unsigned()) {
    return wrong(what, key, "is negative");
  }
  const auto number = value->get<std::uint64_t>();
  if (number < low || number > high) {
    return wrong(what, key,
                 "is " + std::to_string(number) + ", must be " + std::to_string(low) + " to " +
                     std::to_string(high));
  }
  return number;
}

Result<double> json_number(const nlohmann::json& object, std::string_view key,
                           std::string_view what) {
  const nlohmann::json* value = member(object, key);
  if (value == nullptr || !value->is_number()) {
    return wrong(what, key, "must be a number");
  }
  const auto number = value->get<double>();
  if (!std::isfinite(number)) {
    return wrong(what, key, "is not finite");
  }
  return number;
}

Result<std::string> json_string(const nlohmann::json& object, std::string_view key,
                                std::string_view what) {
  const nlohmann::json* value = member(object, key);
  if (value == nullptr || !value->is_string()) {
    return wrong(what, key, "must be a string");
  }
  return value->get<std::string>();
}

Result<nlohmann::json> config_of(const ModelFile& file, std::string_view architecture) {
  auto fields = metadata(file);
  if (!fields) {
    return fields.error();
  }
  const std::string where = file.path() + ": metadata";
  auto found = json_string(*fields, "architecture", where);
  if (!found) {
    return found.error();
  }
  if (*found != architecture) {
    return Error{ErrorCode::Unsupported, where + ": architecture is '" + *found +
                                             "', what loads it here runs '" +
                                             std::string(architecture) + "'"};
  }
  const auto config = fields->find("config");
  if (config == fields->end() || !config->is_object()) {
    return Error{ErrorCode::Corrupt, where + ": no object 'config'"};
  }
  return *config;
}

}  // namespace laya::format
