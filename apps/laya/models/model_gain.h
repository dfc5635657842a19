// What an installed model makes better, by example.
#pragma once

#include <string_view>

#include "catalog/store.h"

namespace laya::apps {

/// Prints a few places in texts of ours with what is offered there without and with `installed`.
/// `languages`: as the catalogue has them; Chinese examples where "zh" is among them. Prints one
/// line instead when that cannot be shown: the model is installed all the same.
void print_gain(const catalog::Installed& installed, std::string_view languages);

}  // namespace laya::apps
