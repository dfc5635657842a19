// presage as a peer: its predictions for the word at the end of a text, by its own library with its
// own English data, without learning and without anybody's user data.
//   {"before": text, "count": n} -> {"words": [whole words]}
// It does not repeat within a word what it has offered once, so lists of different lengths need
// passes of their own ("remembers"); {"clear": true} begins a new field.
//
// usage: presage_words [CONFIGURATION]     (default: presage's own, /etc/presage.xml)
#include <presage.h>

#include <memory>

#include "peer_lines.h"

namespace {

class Field : public PresageCallback {
 public:
  std::string get_past_stream() const override { return past; }
  std::string get_future_stream() const override { return {}; }
  std::string past;
};

/// A presage of one field: what it remembers of the text before goes with it.
class Peer {
 public:
  explicit Peer(std::string configuration) : configuration_(std::move(configuration)) { clear(); }

  void clear() {
    field_ = std::make_unique<Field>();
    presage_ = std::make_unique<Presage>(field_.get(), configuration_);
    presage_->config("Presage.ContextTracker.ONLINE_LEARNING", "no");
    presage_->config("Presage.PredictorRegistry.PREDICTORS",
                     "DefaultAbbreviationExpansionPredictor DefaultSmoothedNgramPredictor "
                     "DefaultRecencyPredictor");
    count_ = 0;
  }

  laya::peers::Json answer(const laya::peers::Json& command) {
    if (command.contains("clear")) {
      // Making a new one reads its data again (0.1 s), so the field is only emptied.
      field_->past.clear();
      return {{"words", presage_->predict()}};
    }
    const auto count = command.at("count").get<int>();
    if (count != count_) {
      presage_->config("Presage.Selector.SUGGESTIONS", std::to_string(count));
      count_ = count;
    }
    field_->past = command.at("before").get<std::string>();
    return {{"words", presage_->predict()}};
  }

 private:
  std::string configuration_;
  std::unique_ptr<Field> field_;
  std::unique_ptr<Presage> presage_;
  int count_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  try {
    Peer peer(argc > 1 ? argv[1] : "/etc/presage.xml");
    return laya::peers::serve(
        {{"name", "presage 0.9, its English data"}, {"remembers", true}},
        [&](const laya::peers::Json& command) { return peer.answer(command); });
  } catch (const std::exception& error) {
    std::cout << laya::peers::Json{{"missing", error.what()}}.dump() << std::endl;
    return 3;
  }
}
