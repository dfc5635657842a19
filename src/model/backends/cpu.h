// The backend that ships: packed weights through the kernels of src/simd, the best that this CPU
// has.
#pragma once

#include "model/core/backend.h"

namespace laya::model {

Backend cpu_backend();

}  // namespace laya::model
