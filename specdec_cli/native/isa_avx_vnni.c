// The kernels for avx-vnni.

#include "kernels.h"

#if defined(HAS_AVX_VNNI)

#define ISA_AVX2
#define ISA_AVX_VNNI
#define ISA_NAME "avx-vnni"
#define KERNELS kernels_avx_vnni

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma,f16c,avxvnni"))), apply_to = function)
#else
#pragma GCC target("avx2,fma,f16c,avxvnni")
#endif

#include "kernels.inc"

#if defined(__clang__)
#pragma clang attribute pop
#endif
#endif
