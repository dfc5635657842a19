// `laya complete --pinyin LETTERS`: what the letters spell.
#pragma once

#include <string>

#include "common/command.h"
#include "predict/engine/engine.h"
#include "setup/model_lookup.h"

namespace laya::apps {

struct CompletePinyin {
  std::string letters;
  std::string before;
  std::size_t count = 5;
  std::string deep;  ///< name of the decoder, empty without
  bool json = false;
};

void complete_pinyin(const predict::Engine& engine, const CompletePinyin& wanted, Outcome& outcome);

}  // namespace laya::apps
