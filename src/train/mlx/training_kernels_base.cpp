// The trainer's inner loops, instruction set: base (flags in CMakeLists.txt).
#define LAYA_KERNEL_SET base
#include "train/mlx/training_kernels.inl"
