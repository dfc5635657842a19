// Draws a TypeEditor: the text with the ghost in grey, the list below it, the live figures at the
// bottom.
#pragma once

#include <string>
#include <string_view>

#include "screen.h"
#include "type_editor.h"

namespace laya::apps {

/// Any size from 1 × 1; parts that do not fit are left out, the text last. `about` (the model) ends
/// the status line. Costs what the screen holds, however long the text.
Screen draw(const TypeEditor& editor, std::size_t rows, std::size_t columns,
            std::string_view about);

/// "0.8 ms  p50 0.7  p95 1.2  p99 2.0 | 41 keys, 63 characters: 35 % saved".
std::string status_line(const TypeEditor& editor);

}  // namespace laya::apps
