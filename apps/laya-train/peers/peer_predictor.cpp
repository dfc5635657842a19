#include "laya-train/peers/peer_predictor.h"

#include <cstdlib>
#include <filesystem>
#include <utility>

#include "setup/data_files.h"

namespace laya::apps {
namespace {

/// The other program starts in another folder.
std::string absolute(const std::string& path) {
  std::error_code error;
  const std::string whole = std::filesystem::absolute(path, error).string();
  return error ? path : whole;
}

Result<std::unique_ptr<PeerPredictor>> start_program(const PeerFolders& folders, const char* name) {
  const Result<std::string> path = peer_program(folders, name);
  if (!path) return path.error();
  return PeerPredictor::start({*path});
}

Result<std::unique_ptr<PeerPredictor>> start_baseline(const PeerFolders& folders,
                                                      const char* kind) {
  std::string folder = folders.baselines;
  if (folder.empty()) {
    const char* set = std::getenv("LAYA_BASELINES");
    folder = set != nullptr ? set : "";
  }
  if (folder.empty()) {
    return Error{ErrorCode::Unsupported,
                 "its scripts are not part of Laya: --baselines FOLDER or $LAYA_BASELINES"};
  }
  const Result<std::string> script = setup::find_data_file("bench/peers/baseline_ngrams.py");
  if (!script) return script.error();
  return PeerPredictor::start({"python3", "-I", absolute(*script), absolute(folder), kind});
}

}  // namespace

Result<std::string> peer_program(const PeerFolders& folders, const char* name) {
  std::error_code error;
  const std::filesystem::path folder =
      folders.programs.empty()
          ? std::filesystem::read_symlink("/proc/self/exe", error).parent_path()
          : std::filesystem::path(folders.programs);
  const std::filesystem::path path = folder / name;
  if (!std::filesystem::is_regular_file(path, error)) {
    return Error{
        ErrorCode::Unsupported,
        std::string(name) + " is not built (its library was not there) or not beside laya"};
  }
  return path.string();
}

Result<std::unique_ptr<PeerPredictor>> PeerPredictor::start(
    const std::vector<std::string>& arguments) {
  Result<PeerProcess> process = PeerProcess::start(arguments);
  if (!process) return std::move(process).error();
  const Result<nlohmann::json> who = process->read();
  if (!who || !who->is_object()) {
    return Error{ErrorCode::Unsupported, "its driver ended before it said anything"};
  }
  if (const auto missing = who->find("missing"); missing != who->end()) {
    return Error{ErrorCode::Unsupported, "not installed: " + missing->dump()};
  }
  const std::string name = who->value("name", std::string("?"));
  const bool remembers = who->value("remembers", false);
  return std::unique_ptr<PeerPredictor>(
      new PeerPredictor(std::move(process).value(), name, remembers));
}

Status PeerPredictor::new_line() {
  if (!remembers_) return {};
  const auto answer = ask({{"clear", true}});
  if (!answer) return answer.error();
  return {};
}

Result<std::vector<std::string>> PeerPredictor::offers(std::string_view before, std::size_t count) {
  return ask({{"before", before}, {"count", count}});
}

Result<std::vector<std::string>> PeerPredictor::segment(std::string_view text) {
  return ask({{"segment", text}});
}

Result<std::vector<std::string>> PeerPredictor::ask(const nlohmann::json& command) {
  const Result<nlohmann::json> answer = process_.ask(command);
  if (!answer) return Error{answer.error().code, name_ + ": " + answer.error().message};
  const auto words = answer->is_object() ? answer->find("words") : answer->end();
  std::vector<std::string> list;
  if (answer->is_object() && words != answer->end() && words->is_array()) {
    for (const nlohmann::json& word : *words) {
      if (word.is_string()) list.push_back(word.get<std::string>());
    }
    return list;
  }
  return Error{ErrorCode::Io, name_ + ": answered without a list of words"};
}

Result<std::unique_ptr<PeerPredictor>> start_presage(const PeerFolders& folders) {
  return start_program(folders, "presage_words");
}
Result<std::unique_ptr<PeerPredictor>> start_typing_booster() {
  const Result<std::string> script = setup::find_data_file("bench/peers/typing_booster.py");
  if (!script) return script.error();
  return PeerPredictor::start(
      {"/usr/bin/python3", "-I", absolute(*script)});  // the one that has python3-gi
}
Result<std::unique_ptr<PeerPredictor>> start_trigram(const PeerFolders& folders) {
  return start_baseline(folders, "trigram");
}
Result<std::unique_ptr<PeerPredictor>> start_chargram(const PeerFolders& folders) {
  return start_baseline(folders, "chargram");
}
Result<std::unique_ptr<PeerPredictor>> start_prediction_table(const PeerFolders& folders) {
  return start_program(folders, "prediction_table");
}

}  // namespace laya::apps
