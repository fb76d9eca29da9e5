// Vectors in one register of AVX-512.

#pragma once

#include <immintrin.h>

typedef __m512 floats;
typedef __m512i integers;
typedef __mmask16 mask;

INLINE floats load(const float *from) { return _mm512_loadu_ps(from); }
INLINE void store(float *to, floats values) { _mm512_storeu_ps(to, values); }
INLINE integers load_integers(const int32_t *from) { return _mm512_loadu_si512(from); }
INLINE floats all(float value) { return _mm512_set1_ps(value); }
INLINE floats add(floats a, floats b) { return _mm512_add_ps(a, b); }
INLINE floats subtract(floats a, floats b) { return _mm512_sub_ps(a, b); }
INLINE floats times(floats a, floats b) { return _mm512_mul_ps(a, b); }
INLINE floats over(floats a, floats b) { return _mm512_div_ps(a, b); }
INLINE floats fused(floats a, floats b, floats c) { return _mm512_fmadd_ps(a, b, c); }
INLINE floats smallest(floats a, floats b) { return _mm512_min_ps(a, b); }
INLINE floats largest(floats a, floats b) { return _mm512_max_ps(a, b); }
INLINE mask below(floats a, floats b) { return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ); }
INLINE floats choose(mask which, floats yes, floats no) { return _mm512_mask_blend_ps(which, no, yes); }
INLINE integers truncated(floats x) { return _mm512_cvttps_epi32(x); }
INLINE floats converted(integers x) { return _mm512_cvtepi32_ps(x); }
INLINE floats exponent(floats n) {
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_add_epi32(truncated(n), _mm512_set1_epi32(127)), 23));
}
INLINE void store_bytes(uint8_t *to, integers x) { _mm_storeu_si128((__m128i *)to, _mm512_cvtepi32_epi8(x)); }
INLINE floats first_lanes(floats x, int64_t n) {
    return n >= LANES ? x : _mm512_mask_mov_ps(all(-INFINITY), (mask)((1u << n) - 1), x);
}

INLINE float sum_lanes(floats x) {
    const __m256 eight = _mm256_add_ps(_mm512_castps512_ps256(x), _mm512_extractf32x8_ps(x, 1));
    __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    four = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(four, _mm_movehdup_ps(four)));
}

INLINE float largest_lane(floats x) {
    const __m256 eight = _mm256_max_ps(_mm512_castps512_ps256(x), _mm512_extractf32x8_ps(x, 1));
    __m128 four = _mm_max_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    four = _mm_max_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_max_ss(four, _mm_movehdup_ps(four)));
}

INLINE floats sum_fours(floats a, floats b, floats c, floats d) {
    const floats ab = add(_mm512_unpacklo_ps(a, b), _mm512_unpackhi_ps(a, b));
    const floats cd = add(_mm512_unpacklo_ps(c, d), _mm512_unpackhi_ps(c, d));
    return add(_mm512_shuffle_ps(ab, cd, 0x44), _mm512_shuffle_ps(ab, cd, 0xee));
}

INLINE floats sum_quarters(floats a, floats b, floats c, floats d) {
    const floats ab = add(_mm512_shuffle_f32x4(a, b, 0x44), _mm512_shuffle_f32x4(a, b, 0xee));
    const floats cd = add(_mm512_shuffle_f32x4(c, d, 0x44), _mm512_shuffle_f32x4(c, d, 0xee));
    return add(_mm512_shuffle_f32x4(ab, cd, 0x88), _mm512_shuffle_f32x4(ab, cd, 0xdd));
}
