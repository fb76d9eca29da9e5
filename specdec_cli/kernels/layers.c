// Integer products and attention for the layers of a translation model, a few rows at a time.
//
// Every number of a row is computed by the same instructions in the same order, whatever stands beside the row:
// sums of integers are exact, and all other sums run over the row alone. So a token decoded by itself has the very
// logits that it has within a block or a batch. For that, each such sum has one copy of its code: noinline, noclone.

#include "layers.h"

#define BLOCK 6 // rows computed together

// x (1 + erf(x / sqrt 2)) / 2; erf to 1.5e-7 by Abramowitz and Stegun, Handbook of Mathematical Functions, 7.1.26.
static inline floats gelu(floats x) {
    const floats size = choose(x < 0.0f, -x, x) * 0.70710678f, t = 1.0f / (1.0f + size * 0.3275911f);
    floats power = all(1.061405429f);
    power = power * t + -1.453152027f;
    power = power * t + 1.421413741f;
    power = power * t + -0.284496736f;
    power = power * t + 0.254829592f;
    const floats rest = power * t * exponential(-(size * size)); // 1 - erf of the size
    return 0.5f * x * choose(x < 0.0f, rest, 2.0f - rest);
}

static inline floats activate(floats x, int32_t activation) {
    if (activation == RELU) return largest(x, all(0.0f));
    if (activation == SILU) return x / (1.0f + exponential(-x));
    if (activation == GELU) return gelu(x);
    return x;
}

__attribute__((noinline, noclone)) static void normalize(const float *gamma, const float *beta, float epsilon, const float *row, int64_t width, float *to) {
    floats sum = {0}, squares = {0};
    for (int64_t i = 0; i < width; i += LANES) sum += load(row + i);
    const float mean = sum_lanes(sum) / width;
    for (int64_t i = 0; i < width; i += LANES) {
        floats centred = load(row + i) - mean;
        squares = fused(centred, centred, squares);
    }
    const float scale = 1.0f / sqrtf(sum_lanes(squares) / width + epsilon);
    for (int64_t i = 0; i < width; i += LANES) store(to + i, fused((load(row + i) - mean) * scale, load(gamma + i), load(beta + i)));
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
    const float bottom = -largest_lane(-least), top = largest_lane(most);
    const float range = top - bottom, inverse = range > 0 ? 255.0f / range : 0.0f;
    for (int64_t i = 0; i < inputs; i += LANES) {
        integers rounded = __builtin_convertvector(fused(load(row + i) - bottom, all(inverse), all(0.5f)), integers);
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

// From integer sums to what leaves the layer, for some rows of a tile; the largest number of each row in the tile, if wanted.
__attribute__((noinline, noclone)) static void finish(const struct linear *layer, int64_t first, int rows, const integers *sums, const float *lows, const float *steps, const float *residual, float *to, float *tops) {
    const int64_t outputs = layer->outputs;
    floats most[BLOCK];
    for (int row = 0; row < BLOCK; row++) most[row] = all(-INFINITY);
    for (int64_t part = 0; part < TILE / LANES && first + part * LANES < outputs; part++) {
        const int64_t at = first + part * LANES;
        const floats low_sums = load(layer->sums + at), scales = load(layer->scales + at), bias = load(layer->bias + at);
        for (int64_t row = 0; row < rows; row++) {
            floats value = fused(__builtin_convertvector(sums[row * (TILE / LANES) + part], floats), all(steps[row]), lows[row] * low_sums);
            value = activate(fused(value, scales, bias), layer->activation);
            float *place = to + row * outputs + at;
            if (at + LANES <= outputs) {
                if (residual) value += load(residual + row * outputs + at);
                store(place, value);
                most[row] = largest(most[row], value);
            } else {
                for (int64_t i = 0; at + i < outputs; i++) {
                    place[i] = value[i] + (residual ? residual[row * outputs + at + i] : 0.0f);
                    most[row] = largest(most[row], all(place[i]));
                }
            }
        }
    }
    if (tops)
        for (int row = 0; row < rows; row++) tops[row] = largest_lane(most[row]);
}

void linear(const struct linear *layer, const float *x, int64_t rows, const float *residual, float *to, float *tops, uint8_t *scratch) {
    const int64_t inputs = layer->inputs, tiles = (layer->outputs + TILE - 1) / TILE, blocks = (rows + BLOCK - 1) / BLOCK;
    // Of 7 rows, 4 and 3 take less time together than 6 and 1.
    const int64_t each = blocks ? (rows + blocks - 1) / blocks : 0;
    float *lows = (float *)(scratch + rows * inputs), *steps = lows + rows;
    float normed[layer->gamma ? inputs : 1];
    SHARED_FOR (row, rows)
        quantize(layer, x + row * inputs, normed, scratch + row * inputs, lows + row, steps + row);
    SHARED_FOR (tile, tiles) {
        const int8_t *weights = layer->weights + tile * TILE * inputs;
        for (int64_t first = 0; first < rows; first += each) {
            const int count = rows - first < each ? rows - first : each;
            integers sums[BLOCK * (TILE / LANES)];
            multiply_rows(scratch + first * inputs, inputs, weights, count, sums);
            finish(layer, tile * TILE, count, sums, lows + first, steps + first, residual ? residual + first * layer->outputs : 0,
                   to + first * layer->outputs, tops ? tops + tile * rows + first : 0);
        }
    }
}

// Products of a query with 4 keys, those at `key` and after it, none beyond `last`; as sums over every fourth number still.
__attribute__((noinline, noclone)) static floats four_products(const float *query, const float *keys, int64_t stride, int64_t key, int64_t last, int64_t width) {
    floats sums[4] = {{0}};
    const float *from[4];
    for (int i = 0; i < 4; i++) from[i] = keys + (key + i < last ? key + i : last) * stride;
    for (int64_t at = 0; at < width; at += LANES) {
        const floats part = load(query + at);
#pragma GCC unroll 4
        for (int i = 0; i < 4; i++) sums[i] = fused(part, load(from[i] + at), sums[i]);
    }
    return sum_fours(sums[0], sums[1], sums[2], sums[3]);
}

// `width` of a head is a multiple of 16. `scores` has room for `end` numbers, rounded up to a multiple of 16.
__attribute__((noinline, noclone)) static void attend(const float *query, const float *keys, const float *values, int64_t stride, int64_t end, int64_t width, float *scores, float *to) {
    const integers numbers = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    const float scale = 1.0f / sqrtf(width);
    floats highest = all(-INFINITY), total = {0};
    for (int64_t key = 0; key < end; key += LANES) {
        floats fours[4] = {{0}};
        for (int four = 0; four < 4 && key + 4 * four < end; four++)
            fours[four] = four_products(query, keys, stride, key + 4 * four, end - 1, width);
        const floats products = sum_quarters(fours[0], fours[1], fours[2], fours[3]) * scale;
        const floats seen = choose(numbers < (int32_t)(end - key), products, all(-INFINITY));
        store(scores + key, seen);
        highest = largest(highest, seen);
    }
    const float top = largest_lane(highest);
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
            const floats weight = all(scores[key]);
            first = fused(weight, load(value), first);
            second = fused(weight, load(value + LANES), second);
            third = fused(weight, load(value + 2 * LANES), third);
            fourth = fused(weight, load(value + 3 * LANES), fourth);
        }
        store(to + i, first * share);
        store(to + i + LANES, second * share);
        store(to + i + 2 * LANES, third * share);
        store(to + i + 3 * LANES, fourth * share);
    }
    for (; i < width; i += LANES) {
        floats mixed = {0};
        for (int64_t key = 0; key < end; key++) mixed = fused(all(scores[key]), load(values + key * stride + i), mixed);
        store(to + i, mixed * share);
    }
}

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

static void normalize_rows(const struct norm *norm, float *x, int64_t rows, int64_t width) {
    if (!norm->gamma) return;
    SHARED_FOR (row, rows) normalize(norm->gamma, norm->beta, norm->epsilon, x + row * width, width, x + row * width);
}

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
    linear(layer->query_key_value, x, count, 0, wide, 0, room);
    attention(wide, 3 * width, rows, layer->heads, layer->width, &itself, places, mixed);
    linear(layer->output, mixed, count, x, x, 0, room);
    normalize_rows(&layer->after_attention, x, count, width);
    if (layer->query) {
        linear(layer->query, x, count, 0, wide, 0, room);
        attention(wide, width, rows, layer->heads, layer->width, memory, 0, mixed);
        linear(layer->cross_output, mixed, count, x, x, 0, room);
        normalize_rows(&layer->after_cross_attention, x, count, width);
    }
    linear(layer->inner, x, count, 0, wide, 0, room);
    linear(layer->outer, wide, count, x, x, 0, room);
    normalize_rows(&layer->after_feed_forward, x, count, width);
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
    linear(call->layer, call->x, call->rows, 0, call->to, 0, call->scratch);
}

// The instructions that the products are made of.
EXPORT const char *specdec_instructions(void) { return INSTRUCTIONS; }

EXPORT void specdec_linear(const struct linear *layer, const float *x, int64_t rows, float *to, uint8_t *scratch, int threads) {
    struct linear_call call = {layer, x, rows, to, scratch};
    together(do_linear, &call, threads);
}

struct layers_call {
    const struct stack *stack;
    float *x;
    const struct rows *rows;
    const struct keys *own;
    const int64_t *places;
    const struct keys *memory;
    float *scratch;
};

static void do_layers(void *argument) {
    const struct layers_call *call = argument;
    const struct layer *layers = call->stack->layers;
    for (int64_t i = 0; i < call->stack->number; i++)
        run_layer(layers + i, call->x, call->rows, call->own + i, call->places, call->memory + i, call->scratch);
    normalize_rows(&call->stack->last, call->x, call->rows->starts[call->rows->number], layers->heads * layers->width);
}

EXPORT void specdec_layers(const struct stack *stack, float *x, const struct rows *rows, const struct keys *own, const int64_t *places,
                    const struct keys *memory, float *scratch, int threads) {
    struct layers_call call = {stack, x, rows, own, places, memory, scratch};
    together(do_layers, &call, threads);
}

__attribute__((noinline, noclone)) void embed(const struct embedding *embedding, int64_t id, int64_t position, float *to) {
    const int64_t width = embedding->width;
    const float *token = embedding->tokens + id * width, *place = embedding->positions + (position + embedding->offset) * width;
    for (int64_t i = 0; i < width; i += LANES) store(to + i, fused(load(token + i), all(embedding->scale), load(place + i)));
    if (embedding->norm.gamma) normalize(embedding->norm.gamma, embedding->norm.beta, embedding->norm.epsilon, to, width, to);
}

// to (count, W) for ids and their positions, `count` each.
EXPORT void specdec_embed(const struct embedding *embedding, const int64_t *ids, const int64_t *positions, int64_t count, float *to) {
    for (int64_t i = 0; i < count; i++) embed(embedding, ids[i], positions[i], to + i * embedding->width);
}

void spread(float *x, int64_t rows, const int64_t *starts, int64_t length, int64_t width) {
    for (int64_t row = rows; row-- > 0;) {
        const int64_t count = starts[row + 1] - starts[row];
        float *to = x + row * length * width;
        memmove(to, x + starts[row] * width, count * width * sizeof(float));
        memset(to + count * width, 0, (length - count) * width * sizeof(float));
    }
}

// states (rows, length, W) of source ids (rows, length), and where each source ends: after its last id that is no padding.
// `scratch` has room for rows + 1 numbers, and then for what the layers need.
EXPORT void specdec_encode(const struct embedding *embedding, const struct stack *stack, const int64_t *source, int64_t rows, int64_t length,
                    int64_t padding, int64_t *ends, float *states, int64_t *scratch, int threads) {
    const int64_t width = embedding->width;
    int64_t *starts = scratch, total = 0;
    for (int64_t row = 0; row < rows; row++) {
        const int64_t *ids = source + row * length;
        for (ends[row] = length; ends[row] > 0 && ids[ends[row] - 1] == padding; ends[row]--) {}
        starts[row] = total;
        for (int64_t i = 0; i < ends[row]; i++) embed(embedding, ids[i], i, states + total++ * width);
    }
    starts[rows] = total;
    struct keys own[stack->number];
    for (int64_t i = 0; i < stack->number; i++) own[i] = (struct keys){.ends = ends, .end_row_stride = 1, .packed = 1};
    struct rows all_rows = {rows, starts};
    specdec_layers(stack, states, &all_rows, own, 0, 0, (float *)(starts + rows + 1), threads);
    spread(states, rows, starts, length, width);
}
