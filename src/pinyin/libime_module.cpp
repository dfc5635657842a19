// Loads the module that links libime, when pinyin is first wanted.
#include <dlfcn.h>

#include <string>

#include "pinyin/libime_data.h"

namespace laya::pinyin {

Result<PinyinData> load_libime(const LibimePaths& paths) {
  using Load = void (*)(const LibimePaths&, Result<PinyinData>*);
  // Found by the program's run path: beside it, or in ../lib/laya. Never closed: what it gives
  // out is code of its own.
  void* module = ::dlopen("laya_libime.so", RTLD_NOW | RTLD_LOCAL);
  const Load load =
      module == nullptr ? nullptr : reinterpret_cast<Load>(::dlsym(module, "laya_libime_load"));
  if (load == nullptr) {
    const char* why = ::dlerror();
    return Error{ErrorCode::Io,
                 std::string("pinyin: libime cannot be loaded; install libimepinyin0 (") +
                     (why != nullptr ? why : "no reason given") + ")"};
  }
  Result<PinyinData> data = Error{ErrorCode::Internal, "pinyin: not loaded"};
  load(paths, &data);
  return data;
}

}  // namespace laya::pinyin
