// The tables that exist, and what they share. Which ones are linked is CMake's choice by processor;
// which one runs, dispatch's.
#pragma once

#include "simd/kernels.h"

namespace laya::simd {

extern const Kernels kScalarKernels;
extern const Kernels kAvx2Kernels;
extern const Kernels kAvx2VnniKernels;
extern const Kernels kAvx512VnniKernels;
extern const Kernels kAvx512AmxKernels;
extern const Kernels kNeonDotprodKernels;

/// One row of any packed matrix, in every table: a row's bytes are 4 in each 64, which no
/// instruction set gathers faster.
void dequantize_row_scalar(const PackedMatrix& matrix, std::size_t row, float* out);

}  // namespace laya::simd
