// What each instruction set computes: the table that every variant of kernels.inc fills.

#pragma once

#include <stdint.h>

#define SUPPRESSED -1e4f // what the output bias adds to the logit of a suppressed token: see model/choices.py

// A linear layer with the norm before it and the activation after it. `weights` are packed by tiles (products.h), `tiles` of
// them; `scales`, `sums` (of an output's weights, also as floats) and `bias` have a place for each output of each tile.
struct linear {
    int64_t inputs, outputs, tiles;
    int8_t *weights;
    float *scales, *float_sums, *bias;
    int32_t *sums;
    const float *gamma, *beta; // NULL: no norm; NULL for `beta` alone: an RMS norm
    float epsilon;             // of the norm
    int32_t activation;
    int64_t activated;         // so many first outputs have the activation; the others are factors of a gated layer
    int32_t gated;             // whether a row that is read is `inputs` numbers and as many factors of them
    int32_t sparse; // whether products look for inputs that are 0 and leave them out: behind a ReLU, most are
};

// One row as bytes: number = low + step * byte.
struct range {
    float low, step;
};

// Rows of `linear` that are multiplied with one tile: x (rows, inputs), `to` and `residual` (rows, outputs), of which these
// are the first rows' addresses. The largest number of each row in the tile goes to `tops`, if given; it is not a number if one of them is
// not finite.
struct product {
    const struct linear *linear;
    const uint8_t *x;
    const struct range *ranges;
    int64_t rows;
    const float *residual;
    float *to, *tops;
};

// Attention of `count` queries of one head.
// - `keys`, `values` (end, width): query i attends to the keys before ends[i], or before `end` if `ends` is NULL. Key i and its value are in
//   row order[i], or in row i if `order` is NULL.
// - `width`: a multiple of LANES; of each row, the first `used` numbers are data, and the others are 0.
// - `queries`, `to`: query i begins at queries + i * stride, and its output at to + i * to_stride.
// - `bias`: what is added to the scores of a query at positions[i] and of LANES keys from `key` on, from
//   bias[clamp(key - positions[i] + reach + LANES - 1, 0, last + LANES - 1)] on; or NULL.
// - `scores`: memory for MOST_QUERIES * room floats; `room` is the largest end, rounded up to a multiple of LANES.
struct attention {
    const float *queries, *keys, *values;
    const int32_t *order;
    const int64_t *ends;
    int64_t count, end, width, used, stride, to_stride, room;
    float *scores, *to;
    float scale;
    const float *bias;
    int64_t reach, last;
    const int64_t *positions;
};

#define MOST_QUERIES 4 // that are computed together

struct kernels {
    const char *name;
    // Quantizes a row (inputs) after the layer's norm, for which `normed` has room.
    void (*quantize)(const struct linear *linear, const float *row, float *normed, uint8_t *to, struct range *range);
    void (*multiply)(const struct product *product, int64_t tile);
    void (*attend)(const struct attention *attention);
    void (*normalize)(const float *gamma, const float *beta, float epsilon, const float *row, int64_t width, float *to);
    // to (width) = token * scale + position, all float32; without positions if that is NULL.
    void (*embed)(const float *token, float scale, const float *position, int64_t width, float *to);
    void (*add_rows)(float *x, const float *y, int64_t width);
    float (*dot)(const float *x, const float *y, int64_t width); // width: a multiple of LANES
    float (*log_probability)(const float *logits, int64_t size, float top, int64_t id);
    // What turns logits into log probabilities: their largest one, and the logarithm of the sum of e^(logit - top). Suppressed logits
    // count as without SUPPRESSED.
    void (*log_softmax)(const float *logits, int64_t size, float *top, float *log_total);
    // A row of a matrix in a number format of specdec.h as float32; the scale of a row of SPECDEC_TYPE_I8. Any alignment.
    void (*widen)(int32_t type, const void *from, float scale, int64_t size, float *to);
    // Quantizes a row of weights: its scale, and its whole numbers. Returns 0 if a number is not finite.
    int (*quantize_weights)(const float *row, int64_t size, float *scale, int8_t *to);
    // The exponential function of attend and log_softmax, for tests of its accuracy. size: a multiple of LANES.
    void (*exponential)(const float *x, int64_t size, float *to);
};

extern const struct kernels kernels_scalar;
#if defined(__x86_64__)
extern const struct kernels kernels_avx2, kernels_avx_vnni, kernels_avx512_vnni;
#if __clang_major__ >= 12 || (!defined(__clang__) && __GNUC__ >= 11)
#define HAS_AVX_VNNI // older compilers do not know it
#endif
#elif defined(__aarch64__)
extern const struct kernels kernels_neon;
#endif

// The table of an instruction set that this processor has, or NULL.
const struct kernels *find_kernels(const char *name);
