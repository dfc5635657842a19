// The backend that is the specification: fp32, plain loops; slow.
#pragma once

#include "model/core/backend.h"

namespace laya::model {

Backend reference_backend();

}  // namespace laya::model
