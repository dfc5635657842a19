// TextField: what a session itself holds of the text — the text around the caret, and what was
// noticed while it was typed. A value: the decoder's turn takes a copy of it along.
#pragma once

#include <cstdint>

#include "predict/list/source_trust.h"
#include "predict/source/field_names.h"
#include "predict/source/passed_over.h"
#include "predict/source/typed_text.h"
#include "predict/source/typing_memory.h"

namespace laya::predict {

struct TextField {
  TypedText text;
  TypingMemory memory;
  PassedOver passed_over;
  SourceTrust trust;
  FieldKind kind = FieldKind::Text;
  std::uint64_t revision = 0;

  /// Forgets the text and all that was noticed; kind and revision stay.
  void clear() {
    text.clear();
    memory.clear();
    passed_over.clear();
    trust.clear();
  }
};

}  // namespace laya::predict
