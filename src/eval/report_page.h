// `laya eval report`: one HTML page that holds everything — style, plots, tables — and refers to
// nothing outside. Opens without a network and works without JavaScript.
#pragma once

#include <string>

#include "eval/report_data.h"

namespace laya::eval {

/// `now`: what was measured; `before`: the last release's, with no figures where there is none.
/// Frozen text, key logs and other files stand in sections of their own.
std::string report_page(const Results& now, const Results& before);

}  // namespace laya::eval
