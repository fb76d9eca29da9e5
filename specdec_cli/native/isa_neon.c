// The kernels for neon: NEON with dot products, as from ARMv8.2 on.

#if defined(__aarch64__)

#define ISA_NEON
#define ISA_NAME "neon"
#define KERNELS kernels_neon

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("dotprod"))), apply_to = function)
#else
#pragma GCC target("arch=armv8.2-a+dotprod")
#endif

#include "kernels.inc"

#if defined(__clang__)
#pragma clang attribute pop
#endif
#endif
