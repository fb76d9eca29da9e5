// Vectors of 16 numbers.

#pragma once

#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined(__AVX512VNNI__)
#include <immintrin.h>
#define INSTRUCTIONS "AVX-512 VNNI"
#elif defined(__AVXVNNI__)
#include <immintrin.h>
#define INSTRUCTIONS "AVX-VNNI"
#else
#error "no instruction for products of unsigned and signed bytes"
#endif

#define LANES 16
#define EXPORT __attribute__((visibility("default")))

typedef float floats __attribute__((vector_size(4 * LANES), aligned(4), may_alias));
typedef int32_t integers __attribute__((vector_size(4 * LANES), aligned(4), may_alias));
typedef uint8_t bytes __attribute__((vector_size(LANES), aligned(1), may_alias));

static inline floats load(const float *from) { return *(const floats *)from; }
static inline void store(float *to, floats values) { *(floats *)to = values; }
static inline floats all(float value) { return value - (floats){0}; }
static inline floats choose(integers mask, floats yes, floats no) { return (floats)(((integers)yes & mask) | ((integers)no & ~mask)); }
static inline floats largest(floats a, floats b) { return choose(a > b, a, b); }
static inline floats smallest(floats a, floats b) { return choose(a < b, a, b); }

// Lane i of the result is lane number i of the list, counted over both vectors. GCC before 12 has only the other builtin.
#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector) && !defined(NO_SHUFFLEVECTOR)
#define SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#endif
#endif
#ifndef SHUFFLE
#define SHUFFLE(a, b, ...) __builtin_shuffle(a, b, (integers){__VA_ARGS__})
#endif

// Lanes with those 8, 4 and 2 places further.
static inline floats by_8(floats v) { return SHUFFLE(v, v, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7); }
static inline floats by_4(floats v) { return SHUFFLE(v, v, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11); }
static inline floats by_2(floats v) { return SHUFFLE(v, v, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13); }

static inline float sum_lanes(floats v) {
    v += by_8(v);
    v += by_4(v);
    v += by_2(v);
    return v[0] + v[1];
}

static inline float largest_lane(floats v) {
    v = largest(v, by_8(v));
    v = largest(v, by_4(v));
    v = largest(v, by_2(v));
    return v[0] > v[1] ? v[0] : v[1];
}

// Lane 4 n + i: of the lanes 4 n to 4 n + 3 of the i-th vector, the sum.
static inline floats sum_fours(floats a, floats b, floats c, floats d) {
    const floats ab = SHUFFLE(a, b, 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29) +
                      SHUFFLE(a, b, 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31);
    const floats cd = SHUFFLE(c, d, 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29) +
                      SHUFFLE(c, d, 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31);
    return SHUFFLE(ab, cd, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29) +
           SHUFFLE(ab, cd, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31);
}

// Lane 4 n + i: of every fourth lane of the n-th vector from i on, the sum.
static inline floats sum_quarters(floats a, floats b, floats c, floats d) {
    const floats ab = SHUFFLE(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23) +
                      SHUFFLE(a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31);
    const floats cd = SHUFFLE(c, d, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23) +
                      SHUFFLE(c, d, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31);
    return SHUFFLE(ab, cd, 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27) +
           SHUFFLE(ab, cd, 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31);
}

static inline integers multiply_add(integers sums, int32_t four_inputs, const int8_t *weights) {
#if defined(__AVX512VNNI__)
    return (integers)_mm512_dpbusd_epi32((__m512i)sums, _mm512_set1_epi32(four_inputs), _mm512_loadu_si512(weights));
#else
    union { integers all; __m256i half[2]; } both = {sums};
    __m256i inputs = _mm256_set1_epi32(four_inputs);
    for (int i = 0; i < 2; i++)
        both.half[i] = _mm256_dpbusd_avx_epi32(both.half[i], inputs, _mm256_loadu_si256((const __m256i *)weights + i));
    return both.all;
#endif
}

// a b + c, rounded once. Whatever is fused says so: the compiler must not fuse by itself (-ffp-contract=off), so that
// every compiler gives the same bits, and model/int8/arithmetic.py too.
static inline floats fused(floats a, floats b, floats c) {
#if defined(__AVX512F__)
    return (floats)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#else
    union { floats all; __m256 half[2]; } x = {a}, y = {b}, z = {c};
    for (int i = 0; i < 2; i++) z.half[i] = _mm256_fmadd_ps(x.half[i], y.half[i], z.half[i]);
    return z.all;
#endif
}

// e^x for x up to 88, to about 2 units in the last place; 0 below -87.
static inline floats exponential(floats x) {
    const floats bounded = largest(smallest(x, all(88.0f)), all(-87.0f));
    const floats shifter = all(12582912.0f); // 1.5 * 2^23: adding it rounds to a whole number
    floats whole = fused(bounded, all(1.44269504f), shifter) - shifter;
    floats rest = fused(whole, all(2.12194440e-4f), fused(whole, all(-0.693359375f), bounded));
    floats power = all(1.9875691500e-4f);
    power = fused(power, rest, all(1.3981999507e-3f));
    power = fused(power, rest, all(8.3334519073e-3f));
    power = fused(power, rest, all(4.1665795894e-2f));
    power = fused(power, rest, all(1.6666665459e-1f));
    power = fused(power, rest, all(5.0000001201e-1f));
    power = fused(power * rest, rest, rest) + 1.0f;
    integers exponent = (__builtin_convertvector(whole, integers) + 127) << 23;
    return choose(x < -87.0f, all(0.0f), power * (floats)exponent);
}
