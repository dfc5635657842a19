// The trainer's inner loops, instruction set: avx512 (flags in CMakeLists.txt).
#define LAYA_KERNEL_SET avx512
#include "train/mlx/training_kernels.inl"
