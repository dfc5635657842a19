// Pinyin input in `laya type`: between the keys and the text, as an input method stands. Letters
// are composed beside the text, and only what is chosen goes into it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "laya/type/key_reader.h"
#include "predict/engine/engine.h"
#include "predict/pinyin/pinyin_model.h"
#include "predict/pinyin/pinyin_session.h"

namespace laya::apps {

/// One thread. Costs nothing until it is switched on for the first time, which reads libime's data
/// (0.3 s).
class PinyinInput {
 public:
  static constexpr std::size_t kPage = 5;

  /// `engine` must outlive it.
  explicit PinyinInput(const predict::Engine& engine) : engine_(&engine) {}

  /// On or off; letters that stand there are dropped (commit letters() first). Errors: those of
  /// pinyin::load_libime; it stays off.
  Status toggle();
  bool is_on() const { return on_; }

  struct Answer {
    bool taken = false;  ///< false: the key means what it means without pinyin, after the commit
    std::string commit;  ///< goes into the text at the caret
  };
  /// One key while it is on. `before`: the text left of the caret; what was committed earlier is in
  /// it.
  Answer handle(const Key& key, std::string_view before);

  /// What is typed and not chosen; empty: nothing is being composed.
  std::string_view letters() const;
  /// At most kPage of them, in order; the letters themselves are the last of the first page.
  const std::vector<std::string>& candidates() const { return shown_; }

 private:
  Answer compose(std::string_view text, std::string_view before);
  std::string choose(std::size_t number);
  std::string take_letters();
  void list();
  void turn_page(std::ptrdiff_t pages);

  const predict::Engine* engine_;
  std::unique_ptr<const predict::PinyinModel> model_;
  std::unique_ptr<predict::PinyinSession> session_;
  bool on_ = false;
  std::vector<std::size_t> order_;  ///< the session's candidates as they are listed
  std::size_t first_ = 0;           ///< of order_, on the page
  std::vector<std::string> shown_;
};

/// What a key types in Chinese text: "," is "，"; empty where it types itself. Behind a digit a
/// full stop, a comma or a colon stays what it is (3.14).
std::string_view chinese_mark(std::string_view key, std::string_view before);

}  // namespace laya::apps
