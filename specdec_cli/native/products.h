// Sums of products of bytes: to (rows, TILE) = x (rows, inputs), 0 to 255, times a tile of weights, -127 to 127, exactly.
//
// A tile has TILE outputs; its weights are packed as [inputs / 4][TILE][4]. `sums` (TILE) are those of each output's weights.
// `rows` is at most ROWS. Each instruction set multiplies as many rows and outputs together as its registers hold.
//
// multiply_sparse_rows() computes the same for at most SPARSE_ROWS rows, and leaves out the weights of inputs that are 0 in all of them,
// four inputs at a time. The more rows, the fewer such inputs.

#pragma once

#include "vectors.h"

#define ROWS 6     // rows of a product at most
#define SPARSE_ROWS 3
#if defined(ISA_AVX512)
#define SPARSE_FROM 13 // rows from which on it pays: fewer wait for the memory, which is faster where all weights are read in order
#else
#define SPARSE_FROM 1
#endif
#define AHEAD 8192 // bytes: how far before their use weights are fetched from memory

INLINE int32_t four_bytes(const uint8_t *x) {
    int32_t four;
    memcpy(&four, x, 4);
    return four;
}

// The address of weights that are needed later, and how many cache lines of them are fetched with every four inputs. Without this nothing
// would be read from memory while the second and further blocks of rows are multiplied with a tile.
struct ahead {
    uintptr_t from;
    int lines;
};

// What the block of rows number `block` of `blocks` fetches: its part of the next tile. A single block is too short for that, unless it
// has many rows. A tile has `size` bytes.
INLINE struct ahead ahead_of(const int8_t *tile, int64_t size, int64_t blocks, int64_t block, int rows) {
    const uintptr_t start = (uintptr_t)tile;
    if (blocks == 1) return (struct ahead){start + AHEAD, rows > 4 ? 4 : 0};
    const int lines = blocks >= 4 ? 1 : 2;
    return (struct ahead){start + (uintptr_t)(size + size / 4 * lines * block), block * lines < 4 ? lines : 0};
}

// Begins to fetch the weights that stand AHEAD of these, `size` bytes. It pays where a product takes longer than its weights need to
// arrive: the processor's own prefetching then falls behind. Where it does not, more instructions only delay it. A prefetch beyond the
// last weights has no effect.
INLINE void fetch_ahead(const int8_t *weights, int64_t size) {
    for (int64_t i = 0; i < size; i += CACHE_LINE) __builtin_prefetch((const void *)((uintptr_t)weights + AHEAD + (uintptr_t)i));
}

#define MOST_FOURS 512 // fours of inputs that are looked through at once
#define FOURS_AHEAD 8  // how many fours before their use weights are fetched
#define PLACES (MOST_FOURS + LANES + FOURS_AHEAD)

#if defined(ISA_AVX512) || defined(ISA_AVX2)

// Writes to `at` (PLACES) the places of the fours of inputs, of those before `inputs`, that are not all 0 in each row; then FOURS_AHEAD
// times the end. Returns the number of places. Bytes that are less than `least`, which is 1 or 128, count as 0. `stride`: bytes from a row
// to the next.
INLINE int find_fours(const int rows, const int least, const uint8_t *x, int64_t stride, int64_t inputs, int32_t *at) {
    int count = 0;
#if defined(ISA_AVX512)
    __m512i places = _mm512_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60);
    for (int64_t i = 0; i < inputs; i += 4 * LANES, places = _mm512_add_epi32(places, _mm512_set1_epi32(4 * LANES))) {
        const __mmask16 there = inputs - i < 4 * LANES ? (__mmask16)((1u << (inputs - i) / 4) - 1) : 0xffff;
        __m512i any = _mm512_maskz_loadu_epi32(there, x + i);
        for (int row = 1; row < rows; row++) any = _mm512_or_si512(any, _mm512_maskz_loadu_epi32(there, x + row * stride + i));
        const __mmask16 some = _mm512_test_epi32_mask(any, _mm512_set1_epi8((char)-least));
        _mm512_storeu_si512(at + count, _mm512_maskz_compress_epi32(some, places));
        count += __builtin_popcount(some);
    }
#else
    for (int64_t i = 0; i < inputs; i += LANES) {
        __m128i any = _mm_loadu_si128((const __m128i *)(x + i));
        for (int row = 1; row < rows; row++) any = _mm_or_si128(any, _mm_loadu_si128((const __m128i *)(x + row * stride + i)));
        any = _mm_and_si128(any, _mm_set1_epi8((char)-least)); // no bit that is less
        const int zero = _mm_movemask_ps(_mm_castsi128_ps(_mm_cmpeq_epi32(any, _mm_setzero_si128())));
        for (int four = 0; four < 4; four++) {
            at[count] = (int32_t)(i + 4 * four);
            count += !(zero >> four & 1);
        }
    }
#endif
    for (int i = 0; i < FOURS_AHEAD; i++) at[count + i] = (int32_t)inputs;
    return count;
}

INLINE void fetch_lines(struct ahead *ahead) {
    // Into the second cache: the first one has no room for a tile beside the present one.
    for (int i = 0; i < ahead->lines; i++, ahead->from += CACHE_LINE) __builtin_prefetch((const void *)ahead->from, 0, 2);
}

INLINE void fetch_four(const int8_t *weights, int64_t size) {
    for (int64_t i = 0; i < size; i += CACHE_LINE) __builtin_prefetch(weights + i);
}

#endif

#if defined(ISA_AVX512)

// Weights in a register. Without it GCC loads them from memory for each row anew.
INLINE __m512i load_weights(const int8_t *weights) {
    __m512i loaded = _mm512_loadu_si512(weights);
    __asm__("" : "+v"(loaded));
    return loaded;
}

// For each row: adds to its sums (64 outputs) the products of four inputs with their weights.
INLINE void multiply_four(const int rows, const uint8_t *x, int64_t inputs, const int8_t *weights, __m512i (*sums)[4]) {
    const __m512i first = load_weights(weights), second = load_weights(weights + 64);
    const __m512i third = load_weights(weights + 128), fourth = load_weights(weights + 192);
#pragma GCC unroll 6
    for (int row = 0; row < rows; row++) {
        const __m512i four = _mm512_set1_epi32(four_bytes(x + row * inputs));
        sums[row][0] = _mm512_dpbusd_epi32(sums[row][0], four, first);
        sums[row][1] = _mm512_dpbusd_epi32(sums[row][1], four, second);
        sums[row][2] = _mm512_dpbusd_epi32(sums[row][2], four, third);
        sums[row][3] = _mm512_dpbusd_epi32(sums[row][3], four, fourth);
    }
}

INLINE void multiply_some(const int rows, const int sparse, const uint8_t *x, int64_t inputs, const int8_t *weights, struct ahead ahead,
                          int32_t *to) {
    __m512i sums[ROWS][4];
    for (int row = 0; row < rows; row++)
        for (int part = 0; part < 4; part++) sums[row][part] = _mm512_setzero_si512();
    for (int64_t first = 0; sparse && first < inputs; first += 4 * MOST_FOURS) {
        int32_t fours[PLACES];
        const int count = find_fours(rows, 1, x + first, inputs, smaller(inputs - first, 4 * MOST_FOURS), fours);
        const int times = (int)smaller(inputs - first, 4 * MOST_FOURS) / 4 / (count + 1); // as many lines as with all fours
        for (int i = 0; i < count; i++) {
            for (int k = 0; k < times; k++) fetch_lines(&ahead);
            fetch_four(weights + (first + fours[i + FOURS_AHEAD]) * TILE, 4 * TILE);
            multiply_four(rows, x + first + fours[i], inputs, weights + (first + fours[i]) * TILE, sums);
        }
    }
    for (int64_t i = 0; !sparse && i < inputs; i += 4) {
        fetch_lines(&ahead);
        multiply_four(rows, x + i, inputs, weights + i * TILE, sums);
    }
#pragma GCC unroll 6
    for (int row = 0; row < rows; row++)
        for (int part = 0; part < 4; part++) _mm512_storeu_si512(to + row * TILE + part * LANES, sums[row][part]);
}

static void multiply_rows(const uint8_t *x, int64_t inputs, const int8_t *weights, const int32_t *sums, int rows,
                          struct ahead ahead, int32_t *to) {
    (void)sums;
    switch (rows) {
    case 1: multiply_some(1, 0, x, inputs, weights, ahead, to); break;
    case 2: multiply_some(2, 0, x, inputs, weights, ahead, to); break;
    case 3: multiply_some(3, 0, x, inputs, weights, ahead, to); break;
    case 4: multiply_some(4, 0, x, inputs, weights, ahead, to); break;
    case 5: multiply_some(5, 0, x, inputs, weights, ahead, to); break;
    default: multiply_some(6, 0, x, inputs, weights, ahead, to);
    }
}

static void multiply_sparse_rows(const uint8_t *x, int64_t inputs, const int8_t *weights, const int32_t *sums, int rows,
                          struct ahead ahead, int32_t *to) {
    (void)sums;
    switch (rows) {
    case 1: multiply_some(1, 1, x, inputs, weights, ahead, to); break;
    case 2: multiply_some(2, 1, x, inputs, weights, ahead, to); break;
    default: multiply_some(3, 1, x, inputs, weights, ahead, to);
    }
}

#elif defined(ISA_AVX2)

// Products of four bytes of a row, in every place, with 32 weights, added to sums of 8 outputs.
#if defined(ISA_AVX_VNNI)
#define BIAS 0
#define ROWS_AT_ONCE 3 // rows that are multiplied together
typedef __m256i factor;
INLINE factor factor_of(const uint8_t *x) { return _mm256_set1_epi32(four_bytes(x)); }
INLINE __m256i accumulate(__m256i sums, factor x, __m256i weights) { return _mm256_dpbusd_avx_epi32(sums, x, weights); }
INLINE int32_t left_out_of(const uint8_t *x, int64_t inputs) {
    (void)x, (void)inputs;
    return 0;
}
#else
// AVX2 adds two products of an unsigned and a signed byte in 16 bits. For the sum to fit, the unsigned byte is at most 128: it is
// |x - 128|, and the sum is at least 2 * 128 * -128 = -2^15. Where x < 128, the weight w has to change its sign; its complement
// ~w = -w - 1 is faster to compute, and makes the product too small by |x - 128|, which left_out_of() sums up for a row.
#define BIAS 128
#define ROWS_AT_ONCE 2
typedef struct { __m256i size, flips; } factor;
INLINE factor factor_of(const uint8_t *x) {
    const __m256i centred = _mm256_xor_si256(_mm256_set1_epi32(four_bytes(x)), _mm256_set1_epi8(-128));
    return (factor){_mm256_abs_epi8(centred), _mm256_cmpgt_epi8(_mm256_setzero_si256(), centred)};
}
INLINE __m256i accumulate(__m256i sums, factor x, __m256i weights) {
    const __m256i pairs = _mm256_maddubs_epi16(x.size, _mm256_xor_si256(weights, x.flips));
    return _mm256_add_epi32(sums, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}
// The sum of |x - 128| where x < 128, in a row of a multiple of LANES bytes.
INLINE int32_t left_out_of(const uint8_t *x, int64_t inputs) {
    __m128i sums = _mm_setzero_si128();
    for (int64_t i = 0; i < inputs; i += LANES) {
        const __m128i missing = _mm_subs_epu8(_mm_set1_epi8(-128), _mm_loadu_si128((const __m128i *)(x + i)));
        sums = _mm_add_epi32(sums, _mm_sad_epu8(missing, _mm_setzero_si128()));
    }
    return _mm_cvtsi128_si32(sums) + _mm_extract_epi32(sums, 2);
}
#endif

#define IN_REGISTER 8

INLINE void multiply_some(const int rows, const int outputs, const int fetches, const uint8_t *x, int64_t inputs, const int8_t *tile,
                          const int32_t *of_weights, int32_t *to) {
    const int parts = outputs / IN_REGISTER;
    __m256i left_out[ROWS_AT_ONCE], sums[ROWS_AT_ONCE][TILE / IN_REGISTER];
    for (int row = 0; row < rows; row++) left_out[row] = _mm256_set1_epi32(left_out_of(x + row * inputs, inputs));
    for (int first = 0; first < TILE; first += outputs, of_weights += outputs, to += outputs) {
        for (int part = 0; part < parts; part++) {
            const __m256i weight_sums = _mm256_loadu_si256((const __m256i *)(of_weights + part * IN_REGISTER));
            for (int row = 0; row < rows; row++)
                sums[row][part] = _mm256_add_epi32(_mm256_mullo_epi32(weight_sums, _mm256_set1_epi32(BIAS)), left_out[row]);
        }
        const int8_t *weights = tile + 4 * first;
        for (int64_t i = 0; i < inputs; i += 4, weights += 4 * TILE) {
            if (fetches) fetch_ahead(weights, 4 * outputs);
            factor factors[ROWS_AT_ONCE];
#pragma GCC unroll 3
            for (int row = 0; row < rows; row++) factors[row] = factor_of(x + row * inputs + i);
#pragma GCC unroll 8
            for (int part = 0; part < parts; part++) {
                const __m256i some = _mm256_loadu_si256((const __m256i *)weights + part);
#pragma GCC unroll 3
                for (int row = 0; row < rows; row++) sums[row][part] = accumulate(sums[row][part], factors[row], some);
            }
        }
#pragma GCC unroll 3
        for (int row = 0; row < rows; row++)
            for (int part = 0; part < parts; part++)
                _mm256_storeu_si256((__m256i *)(to + row * TILE + part * IN_REGISTER), sums[row][part]);
    }
}

// Inputs for maddubs in two parts, of at most 127 and 128, so that sums of two products by weights fit in 16 bits. Few inputs have the
// second part.
#if defined(ISA_AVX_VNNI)
#define BYTE_PARTS 1
INLINE __m256i byte_part(const uint8_t *x, const int part) {
    (void)part;
    return _mm256_set1_epi32(four_bytes(x));
}
INLINE __m256i accumulate_part(__m256i sums, __m256i x, __m256i weights) { return _mm256_dpbusd_avx_epi32(sums, x, weights); }
#else
#define BYTE_PARTS 2
INLINE __m256i byte_part(const uint8_t *x, const int part) {
    const __m256i four = _mm256_set1_epi32(four_bytes(x)), most = _mm256_set1_epi8(127);
    return part ? _mm256_subs_epu8(four, most) : _mm256_min_epu8(four, most);
}
INLINE __m256i accumulate_part(__m256i sums, __m256i x, __m256i weights) {
    return _mm256_add_epi32(sums, _mm256_madd_epi16(_mm256_maddubs_epi16(x, weights), _mm256_set1_epi16(1)));
}
#endif

// Adds the products of some fours of inputs with `outputs` outputs.
INLINE void multiply_fours(const int rows, const int outputs, const int part, const uint8_t *x, int64_t inputs, const int8_t *weights,
                           const int32_t *fours, int count, __m256i (*sums)[TILE / IN_REGISTER]) {
    for (int i = 0; i < count; i++) {
        const int8_t *own = weights + fours[i] * TILE;
        fetch_four(weights + fours[i + FOURS_AHEAD] * TILE, 4 * outputs);
        __m256i parts[ROWS_AT_ONCE];
#pragma GCC unroll 3
        for (int row = 0; row < rows; row++) parts[row] = byte_part(x + row * inputs + fours[i], part);
#pragma GCC unroll 8
        for (int k = 0; k < outputs / IN_REGISTER; k++) {
            const __m256i some = _mm256_loadu_si256((const __m256i *)own + k);
#pragma GCC unroll 3
            for (int row = 0; row < rows; row++) sums[row][k] = accumulate_part(sums[row][k], parts[row], some);
        }
    }
}

INLINE void multiply_some_sparse(const int rows, const int outputs, const uint8_t *x, int64_t inputs, const int8_t *tile, int32_t *to) {
    int32_t fours[BYTE_PARTS][PLACES];
    int counts[BYTE_PARTS];
    memset(to, 0, (size_t)rows * TILE * sizeof *to);
    for (int64_t begin = 0; begin < inputs; begin += 4 * MOST_FOURS) {
        const int64_t size = smaller(inputs - begin, 4 * MOST_FOURS);
        for (int part = 0; part < BYTE_PARTS; part++)
            counts[part] = find_fours(rows, part ? 128 : 1, x + begin, inputs, size, fours[part]);
        for (int first = 0; first < TILE; first += outputs) {
            const int8_t *weights = tile + begin * TILE + 4 * first;
            __m256i sums[ROWS_AT_ONCE][TILE / IN_REGISTER];
            __m256i *stored = (__m256i *)(to + first);
            for (int row = 0; row < rows; row++)
                for (int k = 0; k < outputs / IN_REGISTER; k++)
                    sums[row][k] = _mm256_loadu_si256(stored + row * (TILE / IN_REGISTER) + k);
            for (int part = 0; part < BYTE_PARTS; part++)
                multiply_fours(rows, outputs, part, x + begin, inputs, weights, fours[part], counts[part], sums);
            for (int row = 0; row < rows; row++)
                for (int k = 0; k < outputs / IN_REGISTER; k++)
                    _mm256_storeu_si256(stored + row * (TILE / IN_REGISTER) + k, sums[row][k]);
        }
    }
}

static void multiply_sparse_rows(const uint8_t *x, int64_t inputs, const int8_t *weights, const int32_t *sums, int rows,
                          struct ahead ahead, int32_t *to) {
    (void)sums, (void)ahead;
    for (int row = 0; row < rows; row += ROWS_AT_ONCE) {
        const uint8_t *from = x + row * inputs;
        int32_t *sums_of_row = to + row * TILE;
        if (rows - row >= ROWS_AT_ONCE) multiply_some_sparse(ROWS_AT_ONCE, TILE / 2, from, inputs, weights, sums_of_row);
        else if (rows - row == 2) multiply_some_sparse(2, TILE / 2, from, inputs, weights, sums_of_row);
        else multiply_some_sparse(1, TILE, from, inputs, weights, sums_of_row);
    }
}

#elif defined(ISA_NEON)

#define IN_REGISTER 4
#define ROWS_AT_ONCE 3

// NEON multiplies signed bytes, so x - 128 takes the place of x. Each sum begins with 128 times the sum of its weights to balance this.
INLINE void multiply_some(const int rows, const int outputs, const int fetches, const uint8_t *x, int64_t inputs, const int8_t *tile,
                          const int32_t *of_weights, int32_t *to) {
    const int parts = outputs / IN_REGISTER;
    int32x4_t sums[ROWS_AT_ONCE][TILE / IN_REGISTER];
    for (int first = 0; first < TILE; first += outputs, of_weights += outputs, to += outputs) {
#pragma GCC unroll 16
        for (int part = 0; part < parts; part++)
#pragma GCC unroll 3
            for (int row = 0; row < rows; row++) sums[row][part] = vshlq_n_s32(vld1q_s32(of_weights + part * IN_REGISTER), 7);
        const int8_t *weights = tile + 4 * first;
        for (int64_t i = 0; i < inputs; i += 4, weights += 4 * TILE) {
            int8x16_t fours[ROWS_AT_ONCE];
#pragma GCC unroll 3
            for (int row = 0; row < rows; row++)
                fours[row] = vreinterpretq_s8_s32(vdupq_n_s32(four_bytes(x + row * inputs + i) ^ (int32_t)0x80808080));
#pragma GCC unroll 16
            for (int part = 0; part < parts; part++) {
                const int8x16_t some = vld1q_s8(weights + 16 * part);
#pragma GCC unroll 3
                for (int row = 0; row < rows; row++) sums[row][part] = vdotq_s32(sums[row][part], some, fours[row]);
            }
        }
#pragma GCC unroll 3
        for (int row = 0; row < rows; row++)
#pragma GCC unroll 16
            for (int part = 0; part < parts; part++) vst1q_s32(to + row * TILE + part * IN_REGISTER, sums[row][part]);
    }
}

#else

static void multiply_rows(const uint8_t *x, int64_t inputs, const int8_t *weights, const int32_t *sums, int rows,
                          struct ahead ahead, int32_t *to) {
    (void)sums, (void)ahead;
    for (int row = 0; row < rows; row++, x += inputs, to += TILE) {
        const int8_t *from = weights;
        memset(to, 0, TILE * sizeof *to);
        for (int64_t i = 0; i < inputs; i += 4, from += 4 * TILE)
            for (int output = 0; output < TILE; output++)
                to[output] += x[i] * from[4 * output] + x[i + 1] * from[4 * output + 1] + x[i + 2] * from[4 * output + 2] +
                              x[i + 3] * from[4 * output + 3];
    }
}

#endif

#if !defined(ISA_AVX512) && !defined(ISA_AVX2)
#define multiply_sparse_rows multiply_rows
#endif

#if defined(IN_REGISTER)

// Several rows are multiplied with half a tile at once. A row that is left has all registers for itself and is multiplied with the
// whole tile: sums that do not wait for each other hide the time that an instruction takes.
static void multiply_rows(const uint8_t *x, int64_t inputs, const int8_t *weights, const int32_t *sums, int rows,
                          struct ahead ahead, int32_t *to) {
    (void)ahead;
    for (int row = 0; row < rows; row += ROWS_AT_ONCE) {
        const uint8_t *from = x + row * inputs;
        int32_t *sums_of_row = to + row * TILE;
        if (rows - row >= ROWS_AT_ONCE) multiply_some(ROWS_AT_ONCE, TILE / 2, 1, from, inputs, weights, sums, sums_of_row);
        else if (rows - row == 2) multiply_some(2, TILE / 2, 1, from, inputs, weights, sums, sums_of_row);
        else multiply_some(1, TILE, rows > 1, from, inputs, weights, sums, sums_of_row);
    }
}

#endif
