// Process-wide memory settings for training.
#pragma once

namespace laya::train {

/// Makes malloc keep freed memory instead of giving it back to the system: a step's arrays are
/// large, and fetching their pages anew at each step costs more than the arithmetic on them. Call
/// once, before the first large allocation. No effect where malloc is not glibc's.
void keep_freed_memory();

}  // namespace laya::train
