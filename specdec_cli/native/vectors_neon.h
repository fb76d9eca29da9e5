// Vectors in four registers of NEON: lanes 0 to 3, 4 to 7, 8 to 11 and 12 to 15.

#pragma once

#include <arm_neon.h>

typedef struct { float32x4_t part[4]; } floats;
typedef struct { int32x4_t part[4]; } integers;
typedef struct { uint32x4_t part[4]; } mask;

#define EVERY_PART(type, value)                                   \
    type result;                                                  \
    for (int i = 0; i < 4; i++) result.part[i] = (value); \
    return result

INLINE floats load(const float *from) { EVERY_PART(floats, vld1q_f32(from + 4 * i)); }
INLINE void store(float *to, floats values) {
    for (int i = 0; i < 4; i++) vst1q_f32(to + 4 * i, values.part[i]);
}
INLINE integers load_integers(const int32_t *from) { EVERY_PART(integers, vld1q_s32(from + 4 * i)); }
INLINE floats all(float value) { EVERY_PART(floats, vdupq_n_f32(value)); }
INLINE floats add(floats a, floats b) { EVERY_PART(floats, vaddq_f32(a.part[i], b.part[i])); }
INLINE floats subtract(floats a, floats b) { EVERY_PART(floats, vsubq_f32(a.part[i], b.part[i])); }
INLINE floats times(floats a, floats b) { EVERY_PART(floats, vmulq_f32(a.part[i], b.part[i])); }
INLINE floats over(floats a, floats b) { EVERY_PART(floats, vdivq_f32(a.part[i], b.part[i])); }
INLINE floats fused(floats a, floats b, floats c) { EVERY_PART(floats, vfmaq_f32(c.part[i], a.part[i], b.part[i])); }
// Not vminq_f32 and vmaxq_f32, which order zeros and NaN in another way.
INLINE float32x4_t smallest_of(float32x4_t a, float32x4_t b) { return vbslq_f32(vcltq_f32(a, b), a, b); }
INLINE float32x4_t largest_of(float32x4_t a, float32x4_t b) { return vbslq_f32(vcgtq_f32(a, b), a, b); }
INLINE floats smallest(floats a, floats b) { EVERY_PART(floats, smallest_of(a.part[i], b.part[i])); }
INLINE floats largest(floats a, floats b) { EVERY_PART(floats, largest_of(a.part[i], b.part[i])); }
INLINE mask below(floats a, floats b) { EVERY_PART(mask, vcltq_f32(a.part[i], b.part[i])); }
INLINE floats choose(mask which, floats yes, floats no) { EVERY_PART(floats, vbslq_f32(which.part[i], yes.part[i], no.part[i])); }
INLINE integers truncated(floats x) { EVERY_PART(integers, vcvtq_s32_f32(x.part[i])); }
INLINE floats converted(integers x) { EVERY_PART(floats, vcvtq_f32_s32(x.part[i])); }

INLINE float32x4_t exponent_of(float32x4_t n) {
    return vreinterpretq_f32_s32(vshlq_n_s32(vaddq_s32(vcvtq_s32_f32(n), vdupq_n_s32(127)), 23));
}
INLINE floats exponent(floats n) { EVERY_PART(floats, exponent_of(n.part[i])); }

INLINE void store_bytes(uint8_t *to, integers x) {
    const int16x8_t low = vcombine_s16(vmovn_s32(x.part[0]), vmovn_s32(x.part[1]));
    const int16x8_t high = vcombine_s16(vmovn_s32(x.part[2]), vmovn_s32(x.part[3]));
    vst1q_u8(to, vcombine_u8(vqmovun_s16(low), vqmovun_s16(high)));
}

INLINE floats first_lanes(floats x, int64_t n) {
    static const int32_t numbers[LANES] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    const int32x4_t end = vdupq_n_s32(n < LANES ? (int32_t)n : LANES);
    EVERY_PART(floats, vbslq_f32(vcltq_s32(vld1q_s32(numbers + 4 * i), end), x.part[i], vdupq_n_f32(-INFINITY)));
}

INLINE float sum_lanes(floats x) {
    const float32x4_t four = vaddq_f32(vaddq_f32(x.part[0], x.part[2]), vaddq_f32(x.part[1], x.part[3]));
    const float32x2_t two = vadd_f32(vget_low_f32(four), vget_high_f32(four));
    return vget_lane_f32(two, 0) + vget_lane_f32(two, 1);
}

INLINE float largest_lane(floats x) {
    const float32x4_t four = largest_of(largest_of(x.part[0], x.part[2]), largest_of(x.part[1], x.part[3]));
    const float32x4_t two = largest_of(four, vextq_f32(four, four, 2));
    return vgetq_lane_f32(largest_of(two, vextq_f32(two, two, 1)), 0);
}

INLINE float32x4_t sum_fours_of(float32x4_t a, float32x4_t b, float32x4_t c, float32x4_t d) {
    const float32x4_t ab = vaddq_f32(vzip1q_f32(a, b), vzip2q_f32(a, b)), cd = vaddq_f32(vzip1q_f32(c, d), vzip2q_f32(c, d));
    return vaddq_f32(vcombine_f32(vget_low_f32(ab), vget_low_f32(cd)), vcombine_f32(vget_high_f32(ab), vget_high_f32(cd)));
}
INLINE floats sum_fours(floats a, floats b, floats c, floats d) {
    EVERY_PART(floats, sum_fours_of(a.part[i], b.part[i], c.part[i], d.part[i]));
}

INLINE float32x4_t sum_quarters_of(floats x) {
    return vaddq_f32(vaddq_f32(x.part[0], x.part[2]), vaddq_f32(x.part[1], x.part[3]));
}
INLINE floats sum_quarters(floats a, floats b, floats c, floats d) {
    return (floats){{sum_quarters_of(a), sum_quarters_of(b), sum_quarters_of(c), sum_quarters_of(d)}};
}
