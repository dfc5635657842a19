#include <algorithm>

#include "base/utf8.h"
#include "predict/session/session_impl.h"

namespace laya::predict {

std::optional<RemotePrompt> Session::remote_prompt() const {
  const TypedText& text = impl_->field.text;
  if (field_is_blocked(impl_->field.kind) || text.ends_in_half_character() || text.in_address() ||
      !text.rest_of_word().empty()) {
    return std::nullopt;
  }
  std::string_view before = text.before();
  if (before.size() > RemotePrompt::kMaxBytes) {
    std::size_t cut = before.size() - RemotePrompt::kMaxBytes;
    while (cut < before.size() && (static_cast<unsigned char>(before[cut]) & 0xC0) == 0x80) {
      ++cut;
    }
    before.remove_prefix(cut);
  }
  if (before.find_first_not_of(" \n\t") == std::string_view::npos) {
    return std::nullopt;
  }
  const std::size_t open = std::min(text.open_word().size(), before.size());
  return RemotePrompt(impl_->field.revision, before, open);
}

}  // namespace laya::predict
