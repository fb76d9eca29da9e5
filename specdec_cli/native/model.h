// A model in int8, ready to run.

#pragma once

#include <stdatomic.h>

#include "kernels.h"
#include "memory.h"
#include "specdec.h"
#include "team.h"

// A layer norm, or with `gamma` alone an RMS norm; NULLs where there is none.
struct norm {
    const float *gamma, *beta;
    float epsilon;
};

// A layer of an encoder, or of a decoder, which has attention over a memory too (`query`, `cross_output`, `memory`: the keys
// and values of the encoder's states). Norms after the sublayers are those of a post-norm model.
struct layer {
    struct linear query_key_value, output, query, cross_output, memory, inner, outer;
    struct norm after_attention, after_cross_attention, after_feed_forward;
};

// Layers of one width, and the norm after the last. `attention` is the width of all heads together, `head_stride` is `head_width` rounded
// up to LANES. `biases`: what relative positions add to scores, or NULL: a row of each head in each of `tables` tables, one for all layers or
// one for each, with numbers for the distances -reach to last_bias - reach of a key from its query, and LANES - 1 copies of the first and of
// the last one beside them.
struct stack {
    struct layer *layers;
    int64_t count, heads, head_width, head_stride, width, inner, attention;
    int32_t gated;
    float scale; // of scores
    const float *biases;
    int64_t tables, reach, last_bias;
    struct norm last;
};

// Token embeddings, in the file's number format, and positions in float32.
struct embedding {
    struct specdec_tensor tokens;
    const float *positions;
    int64_t width, offset;
    struct norm norm;
    float scale;
};

// The layers of the slot link (model/slot_link.py). `recurrent.outputs` is 0 for a link that is not recurrent.
struct link {
    struct linear from_state, from_token, output, recurrent;
    const float *unknown;
    int64_t width, candidates;
};

// A block drafter. Its layers attend to what `prefix` makes of the verifier's top states, or, if there is a `mark`, to their own states
// of the prefix.
struct drafter {
    struct stack stack;
    const float *mark;              // (width): added to the embeddings of the prefix
    struct linear prefix, previous; // states to keys and values of all layers, and the last state to the block
    struct linear output;           // the first outputs of the verifier's
    const float *slots;             // (max_block, width)
    struct link link;
};

// The memory of a session's worker, which the next session uses again; lent to one session at a time.
struct lent_arena {
    atomic_int lent;
    struct arena arena;
};

struct specdec_model;
// Takes the memory that the model lends, unless it is lent; NULL, and an empty arena, if it is. Gives it back, or frees what has no lender.
struct lent_arena *borrow_arena(const struct specdec_model *model, struct arena *arena);
void give_back_arena(struct lent_arena *lender, struct arena *arena);

struct specdec_model {
    struct specdec_shape shape;
    const struct kernels *kernels;
    struct embedding source, target;
    struct stack encoder, decoder;
    struct linear output;
    struct specdec_tensor output_rows; // the weights of `output` as they are stored
    struct drafter drafter;
    struct team *team; // lent to sessions
    struct lent_arena *lent_arena;
    struct arena arena;
};

// Reads a model's tensors one after the other. After an error every function does nothing.
struct reader {
    const struct specdec_tensor *tensors;
    int64_t count, next;
    struct arena *arena;
    const struct kernels *kernels;
    int32_t status;
    int64_t damaged;
};

// A row of a matrix as float32 numbers.
void widen_row(const struct kernels *kernels, const struct specdec_tensor *tensor, int64_t row, float *to);

const float *read_vector(struct reader *reader, int64_t size);
const float *read_table(struct reader *reader, int64_t rows, int64_t columns);
void read_embedding(struct reader *reader, int64_t rows, int64_t width, struct specdec_tensor *embedding);
struct norm read_norm(struct reader *reader, int64_t width, int rms, float epsilon);
// Weights (outputs, inputs), and a bias if there is one; `norm` is that before the product.
void read_linear(struct reader *reader, struct linear *linear, int64_t inputs, int64_t outputs, int bias, struct norm norm,
                 int32_t activation);
// The same for weights that were read before, with no bias.
void pack_linear(struct reader *reader, struct linear *linear, const struct specdec_tensor *weights, const float *bias, struct norm norm);
