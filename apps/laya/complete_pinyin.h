// `laya complete --pinyin LETTERS`: what the letters spell.
#pragma once

#include <string>

#include "command.h"
#include "model_lookup.h"
#include "predict/engine.h"

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
