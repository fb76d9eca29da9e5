// Layers of a translation model in bytes: products in integers, attention in floating point.

#pragma once

#include "team.h"
#include "vectors.h"

#define TILE 64 // outputs computed together

// A linear layer. `weights` are packed by tiles of 64 outputs: [tile][input / 4][64][4], zeros where there is no
// output; `scales`, `sums` (of an output's integer weights) and `bias` have a place for each output of each tile.
// `gamma` and `beta`, if given, are of the layer norm before it.
struct linear {
    int64_t inputs, outputs;
    const int8_t *weights;
    const float *scales, *sums, *bias, *gamma, *beta;
    float epsilon;
    int32_t activation;
};

enum { NONE, RELU, GELU, SILU };

// The layer norm after a sublayer of a post-norm model.
struct norm {
    const float *gamma, *beta;
    float epsilon;
};

// What the queries of a pass attend to: the first `ends` keys of their row. Strides count floats, those of ends count
// ends; (rows, queries) of them, or (rows, 1).
struct keys {
    float *keys, *values;
    int64_t stride, row_stride; // from key to key, and from row to row
    const int64_t *ends;
    int64_t end_stride, end_row_stride; // from query to query, and from row to row
    int64_t packed;                     // whether keys stand as queries do, those of a row right after those before it
};

// Which queries there are: those of row r from number starts[r] up to starts[r + 1], counted over all rows.
struct rows {
    int64_t number;
    const int64_t *starts;
};

// A layer of an encoder, or of a decoder, which has a second attention: over a memory.
struct layer {
    int64_t heads, width;
    const struct linear *query_key_value, *output, *query, *cross_output, *inner, *outer;
    struct norm after_attention, after_cross_attention, after_feed_forward;
};

// Layers, and the norm after the last of them.
struct stack {
    const struct layer *layers;
    int64_t number;
    struct norm last;
};

// Of tokens and positions, added, then normed if there is a norm.
struct embedding {
    const float *tokens, *positions;
    int64_t width, offset;
    struct norm norm;
    float scale;
};

// Of a token at a position, to (W).
void embed(const struct embedding *embedding, int64_t id, int64_t position, float *to);

// to (rows, outputs) = activation(norm(x) (rows, inputs) * weights + bias) + residual (rows, outputs), if there is one;
// `to` may be the residual; tops (tiles, rows), if given, are the largest numbers by tiles of outputs. `scratch` has room for
// rows * (inputs + 8) bytes. All threads of a piece of work call this.
void linear(const struct linear *layer, const float *x, int64_t rows, const float *residual, float *to, float *tops, uint8_t *scratch);

// x (queries, W) through all layers, in place, then through the last norm. What a layer sees is `own` and `memory`,
// one of each a layer; without keys, attention is over x itself. `scratch` has room for
// queries * (max(3 W, F) + W) floats and as many bytes as the widest of the products needs.
void specdec_layers(const struct stack *stack, float *x, const struct rows *rows, const struct keys *own, const int64_t *places,
                    const struct keys *memory, float *scratch, int threads);

// Rows that stand one right after the other, `starts` (rows + 1) apart, to places of `length` each; zeros behind them.
void spread(float *x, int64_t rows, const int64_t *starts, int64_t length, int64_t width);
