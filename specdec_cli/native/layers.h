// Layers over some positions of some rows.

#pragma once

#include "model.h"
#include "team.h"

// Rows that a thread quantizes for itself, and the floats that their ranges take.
#define FEW 4
#define QUANTIZED_ALONE ((int64_t)(FEW * sizeof(struct range) / sizeof(float)))

// Positions of `rows` rows stand one right after the other, those of row r from starts[r] up to starts[r + 1]. x (positions, W)
// goes through all layers of `stack` in place, then through its last norm.
//
// `own`: keys and values of each row, [layer][head][2][own_room[r]][head_room] floats; those of position i go to place
// places[i], and it sees those before ends[i]; with `orders`, those at the first ends[i] places of orders[r], of which places[i] is
// the last. NULL: each position sees the positions of its row, and nothing is kept.
// `memory`: the same of each row's encoded source, [layer][head][2][memory_room[r]][head_room], of which all are seen.
//
// `stopped`, if given: once it is not 0, a thread that works alone leaves the pass after a layer; x has no meaning then.
struct pass {
    const struct kernels *kernels;
    const struct stack *stack;
    int64_t rows, positions;
    const int64_t *starts;
    float *x;
    float *const *own;
    const int64_t *own_room, *places, *ends;
    const int32_t *const *orders;
    float *const *memory;
    const int64_t *memory_room;
    const struct room *room;
    const atomic_int *stopped;
};

// Room for a pass: for `positions` positions of stacks up to a width and an inner width, shared by all threads, and for each
// thread alone.
struct room {
    float *wide, *mixed;   // (positions, max(3 W, F)), (positions, W)
    uint8_t *bytes;        // (positions, max(W, F))
    struct range *ranges;  // (positions)
    float *own;            // (threads, own_size)
    int64_t own_size;
};

// Floats that a thread needs for itself in passes over at most `longest` positions that a query sees.
int64_t own_size_of(const struct stack *stack, int64_t longest);

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
    const struct room *room;
};
void run_linear(struct member *member, const struct linear_call *call);

// The embedding (W) of a token at a position.
void embed_token(const struct kernels *kernels, const struct embedding *embedding, int64_t id, int64_t position, float *to);

// Keys and values (positions, layers * 2 * W, or 2 * W a layer) to their places in the memory of rows.
void store_keys(const struct stack *stack, const float *from, float *to, int64_t layer, int64_t place, int64_t room);
