// The kernels for avx2.

#if defined(__x86_64__)

#define ISA_AVX2
#define ISA_NAME "avx2"
#define KERNELS kernels_avx2

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma,f16c"))), apply_to = function)
#else
#pragma GCC target("avx2,fma,f16c")
#endif

#include "kernels.inc"

#if defined(__clang__)
#pragma clang attribute pop
#endif
#endif
