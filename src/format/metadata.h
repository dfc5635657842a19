// The metadata of a model file, parsed. Separate from model_file.h so that only those who need JSON
// include it.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

#include "base/result.h"
#include "format/element.h"
#include "format/model_file.h"

namespace laya::format {

/// Parses `text` as one JSON value at most `max_depth` levels of arrays and objects deep, duplicate
/// keys and trailing bytes refused. Never throws and never recurses deeper than that. Error Corrupt
/// says at which byte.
Result<nlohmann::json> parse_json(std::string_view text,
                                  std::uint32_t max_depth = kMaxMetadataDepth);

/// The metadata object of an open file (checked at open, so this fails only without memory).
/// Keys by convention (FORMAT.md, "Metadata"): architecture, config{}, licence, training{},
/// tokenizer{}, created, generator.
Result<nlohmann::json> metadata(const ModelFile& file);

/// `object[key]` as an unsigned integer within [low, high]. Errors Corrupt name `what` and the key.
Result<std::uint64_t> json_integer(const nlohmann::json& object, std::string_view key,
                                   std::uint64_t low, std::uint64_t high, std::string_view what);
/// `object[key]` as a finite number.
Result<double> json_number(const nlohmann::json& object, std::string_view key,
                           std::string_view what);
/// `object[key]` as a string.
Result<std::string> json_string(const nlohmann::json& object, std::string_view key,
                                std::string_view what);

/// The object "config" of a model of this `architecture`. Unsupported for another one, Corrupt
/// where either is missing.
Result<nlohmann::json> config_of(const ModelFile& file, std::string_view architecture);

}  // namespace laya::format
