// For tests only: how often the calling thread has asked `operator new` for memory. Linking
// count_allocations.cpp replaces it.
#pragma once

#include <cstddef>

namespace laya::model {

std::size_t allocations_of_this_thread();

}  // namespace laya::model
