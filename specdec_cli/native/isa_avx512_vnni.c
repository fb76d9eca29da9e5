// The kernels for avx512-vnni.

#if defined(__x86_64__)

#define ISA_AVX512
#define ISA_NAME "avx512-vnni"
#define KERNELS kernels_avx512_vnni

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma,f16c,avx512f,avx512dq,avx512bw,avx512vl,avx512vnni"))), apply_to = function)
#else
#pragma GCC target("avx2,fma,f16c,avx512f,avx512dq,avx512bw,avx512vl,avx512vnni")
#endif

#include "kernels.inc"

#if defined(__clang__)
#pragma clang attribute pop
#endif
#endif
