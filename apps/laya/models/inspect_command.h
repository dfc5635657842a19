// `laya inspect`: what is in a model file, and is it whole?
#pragma once

#include <string>

#include "common/command.h"
#include "format/model_file.h"

namespace laya::apps {

void add_inspect_command(CLI::App& app, Outcome& outcome);

/// For people: header, metadata, one line for each entry; checksums are verified, which reads the
/// whole file.
std::string inspect_text(const format::ModelFile& file);

/// For programs: {"path", "format_version", "bytes", "intact", "metadata", "entries": [{"name",
/// "kind", "element", "shape", "group", "minima", "offset", "bytes", "checksum", "intact"}]}.
nlohmann::ordered_json inspect_json(const format::ModelFile& file);

}  // namespace laya::apps
