// EmojiTable::parse on any bytes: an error, or a table that finds every one of its keys.
#include <string_view>

#include "fuzz_target.h"
#include "predict/offers/emoji_table.h"

using laya::fuzz::require;
using laya::predict::EmojiTable;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto table = EmojiTable::parse(text, "table");
  if (!table) {
    require(table.error().message.starts_with("table: "));
    return 0;
  }
  for (std::size_t i = 0; i < table->size(); ++i) {
    require(table->find(table->at(i).key) == &table->at(i));
    require(table->lower_bound(table->at(i).key) == i);
    require(!table->at(i).emoji.empty());
  }
  table->find(text);
  return 0;
}
