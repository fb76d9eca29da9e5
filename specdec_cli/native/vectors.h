// Virtual vectors: 16 floats (`floats`) and 16 integers (`integers`), whatever the registers of the processor.
//
// Each instruction set defines the same operations with the same results, to the bit: those of IEEE 754 in float32. Names
// that end in `_lanes` reduce in the order of arithmetic.py. Products of bytes are in products.h.
//
//   load, store, all (every lane), add, subtract, times, over, fused (a b + c, rounded once)
//   smallest (a < b ? a : b), largest (a > b ? a : b), below (mask: a < b), choose (by mask)
//   truncated (floats to integers towards zero), converted (integers to floats), exponent (2^n of whole numbers n in floats)
//   store_bytes (integers 0 to 255), sum_lanes, largest_lane
//   sum_fours: lane 4 n + i is the sum of lanes 4 n to 4 n + 3 of vector i; sum_quarters: lane 4 n + i is the sum of lanes
//   i, i + 4, i + 8, i + 12 of vector n. Both add the first to the third and the second to the fourth, then the two sums.
//   first_lanes (a, n): a with minus infinity in the lanes from n on

#pragma once

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "sizes.h"

#define INLINE static inline __attribute__((always_inline))

#if defined(ISA_AVX512)
#include "vectors_avx512.h"
#elif defined(ISA_AVX2)
#include "vectors_avx2.h"
#elif defined(ISA_NEON)
#include "vectors_neon.h"
#else
#include "vectors_scalar.h"
#endif

// e^x for x up to 88, to about 2 units in the last place; 0 below -87 (the polynomial is that of Cephes' expf).
INLINE floats exponential(floats x) {
    const floats bounded = largest(smallest(x, all(88.0f)), all(-87.0f));
    const floats shifter = all(12582912.0f); // 1.5 * 2^23: adding it rounds to a whole number
    const floats whole = subtract(fused(bounded, all(1.44269504f), shifter), shifter);
    const floats rest = fused(whole, all(2.12194440e-4f), fused(whole, all(-0.693359375f), bounded));
    floats power = all(1.9875691500e-4f);
    power = fused(power, rest, all(1.3981999507e-3f));
    power = fused(power, rest, all(8.3334519073e-3f));
    power = fused(power, rest, all(4.1665795894e-2f));
    power = fused(power, rest, all(1.6666665459e-1f));
    power = fused(power, rest, all(5.0000001201e-1f));
    power = add(fused(times(power, rest), rest, rest), all(1.0f));
    return choose(below(x, all(-87.0f)), all(0.0f), times(power, exponent(whole)));
}

// x (1 + erf(x / sqrt 2)) / 2; erf to 1.5e-7 by Abramowitz and Stegun, Handbook of Mathematical Functions, 7.1.26.
INLINE floats gelu(floats x) {
    const floats zero = all(0.0f), one = all(1.0f), negative = subtract(zero, x);
    const floats size = times(choose(below(x, zero), negative, x), all(0.70710678f));
    const floats t = over(one, add(one, times(size, all(0.3275911f))));
    floats power = all(1.061405429f);
    power = add(times(power, t), all(-1.453152027f));
    power = add(times(power, t), all(1.421413741f));
    power = add(times(power, t), all(-0.284496736f));
    power = add(times(power, t), all(0.254829592f));
    const floats rest = times(times(power, t), exponential(subtract(zero, times(size, size)))); // 1 - erf of the size
    return times(times(all(0.5f), x), choose(below(x, zero), rest, subtract(all(2.0f), rest)));
}

// x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2, which is x / (1 + e^-2u) for the argument u of tanh.
INLINE floats gelu_tanh(floats x) {
    const floats inner = times(x, fused(times(x, x), all(-0.071354816f), all(-1.5957691f)));
    return over(x, add(all(1.0f), exponential(inner)));
}

INLINE floats silu(floats x) {
    return over(x, add(all(1.0f), exponential(subtract(all(0.0f), x))));
}
