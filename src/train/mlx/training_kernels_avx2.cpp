// The trainer's inner loops, instruction set: avx2 (flags in CMakeLists.txt).
#define LAYA_KERNEL_SET avx2
#include "train/mlx/training_kernels.inl"
