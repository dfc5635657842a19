// Draws a TypeEditor: the text with the ghost in grey, the list below it, the live figures at the
// bottom.
#pragma once

#include <string>
#include <string_view>

#include "laya/type/screen.h"
#include "laya/type/type_editor.h"

namespace laya::apps {

/// Any size from 1 × 1; parts that do not fit are left out, the text last. `about` (the model) ends
/// the status line, `deep` (the decoder) the title. Costs what the screen holds, however long the
/// text.
Screen draw(const TypeEditor& editor, std::size_t rows, std::size_t columns, std::string_view about,
            std::string_view deep = {});

/// "0.8 ms  p50 0.7  p95 1.2  p99 2.0 | 41 keys, 63 characters: 35 % saved"; with a
/// decoder "instant 0.8 ms p50 0.7  deep 5.1 ms p50 4.9 | 41 keys for 63: 35 % saved".
std::string status_line(const TypeEditor& editor);

}  // namespace laya::apps
