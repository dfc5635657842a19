#include "predict/source/passed_over.h"

#include <algorithm>
#include <span>

#include "base/fnv1a.h"

namespace laya::predict {
namespace {

std::uint64_t hash_of(std::string_view key) {
  return base::fnv1a_64(std::as_bytes(std::span(key)));
}

}  // namespace

void PassedOver::clear() {
  std::fill(open_.begin(), open_.end(), '\0');
  open_.clear();
  begin_ = 0;
  size_ = passed_ = 0;
}

void PassedOver::follow(const TypedText& text) {
  const std::string_view open = text.open_word();
  const std::uint64_t begin = text.cut_bytes() + text.before().size() - open.size();
  if (begin == begin_ && open == open_) {
    return;
  }
  if (begin == begin_ && open.starts_with(open_) && open.size() <= kLongest) {
    passed_ = size_;
  } else {
    size_ = passed_ = 0;
  }
  begin_ = begin;
  open_.assign(open.substr(0, std::min(open.size(), kLongest)));
}

void PassedOver::shown(std::string_view key) {
  const std::uint64_t hash = hash_of(key);
  const auto end = words_.begin() + static_cast<std::ptrdiff_t>(size_);
  if (size_ < kCapacity && std::find(words_.begin(), end, hash) == end) {
    words_[size_++] = hash;
  }
}

bool PassedOver::holds(std::string_view key) const {
  if (passed_ == 0) {
    return false;
  }
  const std::uint64_t hash = hash_of(key);
  const auto end = words_.begin() + static_cast<std::ptrdiff_t>(passed_);
  return std::find(words_.begin(), end, hash) != end;
}

}  // namespace laya::predict
