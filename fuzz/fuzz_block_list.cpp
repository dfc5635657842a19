// BlockList::parse on any bytes: an error that names the line, or a list that answers for any text
// the same in one step and in two.
#include <string_view>

#include "fuzz_target.h"
#include "predict/source/block_list.h"

using laya::fuzz::require;
using laya::predict::BlockList;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto list = BlockList::parse(text, "list");
  if (!list) {
    require(list.error().message.starts_with("list: line "));
  }
  const BlockList none;
  const BlockList& any = list ? *list : none;
  const std::string_view before = text.substr(0, size / 2);
  const std::string_view candidate = text.substr(size / 2);
  require(any.blocks(any.after(before), candidate) == any.blocks_after(before, candidate));
  require(!any.blocks_after(text, {}));
  return 0;
}
