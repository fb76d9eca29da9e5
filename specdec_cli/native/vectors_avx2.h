// Vectors in two registers of AVX2: lanes 0 to 7 and 8 to 15.

#pragma once

#include <immintrin.h>

typedef struct { __m256 low, high; } floats;
typedef struct { __m256i low, high; } integers;
typedef floats mask;

#define EACH(name, function) \
    INLINE floats name(floats a, floats b) { return (floats){function(a.low, b.low), function(a.high, b.high)}; }

INLINE floats load(const float *from) { return (floats){_mm256_loadu_ps(from), _mm256_loadu_ps(from + 8)}; }
INLINE void store(float *to, floats values) {
    _mm256_storeu_ps(to, values.low);
    _mm256_storeu_ps(to + 8, values.high);
}
INLINE integers load_integers(const int32_t *from) {
    return (integers){_mm256_loadu_si256((const __m256i *)from), _mm256_loadu_si256((const __m256i *)(from + 8))};
}
INLINE floats all(float value) { return (floats){_mm256_set1_ps(value), _mm256_set1_ps(value)}; }
EACH(add, _mm256_add_ps)
EACH(subtract, _mm256_sub_ps)
EACH(times, _mm256_mul_ps)
EACH(over, _mm256_div_ps)
EACH(smallest, _mm256_min_ps)
EACH(largest, _mm256_max_ps)
INLINE floats fused(floats a, floats b, floats c) {
    return (floats){_mm256_fmadd_ps(a.low, b.low, c.low), _mm256_fmadd_ps(a.high, b.high, c.high)};
}
INLINE mask below(floats a, floats b) {
    return (mask){_mm256_cmp_ps(a.low, b.low, _CMP_LT_OQ), _mm256_cmp_ps(a.high, b.high, _CMP_LT_OQ)};
}
INLINE floats choose(mask which, floats yes, floats no) {
    return (floats){_mm256_blendv_ps(no.low, yes.low, which.low), _mm256_blendv_ps(no.high, yes.high, which.high)};
}
INLINE integers truncated(floats x) { return (integers){_mm256_cvttps_epi32(x.low), _mm256_cvttps_epi32(x.high)}; }
INLINE floats converted(integers x) { return (floats){_mm256_cvtepi32_ps(x.low), _mm256_cvtepi32_ps(x.high)}; }
INLINE __m256 exponent_of(__m256i n) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(n, _mm256_set1_epi32(127)), 23));
}
INLINE floats exponent(floats n) {
    const integers whole = truncated(n);
    return (floats){exponent_of(whole.low), exponent_of(whole.high)};
}
INLINE void store_bytes(uint8_t *to, integers x) {
    const __m256i words = _mm256_permute4x64_epi64(_mm256_packs_epi32(x.low, x.high), 0xd8);
    _mm_storeu_si128((__m128i *)to, _mm_packus_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1)));
}
INLINE floats first_lanes(floats x, int64_t n) {
    const __m256 end = _mm256_set1_ps(n >= LANES ? LANES : (float)n), none = _mm256_set1_ps(-INFINITY);
    const __m256 low = _mm256_setr_ps(0, 1, 2, 3, 4, 5, 6, 7), high = _mm256_setr_ps(8, 9, 10, 11, 12, 13, 14, 15);
    return (floats){_mm256_blendv_ps(none, x.low, _mm256_cmp_ps(low, end, _CMP_LT_OQ)),
                    _mm256_blendv_ps(none, x.high, _mm256_cmp_ps(high, end, _CMP_LT_OQ))};
}

INLINE float sum_lanes(floats x) {
    const __m256 eight = _mm256_add_ps(x.low, x.high);
    __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    four = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(four, _mm_movehdup_ps(four)));
}

INLINE float largest_lane(floats x) {
    const __m256 eight = _mm256_max_ps(x.low, x.high);
    __m128 four = _mm_max_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    four = _mm_max_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_max_ss(four, _mm_movehdup_ps(four)));
}

INLINE __m256 sum_fours_of(__m256 a, __m256 b, __m256 c, __m256 d) {
    const __m256 ab = _mm256_add_ps(_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b));
    const __m256 cd = _mm256_add_ps(_mm256_unpacklo_ps(c, d), _mm256_unpackhi_ps(c, d));
    return _mm256_add_ps(_mm256_shuffle_ps(ab, cd, 0x44), _mm256_shuffle_ps(ab, cd, 0xee));
}
INLINE floats sum_fours(floats a, floats b, floats c, floats d) {
    return (floats){sum_fours_of(a.low, b.low, c.low, d.low), sum_fours_of(a.high, b.high, c.high, d.high)};
}

INLINE __m256 sum_quarters_of(floats a, floats b) {
    const __m256 first = _mm256_add_ps(a.low, a.high), second = _mm256_add_ps(b.low, b.high);
    return _mm256_add_ps(_mm256_permute2f128_ps(first, second, 0x20), _mm256_permute2f128_ps(first, second, 0x31));
}
INLINE floats sum_quarters(floats a, floats b, floats c, floats d) { return (floats){sum_quarters_of(a, b), sum_quarters_of(c, d)}; }
