// Integer products and attention for the decoder of a translation model, a few rows at a time.
//
// Every number of a row is computed by the same instructions in the same order, whatever stands beside the row:
// sums of integers are exact, and all other sums run over the row alone. So a token decoded by itself has the very
// logits that it has within a block or a batch. For that, each such sum has one copy of its code: noinline, noclone.

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "team.h"
#if defined(__AVX512VNNI__) || defined(__AVXVNNI__)
#include <immintrin.h>
#else
#error "no instruction for products of unsigned and signed bytes"
#endif

#define LANES 16
#define TILE 64 // outputs computed together
#define BLOCK 6 // rows computed together

typedef float floats __attribute__((vector_size(4 * LANES), aligned(4), may_alias));
typedef int32_t integers __attribute__((vector_size(4 * LANES), aligned(4), may_alias));
typedef uint8_t bytes __attribute__((vector_size(LANES), aligned(1), may_alias));

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

static inline floats load(const float *from) { return *(const floats *)from; }
static inline void store(float *to, floats values) { *(floats *)to = values; }
static inline floats all(float value) { return value - (floats){0}; }
static inline floats choose(integers mask, floats yes, floats no) { return (floats)(((integers)yes & mask) | ((integers)no & ~mask)); }
static inline floats largest(floats a, floats b) { return choose(a > b, a, b); }
static inline floats smallest(floats a, floats b) { return choose(a < b, a, b); }

static inline float sum_lanes(floats v) {
    v += __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7);
    v += __builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11);
    v += __builtin_shufflevector(v, v, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13);
    return v[0] + v[1];
}

static inline integers multiply_add(integers sums, int32_t four_inputs, const int8_t *weights) {
#if defined(__AVX512VNNI__)
    return (integers)_mm512_dpbusd_epi32((__m512i)sums, _mm512_set1_epi32(four_inputs), _mm512_loadu_si512(weights));
#else
    union { integers all; __m256i half[2]; } both = {sums};
    __m256i inputs = _mm256_set1_epi32(four_inputs);
    for (int i = 0; i < 2; i++)
        both.half[i] = _mm256_dpbusd_avx_epi32(both.half[i], inputs, _mm256_loadu_si256((const __m256i *)weights + i));
    return both.all;
#endif
}

// e^x for x up to 88, to about 2 units in the last place; 0 below -87.
static inline floats exponential(floats x) {
    const floats bounded = largest(smallest(x, all(88.0f)), all(-87.0f));
    const floats shifter = all(12582912.0f); // 1.5 * 2^23: adding it rounds to a whole number
    floats whole = (bounded * 1.44269504f + shifter) - shifter;
    floats rest = (bounded - whole * 0.693359375f) + whole * 2.12194440e-4f;
    floats power = all(1.9875691500e-4f);
    power = power * rest + 1.3981999507e-3f;
    power = power * rest + 8.3334519073e-3f;
    power = power * rest + 4.1665795894e-2f;
    power = power * rest + 1.6666665459e-1f;
    power = power * rest + 5.0000001201e-1f;
    power = power * rest * rest + rest + 1.0f;
    integers exponent = (__builtin_convertvector(whole, integers) + 127) << 23;
    return choose(x < -87.0f, all(0.0f), power * (floats)exponent);
}

static inline floats activate(floats x, int32_t activation) {
    if (activation == RELU) return largest(x, all(0.0f));
    if (activation == SILU) return x / (1.0f + exponential(-x));
    if (activation == GELU)
        for (int i = 0; i < LANES; i++) x[i] = 0.5f * x[i] * (1.0f + erff(x[i] * 0.70710678f));
    return x;
}

__attribute__((noinline, noclone)) static void normalize(const float *gamma, const float *beta, float epsilon, const float *row, int64_t width, float *to) {
    floats sum = {0}, squares = {0};
    for (int64_t i = 0; i < width; i += LANES) sum += load(row + i);
    const float mean = sum_lanes(sum) / width;
    for (int64_t i = 0; i < width; i += LANES) {
        floats centred = load(row + i) - mean;
        squares += centred * centred;
    }
    const float scale = 1.0f / sqrtf(sum_lanes(squares) / width + epsilon);
    for (int64_t i = 0; i < width; i += LANES) store(to + i, (load(row + i) - mean) * scale * load(gamma + i) + load(beta + i));
}

// One row as bytes: value = low + step * byte. With a norm, of the normed row.
__attribute__((noinline, noclone)) static void quantize(const struct linear *layer, const float *row, float *normed, uint8_t *to, float *low, float *step) {
    const int64_t inputs = layer->inputs;
    if (layer->gamma) {
        normalize(layer->gamma, layer->beta, layer->epsilon, row, inputs, normed);
        row = normed;
    }
    floats least = load(row), most = least;
    for (int64_t i = LANES; i < inputs; i += LANES) {
        least = smallest(least, load(row + i));
        most = largest(most, load(row + i));
    }
    float bottom = least[0], top = most[0];
    for (int i = 1; i < LANES; i++) {
        bottom = least[i] < bottom ? least[i] : bottom;
        top = most[i] > top ? most[i] : top;
    }
    const float range = top - bottom, inverse = range > 0 ? 255.0f / range : 0.0f;
    for (int64_t i = 0; i < inputs; i += LANES) {
        integers rounded = __builtin_convertvector((load(row + i) - bottom) * inverse + 0.5f, integers);
        *(bytes *)(to + i) = __builtin_convertvector(rounded, bytes);
    }
    *low = bottom;
    *step = range / 255.0f;
}

// Sums of a tile for `rows` rows, a constant wherever this is inlined.
__attribute__((always_inline)) static inline void multiply(const uint8_t *x, int64_t inputs, const int8_t *weights, const int rows, integers *to) {
    integers sums[BLOCK][TILE / LANES] = {{{0}}};
    for (int64_t i = 0; i < inputs; i += 4, weights += 4 * TILE) {
#pragma GCC unroll 6
        for (int row = 0; row < rows; row++) {
            int32_t four;
            memcpy(&four, x + row * inputs + i, 4);
#pragma GCC unroll 4
            for (int part = 0; part < TILE / LANES; part++)
                sums[row][part] = multiply_add(sums[row][part], four, weights + part * 4 * LANES);
        }
    }
#pragma GCC unroll 6
    for (int row = 0; row < rows; row++)
#pragma GCC unroll 4
        for (int part = 0; part < TILE / LANES; part++) to[row * (TILE / LANES) + part] = sums[row][part];
}

static void multiply_rows(const uint8_t *x, int64_t inputs, const int8_t *weights, int rows, integers *to) {
    switch (rows) {
    case 1: multiply(x, inputs, weights, 1, to); break;
    case 2: multiply(x, inputs, weights, 2, to); break;
    case 3: multiply(x, inputs, weights, 3, to); break;
    case 4: multiply(x, inputs, weights, 4, to); break;
    case 5: multiply(x, inputs, weights, 5, to); break;
    default: multiply(x, inputs, weights, 6, to);
    }
}

// From integer sums to what leaves the layer, for some rows of a tile.
__attribute__((noinline, noclone)) static void finish(const struct linear *layer, int64_t first, int rows, const integers *sums, const float *lows, const float *steps, const float *residual, float *to) {
    const int64_t outputs = layer->outputs;
    for (int64_t part = 0; part < TILE / LANES && first + part * LANES < outputs; part++) {
        const int64_t at = first + part * LANES;
        const floats low_sums = load(layer->sums + at), scales = load(layer->scales + at), bias = load(layer->bias + at);
        for (int64_t row = 0; row < rows; row++) {
            floats value = __builtin_convertvector(sums[row * (TILE / LANES) + part], floats) * steps[row] + lows[row] * low_sums;
            value = activate(value * scales + bias, layer->activation);
            float *place = to + row * outputs + at;
            if (at + LANES <= outputs) {
                if (residual) value += load(residual + row * outputs + at);
                store(place, value);
            } else {
                for (int64_t i = 0; at + i < outputs; i++) place[i] = value[i] + (residual ? residual[row * outputs + at + i] : 0.0f);
            }
        }
    }
}

// to (rows, outputs) = activation(norm(x) (rows, inputs) * weights + bias) + residual (rows, outputs), if there is one;
// `to` may be the residual. `scratch` has room for rows * (inputs + 8) bytes. All threads of a piece of work call this.
static void linear(const struct linear *layer, const float *x, int64_t rows, const float *residual, float *to, uint8_t *scratch) {
    const int64_t inputs = layer->inputs, tiles = (layer->outputs + TILE - 1) / TILE, blocks = (rows + BLOCK - 1) / BLOCK;
    float *lows = (float *)(scratch + rows * inputs), *steps = lows + rows;
    float normed[layer->gamma ? inputs : 1];
    SHARED_FOR (row, rows)
        quantize(layer, x + row * inputs, normed, scratch + row * inputs, lows + row, steps + row);
    SHARED_FOR (tile, tiles) {
        const int8_t *weights = layer->weights + tile * TILE * inputs;
        for (int64_t block = 0; block < blocks; block++) {
            const int64_t first = block * BLOCK;
            const int count = rows - first < BLOCK ? rows - first : BLOCK;
            integers sums[BLOCK * (TILE / LANES)];
            multiply_rows(scratch + first * inputs, inputs, weights, count, sums);
            finish(layer, tile * TILE, count, sums, lows + first, steps + first, residual ? residual + first * layer->outputs : 0,
                   to + first * layer->outputs);
        }
    }
}

struct linear_call {
    const struct linear *layer;
    const float *x;
    int64_t rows;
    float *to;
    uint8_t *scratch;
};

static void do_linear(void *argument) {
    const struct linear_call *call = argument;
    linear(call->layer, call->x, call->rows, 0, call->to, call->scratch);
}

void specdec_linear(const struct linear *layer, const float *x, int64_t rows, float *to, uint8_t *scratch, int threads) {
    struct linear_call call = {layer, x, rows, to, scratch};
    together(do_linear, &call, threads);
}

// What the queries of a pass attend to: the first `ends` keys of their row. Strides count floats, those of ends count
// ends; (rows, queries) of them, or (rows, 1).
struct keys {
    float *keys, *values;
    int64_t stride, row_stride; // from key to key, and from row to row
    const int64_t *ends;
    int64_t end_stride, end_row_stride; // from query to query, and from row to row
    int64_t packed;                     // whether keys stand as queries do, those of a row right after those before it
};

// `width` of a head is a multiple of 16.
__attribute__((noinline, noclone)) static void attend(const float *query, const float *keys, const float *values, int64_t stride, int64_t end, int64_t width, float *scores, float *to) {
    const float scale = 1.0f / sqrtf(width);
    floats highest = all(-INFINITY), total = {0};
    for (int64_t key = 0; key < end; key++) {
        floats product = {0};
        for (int64_t i = 0; i < width; i += LANES) product += load(query + i) * load(keys + key * stride + i);
        scores[key] = sum_lanes(product) * scale;
    }
    for (int64_t key = end; key % LANES; key++) scores[key] = -INFINITY;
    for (int64_t key = 0; key < end; key += LANES) highest = largest(highest, load(scores + key));
    float top = highest[0];
    for (int i = 1; i < LANES; i++) top = highest[i] > top ? highest[i] : top;
    for (int64_t key = 0; key < end; key += LANES) {
        floats weights = exponential(load(scores + key) - top);
        store(scores + key, weights);
        total += weights;
    }
    const float share = 1.0f / sum_lanes(total);
    int64_t i = 0;
    for (; i + 4 * LANES <= width; i += 4 * LANES) {
        floats first = {0}, second = {0}, third = {0}, fourth = {0};
        const float *value = values + i;
        for (int64_t key = 0; key < end; key++, value += stride) {
            first += scores[key] * load(value);
            second += scores[key] * load(value + LANES);
            third += scores[key] * load(value + 2 * LANES);
            fourth += scores[key] * load(value + 3 * LANES);
        }
        store(to + i, first * share);
        store(to + i + LANES, second * share);
        store(to + i + 2 * LANES, third * share);
        store(to + i + 3 * LANES, fourth * share);
    }
    for (; i < width; i += LANES) {
        floats mixed = {0};
        for (int64_t key = 0; key < end; key++) mixed += scores[key] * load(values + key * stride + i);
        store(to + i, mixed * share);
    }
}

// Which queries there are: those of row r from number starts[r] up to starts[r + 1], counted over all rows.
struct rows {
    int64_t number;
    const int64_t *starts;
};

// to (queries, heads * width) for queries `query_stride` apart. With `places` (queries), counted from the first key of all
// rows, keys and values of the queries themselves, which stand behind them, are stored there first.
static void attention(const float *queries, int64_t query_stride, const struct rows *rows, int64_t heads, int64_t width, const struct keys *seen, const int64_t *places, float *to) {
    const int64_t all_heads = heads * width;
    SHARED_FOR (task, rows->number * heads) {
        const int64_t row = task / heads, offset = task % heads * width;
        const int64_t first = rows->starts[row], count = rows->starts[row + 1] - first;
        const float *own = queries + first * query_stride + offset;
        const int64_t *ends = seen->ends + row * seen->end_row_stride;
        const int64_t before = seen->packed ? first * seen->stride : row * seen->row_stride;
        int64_t most = 0;
        for (int64_t query = 0; query < count; query++) {
            const int64_t end = ends[query * seen->end_stride];
            most = end > most ? end : most;
            if (!places) continue;
            const int64_t place = places[first + query] * seen->stride + offset;
            memcpy(seen->keys + place, own + query * query_stride + all_heads, width * sizeof(float));
            memcpy(seen->values + place, own + query * query_stride + 2 * all_heads, width * sizeof(float));
        }
        float scores[most + LANES];
        for (int64_t query = 0; query < count; query++)
            attend(own + query * query_stride, seen->keys + before + offset, seen->values + before + offset,
                   seen->stride, ends[query * seen->end_stride], width, scores, to + (first + query) * all_heads + offset);
    }
}

// The layer norm after a sublayer of a post-norm model.
struct norm {
    const float *gamma, *beta;
    float epsilon;
};

static void normalize_rows(const struct norm *norm, float *x, int64_t rows, int64_t width) {
    if (!norm->gamma) return;
    SHARED_FOR (row, rows) normalize(norm->gamma, norm->beta, norm->epsilon, x + row * width, width, x + row * width);
}

// A layer of an encoder, or of a decoder, which has a second attention: over a memory.
struct layer {
    int64_t heads, width;
    const struct linear *query_key_value, *output, *query, *cross_output, *inner, *outer;
    struct norm after_attention, after_cross_attention, after_feed_forward;
};

static void run_layer(const struct layer *layer, float *x, const struct rows *rows, const struct keys *own, const int64_t *places, const struct keys *memory, float *scratch) {
    const int64_t count = rows->starts[rows->number], width = layer->heads * layer->width, inner = layer->inner->outputs;
    float *wide = scratch, *mixed = wide + count * (inner > 3 * width ? inner : 3 * width);
    uint8_t *room = (uint8_t *)(mixed + count * width);
    struct keys itself = *own;
    if (!own->keys) {
        itself.keys = wide + width;
        itself.values = wide + 2 * width;
        itself.stride = 3 * width;
        itself.packed = 1;
    }
    linear(layer->query_key_value, x, count, 0, wide, room);
    attention(wide, 3 * width, rows, layer->heads, layer->width, &itself, places, mixed);
    linear(layer->output, mixed, count, x, x, room);
    normalize_rows(&layer->after_attention, x, count, width);
    if (layer->query) {
        linear(layer->query, x, count, 0, wide, room);
        attention(wide, width, rows, layer->heads, layer->width, memory, 0, mixed);
        linear(layer->cross_output, mixed, count, x, x, room);
        normalize_rows(&layer->after_cross_attention, x, count, width);
    }
    linear(layer->inner, x, count, 0, wide, room);
    linear(layer->outer, wide, count, x, x, room);
    normalize_rows(&layer->after_feed_forward, x, count, width);
}

struct layers_call {
    const struct layer *layers;
    int64_t number;
    const struct norm *last;
    float *x;
    const struct rows *rows;
    const struct keys *own;
    const int64_t *places;
    const struct keys *memory;
    float *scratch;
};

static void do_layers(void *argument) {
    const struct layers_call *call = argument;
    for (int64_t i = 0; i < call->number; i++)
        run_layer(call->layers + i, call->x, call->rows, call->own + i, call->places, call->memory + i, call->scratch);
    normalize_rows(call->last, call->x, call->rows->starts[call->rows->number], call->layers->heads * call->layers->width);
}

// x (queries, W) through all layers, in place, then through the last norm. What a layer sees is `own` and `memory`,
// one of each a layer; without keys, attention is over x itself. `scratch` has room for
// queries * (max(3 W, F) + W) floats and as many bytes as the widest of the products needs.
void specdec_layers(const struct layer *layers, int64_t number, const struct norm *last, float *x, const struct rows *rows,
                    const struct keys *own, const int64_t *places, const struct keys *memory, float *scratch, int threads) {
    struct layers_call call = {layers, number, last, x, rows, own, places, memory, scratch};
    together(do_layers, &call, threads);
}

// to (count, width): embeddings of tokens and positions, added.
void specdec_embed(const float *tokens, const float *positions, float scale, int64_t offset, const int64_t *ids, const int64_t *at, int64_t count, int64_t width, float *to) {
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j < width; j += LANES)
            store(to + i * width + j, load(tokens + ids[i] * width + j) * scale + load(positions + (at[i] + offset) * width + j));
}

static float largest_number(const float *x, int64_t size) {
    const int64_t whole = size / LANES * LANES;
    floats most = all(-INFINITY);
    float top = -INFINITY;
    for (int64_t i = 0; i < whole; i += LANES) most = largest(most, load(x + i));
    for (int i = 0; i < LANES; i++) top = most[i] > top ? most[i] : top;
    for (int64_t i = whole; i < size; i++) top = x[i] > top ? x[i] : top;
    return top;
}

struct largest_call {
    const float *x;
    int64_t rows, size;
    int64_t *places;
};

static void find_largest(void *argument) {
    const struct largest_call *call = argument;
    const int64_t size = call->size;
    SHARED_FOR (row, call->rows) {
        const float *own = call->x + row * size;
        const float top = largest_number(own, size);
        int64_t place = 0;
        while (place < size - 1 && own[place] != top) place++;
        call->places[row] = place;
    }
}

// places (rows): where each row's largest number stands, the first of them.
void specdec_largest(const float *x, int64_t rows, int64_t size, int64_t *places, int threads) {
    struct largest_call call = {x, rows, size, places};
    together(find_largest, &call, threads);
}

struct probabilities_call {
    const float *x;
    int64_t rows, size;
    const int64_t *ids;
    float *to;
};

static void find_probabilities(void *argument) {
    const struct probabilities_call *call = argument;
    const int64_t size = call->size, whole = size / LANES * LANES;
    SHARED_FOR (row, call->rows) {
        const float *own = call->x + row * size;
        const float top = largest_number(own, size);
        floats total = {0};
        for (int64_t i = 0; i < whole; i += LANES) total += exponential(load(own + i) - top);
        float sum = sum_lanes(total);
        for (int64_t i = whole; i < size; i++) sum += expf(own[i] - top);
        call->to[row] = own[call->ids[row]] - top - logf(sum);
    }
}

// to (rows): the logarithm of the probability of one id a row, by logits (rows, size).
void specdec_log_probabilities(const float *x, int64_t rows, int64_t size, const int64_t *ids, float *to, int threads) {
    struct probabilities_call call = {x, rows, size, ids, to};
    together(find_probabilities, &call, threads);
}

#define MOST 32 // candidates of a slot

static void best_of(const float *logits, int64_t size, int64_t wanted, int64_t *ids) {
    float kept[MOST];
    for (int64_t i = 0; i < wanted; i++) kept[i] = -INFINITY, ids[i] = 0;
    for (int64_t i = 0; i < size; i++) {
        if (!(logits[i] > kept[wanted - 1])) continue;
        int64_t at = wanted - 1;
        for (; at > 0 && logits[i] > kept[at - 1]; at--) kept[at] = kept[at - 1], ids[at] = ids[at - 1];
        kept[at] = logits[i], ids[at] = i;
    }
}

// The link between neighbouring slots of a draft: a slot's logits, where the token before it was unknown, and what they
// become for a token that is known: logits[b] + (relu(state + before[a]) - relu(state + unknown)) * after[b].
struct chain {
    int64_t vocabulary, width, candidates; // `width` is a multiple of 16, `candidates` at most 32
    const float *before, *after, *unknown; // (vocabulary, width) twice, and (width)
};

struct chain_call {
    const struct chain *chain;
    const float *logits;
    int64_t slots;
    int64_t *candidates;
};

static void find_candidates(void *argument) {
    const struct chain_call *call = argument;
    const int64_t size = call->chain->vocabulary, wanted = call->chain->candidates;
    SHARED_FOR (slot, call->slots) best_of(call->logits + slot * size, size, wanted, call->candidates + slot * wanted);
}

// ids (rows, slots): a greedy walk over the best candidates of each slot. The first slot's logits know the token before it.
void specdec_chain(const struct chain *chain, const float *logits, const float *states, int64_t rows, int64_t slots, int64_t *ids, int64_t *scratch, int threads) {
    const int64_t width = chain->width, wanted = chain->candidates;
    struct chain_call call = {chain, logits, rows * slots, scratch};
    together(find_candidates, &call, threads);
    for (int64_t slot = 0; slot < rows * slots; slot++) {
        const int64_t *candidates = scratch + slot * wanted;
        ids[slot] = candidates[0];
        if (slot % slots == 0) continue;
        float difference[width], best = -INFINITY;
        for (int64_t i = 0; i < width; i += LANES) {
            const floats state = load(states + slot * width + i), zero = all(0.0f);
            const floats known = state + load(chain->before + ids[slot - 1] * width + i), unknown = state + load(chain->unknown + i);
            store(difference + i, largest(known, zero) - largest(unknown, zero));
        }
        for (int64_t choice = 0; choice < wanted; choice++) {
            floats sum = {0};
            for (int64_t i = 0; i < width; i += LANES) sum += load(difference + i) * load(chain->after + candidates[choice] * width + i);
            const float score = logits[slot * chain->vocabulary + candidates[choice]] + sum_lanes(sum);
            if (score > best) best = score, ids[slot] = candidates[choice];
        }
    }
}
