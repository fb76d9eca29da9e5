// Vectors as arrays, in plain C.

#pragma once

typedef struct { float lane[LANES]; } floats;
typedef struct { int32_t lane[LANES]; } integers;
typedef struct { int32_t lane[LANES]; } mask;

#define EVERY_LANE(type, value)                         \
    type result;                                        \
    for (int i = 0; i < LANES; i++) result.lane[i] = (value); \
    return result

INLINE floats load(const float *from) {
    floats result;
    memcpy(&result, from, sizeof result);
    return result;
}
INLINE void store(float *to, floats values) { memcpy(to, &values, sizeof values); }
INLINE integers load_integers(const int32_t *from) {
    integers result;
    memcpy(&result, from, sizeof result);
    return result;
}
INLINE floats all(float value) { EVERY_LANE(floats, value); }
INLINE floats add(floats a, floats b) { EVERY_LANE(floats, a.lane[i] + b.lane[i]); }
INLINE floats subtract(floats a, floats b) { EVERY_LANE(floats, a.lane[i] - b.lane[i]); }
INLINE floats times(floats a, floats b) { EVERY_LANE(floats, a.lane[i] * b.lane[i]); }
INLINE floats over(floats a, floats b) { EVERY_LANE(floats, a.lane[i] / b.lane[i]); }
INLINE floats fused(floats a, floats b, floats c) { EVERY_LANE(floats, fmaf(a.lane[i], b.lane[i], c.lane[i])); }
INLINE floats smallest(floats a, floats b) { EVERY_LANE(floats, a.lane[i] < b.lane[i] ? a.lane[i] : b.lane[i]); }
INLINE floats largest(floats a, floats b) { EVERY_LANE(floats, a.lane[i] > b.lane[i] ? a.lane[i] : b.lane[i]); }
INLINE mask below(floats a, floats b) { EVERY_LANE(mask, a.lane[i] < b.lane[i]); }
INLINE floats choose(mask which, floats yes, floats no) { EVERY_LANE(floats, which.lane[i] ? yes.lane[i] : no.lane[i]); }
INLINE integers truncated(floats x) { EVERY_LANE(integers, (int32_t)x.lane[i]); }
INLINE floats converted(integers x) { EVERY_LANE(floats, (float)x.lane[i]); }
INLINE floats first_lanes(floats x, int64_t n) { EVERY_LANE(floats, i < n ? x.lane[i] : -INFINITY); }

INLINE floats exponent(floats n) {
    int32_t bits[LANES];
    for (int i = 0; i < LANES; i++) bits[i] = (int32_t)((uint32_t)((int32_t)n.lane[i] + 127) << 23);
    floats result;
    memcpy(&result, bits, sizeof result);
    return result;
}

INLINE void store_bytes(uint8_t *to, integers x) {
    for (int i = 0; i < LANES; i++) to[i] = (uint8_t)x.lane[i];
}

INLINE float sum_lanes(floats x) {
    for (int half = LANES / 2; half; half /= 2)
        for (int i = 0; i < half; i++) x.lane[i] += x.lane[i + half];
    return x.lane[0];
}

INLINE float largest_lane(floats x) {
    for (int half = LANES / 2; half; half /= 2)
        for (int i = 0; i < half; i++) x.lane[i] = x.lane[i] > x.lane[i + half] ? x.lane[i] : x.lane[i + half];
    return x.lane[0];
}

INLINE floats sum_fours(floats a, floats b, floats c, floats d) {
    const floats vectors[4] = {a, b, c, d};
    floats result;
    for (int n = 0; n < 4; n++)
        for (int i = 0; i < 4; i++) {
            const float *x = vectors[i].lane + 4 * n;
            result.lane[4 * n + i] = (x[0] + x[2]) + (x[1] + x[3]);
        }
    return result;
}

INLINE floats sum_quarters(floats a, floats b, floats c, floats d) {
    const floats vectors[4] = {a, b, c, d};
    floats result;
    for (int n = 0; n < 4; n++)
        for (int i = 0; i < 4; i++) {
            const float *x = vectors[n].lane + i;
            result.lane[4 * n + i] = (x[0] + x[8]) + (x[4] + x[12]);
        }
    return result;
}
