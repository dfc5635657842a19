#include "laya/models/inspect_command.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <memory>
#include <vector>

#include "format/metadata.h"

namespace laya::apps {
namespace {

namespace fs = std::filesystem;
using format::Entry;
using format::EntryKind;
using format::ModelFile;

struct InspectOptions {
  std::vector<std::string> paths;
  bool json = false;
};

constexpr std::size_t kMaxListed = 8;         ///< items of an array shown one by one
constexpr std::size_t kMaxValueBytes = 2000;  ///< of one metadata value

std::string grouped(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t i = digits.size(); i > 3; i -= 3) {
    digits.insert(i - 3, ",");
  }
  return digits;
}

std::string megabytes(std::uint64_t bytes) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%.1f MB", static_cast<double>(bytes) / 1e6);
  return text.data();
}

std::string padded(std::string text, std::size_t width) {
  text.resize(std::max(text.size(), width), ' ');
  return text;
}

std::string hex(std::uint64_t value) {
  std::array<char, 17> text;
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(value));
  return text.data();
}

std::string shape_of(const Entry& entry) {
  std::string text;
  for (const std::uint32_t dimension : entry.layout.dimensions()) {
    text += (text.empty() ? "" : " x ") + std::to_string(dimension);
  }
  return text;
}

std::string element_of(const Entry& entry) {
  if (entry.kind == EntryKind::Blob) {
    return "blob";
  }
  std::string text(format::element_name(entry.layout.element));
  if (format::is_quantised(entry.layout.element)) {
    text += "/" + std::to_string(entry.layout.group) + (entry.layout.has_minima ? "+min" : "");
  }
  return text;
}

/// One line for each value, its key dotted: "training.tokens  40000000".
void add_metadata_lines(const nlohmann::json& value, const std::string& key, std::string& out) {
  if (value.is_object() && !value.empty()) {
    for (const auto& [name, inner] : value.items()) {
      add_metadata_lines(inner, key.empty() ? name : key + "." + name, out);
    }
    return;
  }
  std::string shown;
  if (value.is_array() && value.size() > kMaxListed) {
    shown = "[" + std::to_string(value.size()) + " items; --json shows them]";
  } else if (value.is_string()) {
    shown = value.get<std::string>();
  } else {
    shown = value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
  if (shown.size() > kMaxValueBytes) {
    shown = "(" + std::to_string(shown.size()) + " bytes; --json shows them)";
  }
  out += "  " + padded(base::printable(key), 28) + "  " + base::printable(shown) + "\n";
}

/// `path`, or the .laya files in it when it is a folder. BadArgument where there is none.
Result<std::vector<std::string>> model_files(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    return std::vector<std::string>{path};
  }
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(path, error)) {
    if (entry.path().extension() == ".laya") {
      files.push_back(entry.path().string());
    }
  }
  if (files.empty()) {
    return Error{ErrorCode::BadArgument, path + ": no .laya file in this folder"};
  }
  std::sort(files.begin(), files.end());
  return files;
}

void inspect(const InspectOptions& options, Outcome& outcome) {
  for (const std::string& path : options.paths) {
    const Result<std::vector<std::string>> files = model_files(path);
    if (!files) {
      fail(outcome, files.error());
      continue;
    }
    for (const std::string& name : *files) {
      const Result<ModelFile> file = ModelFile::open(name);
      if (!file) {
        fail(outcome, file.error());
        continue;
      }
      const nlohmann::ordered_json report = inspect_json(*file);
      std::cout << (options.json ? to_line(report) + "\n" : inspect_text(*file)) << std::flush;
      if (!report["intact"].get<bool>()) {
        fail(outcome, {ErrorCode::Corrupt, name + ": damaged; copy or download it again"});
      }
    }
  }
}

}  // namespace

std::string inspect_text(const ModelFile& file) {
  std::string table;
  std::size_t damaged = 0;
  std::size_t name_width = 4;
  for (const Entry& entry : file.entries()) {
    name_width = std::max(name_width, entry.name.size());
  }
  for (const Entry& entry : file.entries()) {
    const bool intact = file.intact(entry);
    damaged += intact ? 0 : 1;
    std::string size = grouped(entry.size);
    size.insert(0, size.size() < 12 ? 12 - size.size() : 0, ' ');
    table += "  " + padded(std::string(entry.name), name_width) + "  " +
             padded(element_of(entry), 12) + "  " + padded(shape_of(entry), 16) + "  " + size +
             "  " + hex(entry.checksum) + (intact ? "  ok\n" : "  DAMAGED\n");
  }
  std::string out =
      base::printable(file.path()) + ": .laya version " + std::to_string(file.version()) + ", " +
      megabytes(file.file_bytes()) + ", " + std::to_string(file.entries().size()) + " entries, " +
      (damaged == 0 ? std::string("all checksums match") : std::to_string(damaged) + " DAMAGED") +
      "\n";
  if (const Result<nlohmann::json> metadata = format::metadata(file);
      metadata && !metadata->empty()) {
    add_metadata_lines(*metadata, "", out);
  }
  return out + table;
}

nlohmann::ordered_json inspect_json(const ModelFile& file) {
  nlohmann::ordered_json entries = nlohmann::ordered_json::array();
  bool all_intact = true;
  for (const Entry& entry : file.entries()) {
    const bool intact = file.intact(entry);
    all_intact = all_intact && intact;
    const auto shape = entry.layout.dimensions();
    entries.push_back({{"name", entry.name},
                       {"kind", entry.kind == EntryKind::Tensor ? "tensor" : "blob"},
                       {"element", format::element_name(entry.layout.element)},
                       {"shape", std::vector<std::uint32_t>(shape.begin(), shape.end())},
                       {"group", entry.layout.group},
                       {"minima", entry.layout.has_minima},
                       {"offset", entry.offset},
                       {"bytes", entry.size},
                       {"checksum", hex(entry.checksum)},
                       {"intact", intact}});
  }
  return {{"path", file.path()},
          {"format_version", file.version()},
          {"bytes", file.file_bytes()},
          {"intact", all_intact},
          {"metadata", nlohmann::ordered_json::parse(file.metadata_json(), nullptr, false)},
          {"entries", entries}};
}

void add_inspect_command(CLI::App& app, Outcome& outcome) {
  auto options = std::make_shared<InspectOptions>();  // shared: CLI11 copies the callback
  CLI::App* command = app.add_subcommand(
      "inspect", "what is in a model file: configuration, licence, tensors; is it whole?");
  command->add_option("model", options->paths, "a .laya file, or a folder with some")->required();
  command->add_flag("--json", options->json, "one JSON object on one line for each file");
  command->footer(
      "example: laya inspect models/instant\n"
      "         laya inspect models/instant/gru.laya --json | jq .metadata.licence");
  command->callback([options, &outcome] { inspect(*options, outcome); });
}

}  // namespace laya::apps
