// Layers over some positions of some rows.

#pragma once

#include "model.h"
#include "team.h"

// Rows that a thread quantizes for itself, and the floats that their ranges take.
#define FEW 4
#define QUANTIZED_ALONE ((int64_t)(FEW * sizeof(struct range) / sizeof(float)))

// Positions of `rows` rows stand one right after the other, those of row r from starts[r] up to starts[r + 1]. x (positions, W)
// goes through all layers of `stack` in place, then through its last norm. With an `embedding`, x begins as that of the tokens `ids`.
// Position i is that of token number token_positions[i] of its row.
//
// `caches`: keys and values of each row, [layer][head][2][cache_capacities[r]][head_stride] floats; those of position i go to
// indices[i], and it sees those before ends[i]; with `orders`, those at the first ends[i] indices of orders[r], of which indices[i] is
// the last. NULL: each position sees the positions of its row, and nothing is kept.
// `memories`: the same of each row's encoded source, [layer][head][2][memory_capacities[r]][head_stride], of which all are seen.
//
// `stopped`, if given: once it is not 0, a thread that works alone leaves the pass after a layer; x has no meaning then.
struct pass {
    const struct kernels *kernels;
    const struct stack *stack;
    const struct embedding *embedding;
    const int32_t *ids;
    const int64_t *token_positions;
    int64_t rows, positions;
    const int64_t *starts;
    float *x;
    float *const *caches;
    const int64_t *cache_capacities, *indices, *ends;
    const int32_t *const *orders;
    float *const *memories;
    const int64_t *memory_capacities;
    const struct workspace *workspace;
    const atomic_int *stopped;
};

// What a pass over `positions` positions computes on its way: shared by all threads, and `scratch` for each thread alone. Of stacks up to a
// width W, a width A of all heads and an inner width F, which counts twice if the units are gated.
struct workspace {
    float *projected;     // (positions, max(3 A, F)): queries, keys and values, or inner activations
    float *attended;      // (positions, max(W, A)): what attention gives
    uint8_t *bytes;       // (positions, max(W, A, F)): quantized rows
    struct range *ranges; // (positions): their ranges
    float *scratch;       // (threads, scratch_size)
    int64_t scratch_size;
};

// Sizes of a workspace: threads, positions, floats of a position's rows in `projected` and `attended`, bytes of a quantized row, and floats
// of `scratch` for a thread.
struct workspace_sizes {
    int64_t threads, positions, projected, attended, quantized, scratch;
};
// Returns 0 without memory.
int open_workspace(struct workspace *workspace, struct arena *arena, const struct workspace_sizes *sizes);

// Of a position: floats that the first products of a stack's sublayers give, and numbers that its products read at most.
int64_t projected_of(const struct stack *stack);
int64_t widest_input_of(const struct stack *stack);
// Floats that a thread needs for itself in passes over at most `longest` positions that a query sees.
int64_t scratch_size_of(const struct stack *stack, int64_t longest);

void run_pass(struct member *member, const struct pass *pass);
// Whether the thread is to leave the pass.
int leaves_pass(const struct member *member, const struct pass *pass);

// The number of multiplications in all matrix products of a pass over `positions` positions.
int64_t multiplications_of(const struct stack *stack, int64_t positions);

// to (rows, outputs) = linear(x (rows, inputs)) + residual, if given; `tops` (tiles, rows) if given.
struct linear_call {
    const struct kernels *kernels;
    const struct linear *linear;
    const float *x, *residual;
    int64_t rows;
    float *to, *tops;
    const struct workspace *workspace;
};
void run_linear(struct member *member, const struct linear_call *call);

// Keys and values of all layers of `stack` for the states of an encoder's pass, to the memory of each row.
void project_sources(struct member *member, const struct pass *pass, const struct stack *stack, float *const *memories);

// The embedding (W) of a token at a position.
void embed_token(const struct kernels *kernels, const struct embedding *embedding, int64_t id, int64_t position, float *to);

// The number of floats that the keys and values of all layers have for `positions` positions of a row.
int64_t keys_size_of(const struct stack *stack, int64_t positions);

// Keys and values (2 * A) of a position to `index` of a cache.
void store_keys(const struct stack *stack, const float *from, float *to, int64_t layer, int64_t index, int64_t capacity);
