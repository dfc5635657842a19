// Other people's programs as eval::Predictors: drivers of bench/peers, asked over a pipe.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "eval/peer_measure.h"
#include "laya-train/peers/peer_process.h"

namespace laya::apps {

/// One driver that runs. Ends with the object.
class PeerPredictor : public eval::Predictor {
 public:
  /// Starts `arguments`. Unsupported: it is not built, or what it drives is not installed; the
  /// message says which in one line.
  static Result<std::unique_ptr<PeerPredictor>> start(const std::vector<std::string>& arguments);

  const std::string& name() const { return name_; }
  bool remembers() const override { return remembers_; }
  Status new_line() override;
  Result<std::vector<std::string>> offers(std::string_view before, std::size_t count) override;
  /// `text` (Chinese characters) cut into words, by a driver that can.
  Result<std::vector<std::string>> segment(std::string_view text);

 private:
  PeerPredictor(PeerProcess process, std::string name, bool remembers)
      : process_(std::move(process)), name_(std::move(name)), remembers_(remembers) {}
  Result<std::vector<std::string>> ask(const nlohmann::json& command);

  PeerProcess process_;
  std::string name_;
  bool remembers_;
};

/// How to start each driver that this machine may have.
struct PeerFolders {
  std::string programs;   ///< where presage_words and prediction_table are; empty: beside laya
  std::string baselines;  ///< with trigram.py and chargram.py; empty: $LAYA_BASELINES, or none
};
/// The path of a driver that was built. Unsupported: it is not there.
Result<std::string> peer_program(const PeerFolders& folders, const char* name);

Result<std::unique_ptr<PeerPredictor>> start_presage(const PeerFolders& folders);
Result<std::unique_ptr<PeerPredictor>> start_typing_booster();
Result<std::unique_ptr<PeerPredictor>> start_trigram(const PeerFolders& folders);
Result<std::unique_ptr<PeerPredictor>> start_chargram(const PeerFolders& folders);
Result<std::unique_ptr<PeerPredictor>> start_prediction_table(const PeerFolders& folders);

}  // namespace laya::apps
