// make_pictures FOLDER: writes FOLDER/type.svg, the screen of `laya type` after some keys, for the
// README. The same bytes for the same model: the live figures are left out.
#include <cstdio>
#include <string>

#include "base/atomic_file.h"
#include "common/model_options.h"
#include "laya/type/type_editor.h"
#include "laya/type/type_view.h"

namespace {

using namespace laya::apps;

constexpr std::size_t kRows = 10;
constexpr std::size_t kColumns = 78;
// What was typed before; and the last words, key by key, so that a ghost stands behind them.
constexpr const char* kPasted = "Hi Anna, thank you for the photos!\n明天下午我们一起去";
constexpr const char* kTyped = "吃饭\nPlease let me know if you have any qu";

void press(TypeEditor& editor, const char* text) {
  std::vector<Key> keys;
  KeyReader reader;
  reader.feed(text, keys);
  for (const Key& key : keys) {
    editor.handle(key);
    editor.decide();
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: make_pictures FOLDER\n");
    return 2;
  }
  const auto engine = open_engine({});
  if (!engine) {
    std::fprintf(stderr, "make_pictures: %s\n", engine.error().message.c_str());
    return 1;
  }
  TypeEditor editor(**engine, laya::predict::kUntilDone);
  editor.handle({KeyKind::Paste, kPasted});
  press(editor, kTyped);
  Screen screen = draw(editor, kRows, kColumns, "");
  screen.fill(kRows - 1, 0, Style::Plain);
  screen.put(kRows - 1, 1, "Everything runs on this machine. Nothing typed leaves it.", Style::Dim);
  const laya::Status written =
      laya::base::write_file(std::string(argv[1]) + "/type.svg", screen.to_svg("laya type"));
  if (!written) {
    std::fprintf(stderr, "make_pictures: %s\n", written.error().message.c_str());
    return 1;
  }
  return 0;
}
