// How the n-gram table writes a unit of text: as its training did (train/ngram/ngram_text.h).
#pragma once

#include <string_view>

#include "model/ngram/ngram.h"
#include "text/units.h"

namespace laya::predict {

/// The table's id of `unit`: words in lower case, a short number that it knows as itself, addresses
/// and other numbers as their kind; kUnknownWord for what it has never met. No allocation.
model::WordId table_unit(const model::NgramModel& ngrams, std::string_view unit,
                         text::UnitKind kind);

}  // namespace laya::predict
