// Pinyin input in `laya type`: the keys of a terminal for field::PinyinBuffer, and the engine behind it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "field/pinyin_buffer.h"
#include "laya/type/key_reader.h"
#include "predict/engine/engine.h"
#include "predict/pinyin/pinyin_model.h"
#include "predict/pinyin/pinyin_session.h"

namespace laya::apps {

/// One thread. Costs nothing until it is switched on for the first time, which reads libime's data
/// (0.3 s).
class PinyinInput {
 public:
  static constexpr std::size_t kPage = field::PinyinBuffer::kPage;

  /// `engine` must outlive it.
  explicit PinyinInput(const predict::Engine& engine) : engine_(&engine) {}

  /// On or off; letters that stand there are dropped (commit letters() first). Errors: those of
  /// pinyin::load_libime; it stays off.
  Status toggle();
  bool is_on() const { return on_; }

  struct Answer {
    bool taken = false;  ///< false: the key means what it means without pinyin, after the commit
    std::string commit;  ///< goes into the text at the caret
    field::PinyinRefusal refusal = field::PinyinRefusal::None;  ///< why a letter was not taken
  };
  /// One key while it is on. `before`: the text left of the caret; what was committed earlier is in
  /// it.
  Answer handle(const Key& key, std::string_view before);

  /// What is typed and not chosen; empty: nothing is being composed.
  std::string_view letters() const { return buffer_.letters(); }
  /// At most kPage of them, in order; the letters themselves are the last of the first page.
  const std::vector<std::string>& candidates() const { return buffer_.page(); }

 private:
  field::PinyinRefusal ask();

  const predict::Engine* engine_;
  std::unique_ptr<const predict::PinyinModel> model_;
  std::unique_ptr<predict::PinyinSession> session_;
  field::PinyinBuffer buffer_;
  bool on_ = false;
};

}  // namespace laya::apps
