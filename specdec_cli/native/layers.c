#include "layers.h"

#include <string.h>

#include "sizes.h"

int64_t projected_of(const struct stack *stack) { return larger((stack->gated ? 2 : 1) * stack->inner, 3 * stack->attention); }

int64_t widest_input_of(const struct stack *stack) { return larger(larger(stack->width, stack->attention), stack->inner); }

// What a thread needs for itself: a normed row and FEW quantized ones, or scores of some queries, a query, what it attends to, and keys
// and values of a head.
int64_t scratch_size_of(const struct stack *stack, int64_t longest) {
    const int64_t keys = sum_of(longest, LANES), for_head = product_of(2 * stack->head_stride, keys);
    const int64_t attention = sum_of(sum_of(product_of(MOST_QUERIES, keys), 2 * stack->head_stride), for_head);
    return larger(sum_of(2 * widest_input_of(stack), QUANTIZED_ALONE), attention);
}

int open_workspace(struct workspace *workspace, struct arena *arena, const struct workspace_sizes *sizes) {
    const int64_t positions = sizes->positions;
    workspace->scratch_size = sizes->scratch;
    workspace->projected = arena_allocate_unset(arena, product_of(positions, sizes->projected), sizeof(float));
    workspace->attended = arena_allocate_unset(arena, product_of(positions, sizes->attended), sizeof(float));
    workspace->bytes = arena_allocate_unset(arena, product_of(positions, sizes->quantized), 1);
    workspace->ranges = arena_allocate_unset(arena, positions, sizeof *workspace->ranges);
    workspace->scratch = arena_allocate_unset(arena, product_of(sizes->threads, sizes->scratch), sizeof(float));
    return workspace->projected && workspace->attended && workspace->bytes && workspace->ranges && workspace->scratch;
}

static void quantize_row(const struct linear_call *call, float *normed, uint8_t *bytes, struct range *ranges, int64_t row) {
    const int64_t inputs = call->linear->inputs, stride = call->linear->gated ? 2 * inputs : inputs;
    call->kernels->quantize(call->linear, call->x + row * stride, normed, bytes + row * inputs, ranges + row);
}

// Few rows are quantized by every thread for itself, once it has a part of the product: that takes less time than waiting for
// each other.
void run_linear(struct member *member, const struct linear_call *call) {
    const int64_t rows = call->rows;
    float *normed = call->workspace->scratch + member->index * call->workspace->scratch_size;
    struct range *ranges = rows > FEW ? call->workspace->ranges : (struct range *)(normed + call->linear->inputs);
    uint8_t *bytes = rows > FEW ? call->workspace->bytes : (uint8_t *)(ranges + FEW);
    int64_t quantized = rows > FEW ? rows : 0;
    if (quantized) {
        SHARED_FOR (member, row, rows) quantize_row(call, normed, bytes, ranges, row);
    }
    SHARED_FOR (member, tile, call->linear->tiles) {
        while (quantized < rows) quantize_row(call, normed, bytes, ranges, quantized++);
        float *tops = call->tops ? call->tops + tile * rows : 0;
        const struct product product = {call->linear, bytes, ranges, rows, call->residual, call->to, tops};
        call->kernels->multiply(&product, tile);
    }
}

static void apply(struct member *member, const struct pass *pass, const struct linear *linear, const float *x, const float *residual,
                  float *to) {
    const struct linear_call call = {pass->kernels, linear, x, residual, pass->positions, to, 0, pass->workspace};
    run_linear(member, &call);
}

static void normalize_rows(struct member *member, const struct pass *pass, struct norm norm) {
    const int64_t width = pass->stack->width;
    if (!norm.gamma) return;
    SHARED_FOR (member, i, pass->positions)
        pass->kernels->normalize(norm.gamma, norm.beta, norm.epsilon, pass->x + i * width, width, pass->x + i * width);
}

int64_t keys_size_of(const struct stack *stack, int64_t positions) {
    return product_of(product_of(2 * stack->count, stack->heads), product_of(stack->head_stride, positions));
}

// One head's keys and values of a row: `keys`, then `values`, (capacity, head_stride) each.
struct head {
    float *keys, *values;
};

static struct head head_of(const struct stack *stack, float *base, int64_t layer, int64_t head, int64_t capacity) {
    float *keys = base + (layer * stack->heads + head) * 2 * capacity * stack->head_stride;
    return (struct head){keys, keys + capacity * stack->head_stride};
}

// Copies a head's part of a key or a value; zeros behind it.
static void copy_head(const struct stack *stack, float *to, const float *from) {
    const int64_t missing = stack->head_stride - stack->head_width;
    memcpy(to, from, (size_t)stack->head_width * sizeof(float));
    if (missing) memset(to + stack->head_width, 0, (size_t)missing * sizeof(float));
}

void store_keys(const struct stack *stack, const float *from, float *to, int64_t layer, int64_t index, int64_t capacity) {
    for (int64_t head = 0; head < stack->heads; head++) {
        const struct head stored = head_of(stack, to, layer, head, capacity);
        copy_head(stack, stored.keys + index * stack->head_stride, from + head * stack->head_width);
        copy_head(stack, stored.values + index * stack->head_stride, from + stack->attention + head * stack->head_width);
    }
}

// Queries of a head over what they see: query i before ends[i], or all before `end` if `ends` is NULL. The queries stand `stride` floats
// apart, what they attend to the width of all heads; `bias` is added to scores by the distance from `positions`, unless it is NULL; `scratch`
// is the thread's.
static void attend(const struct pass *pass, const float *queries, int64_t stride, int64_t count, struct head seen, const int32_t *order,
                   const int64_t *ends, int64_t end, const float *bias, const int64_t *positions, float *scratch, float *to) {
    const struct stack *stack = pass->stack;
    const int64_t padded = stack->head_stride, width = stack->head_width;
    float *padded_query = scratch, *padded_to = scratch + padded, *scores = scratch + 2 * padded;
    for (int64_t i = 0; ends && i < count; i++) end = i ? larger(end, ends[i]) : ends[i];
    const int64_t room = (end + LANES - 1) / LANES * LANES;
    struct attention attention = {
        .queries = queries,
        .keys = seen.keys,
        .values = seen.values,
        .order = order,
        .ends = ends,
        .count = count,
        .end = end,
        .width = padded,
        .used = width,
        .stride = stride,
        .to_stride = stack->attention,
        .room = room,
        .scores = scores,
        .to = to,
        .scale = stack->scale,
        .bias = bias,
        .reach = stack->reach,
        .last = stack->last_bias,
        .positions = positions,
    };
    if (padded == width) {
        pass->kernels->attend(&attention);
        return;
    }
    attention.queries = padded_query;
    attention.to = padded_to;
    attention.ends = 0;
    attention.count = 1;
    for (int64_t i = 0; i < count; i++) {
        copy_head(stack, padded_query, queries + i * stride);
        if (ends) attention.end = ends[i];
        if (bias) attention.positions = positions + i;
        pass->kernels->attend(&attention);
        memcpy(to + i * stack->attention, padded_to, (size_t)width * sizeof(float));
    }
}

// What a head of a layer adds to its scores; NULL: nothing.
static const float *bias_of_head(const struct stack *stack, int64_t layer, int64_t head) {
    const int64_t table = stack->tables > 1 ? layer : 0, columns = stack->last_bias + 1 + 2 * (LANES - 1);
    return stack->biases ? stack->biases + (table * stack->heads + head) * columns : 0;
}

// One head of a row: `projected` (positions, 3 A) has queries, keys and values. New keys and values are stored, then seen.
static void attend_to_self(const struct pass *pass, int64_t layer, int64_t row, int64_t head, float *scratch) {
    const struct stack *stack = pass->stack;
    const int64_t first = pass->starts[row], after = pass->starts[row + 1], stride = 3 * stack->attention, offset = head * stack->head_width;
    const int64_t capacity = pass->caches ? pass->cache_capacities[row] : after - first;
    struct head seen = {scratch, scratch + capacity * stack->head_stride};
    if (pass->caches) seen = head_of(stack, pass->caches[row], layer, head, capacity);
    else scratch += 2 * capacity * stack->head_stride;
    for (int64_t i = first; i < after; i++) {
        const float *from = pass->workspace->projected + i * stride + offset;
        const int64_t offset_of_keys = (pass->caches ? pass->indices[i] : i - first) * stack->head_stride;
        copy_head(stack, seen.keys + offset_of_keys, from + stack->attention);
        copy_head(stack, seen.values + offset_of_keys, from + 2 * stack->attention);
    }
    const int32_t *order = pass->orders ? pass->orders[row] : 0;
    const float *queries = pass->workspace->projected + offset + first * stride;
    float *attended = pass->workspace->attended + offset + first * stack->attention;
    const int64_t *ends = pass->caches ? pass->ends + first : 0;
    const float *bias = bias_of_head(stack, layer, head);
    attend(pass, queries, stride, after - first, seen, order, ends, capacity, bias, pass->token_positions + first, scratch, attended);
}

static void attend_to_memory(const struct pass *pass, int64_t layer, int64_t row, int64_t head, float *scratch) {
    const struct stack *stack = pass->stack;
    const int64_t offset = head * stack->head_width, capacity = pass->memory_capacities[row];
    const struct head seen = head_of(stack, pass->memories[row], layer, head, capacity);
    const int64_t first = pass->starts[row], count = pass->starts[row + 1] - first;
    const float *queries = pass->workspace->projected + offset + first * stack->attention;
    float *attended = pass->workspace->attended + offset + first * stack->attention;
    attend(pass, queries, stack->attention, count, seen, 0, 0, capacity, 0, 0, scratch, attended);
}

static void run_layer(struct member *member, const struct pass *pass, int64_t number) {
    const struct stack *stack = pass->stack;
    const struct layer *layer = stack->layers + number;
    float *x = pass->x, *projected = pass->workspace->projected, *attended = pass->workspace->attended;
    float *scratch = pass->workspace->scratch + member->index * pass->workspace->scratch_size;
    apply(member, pass, &layer->query_key_value, x, 0, projected);
    SHARED_FOR (member, task, pass->rows * stack->heads)
        attend_to_self(pass, number, task / stack->heads, task % stack->heads, scratch);
    apply(member, pass, &layer->output, attended, x, x);
    normalize_rows(member, pass, layer->after_attention);
    if (layer->query.outputs) {
        apply(member, pass, &layer->query, x, 0, projected);
        SHARED_FOR (member, task, pass->rows * stack->heads)
            attend_to_memory(pass, number, task / stack->heads, task % stack->heads, scratch);
        apply(member, pass, &layer->cross_output, attended, x, x);
        normalize_rows(member, pass, layer->after_cross_attention);
    }
    apply(member, pass, &layer->inner, x, 0, projected);
    apply(member, pass, &layer->outer, projected, x, x);
    normalize_rows(member, pass, layer->after_feed_forward);
}

void embed_token(const struct kernels *kernels, const struct embedding *embedding, int64_t id, int64_t position, float *to) {
    const int64_t width = embedding->width;
    widen_row(kernels, &embedding->tokens, id, to);
    const float *added = embedding->positions ? embedding->positions + (position + embedding->offset) * width : 0;
    kernels->embed(to, embedding->scale, added, width, to);
    if (embedding->norm.gamma) kernels->normalize(embedding->norm.gamma, embedding->norm.beta, embedding->norm.epsilon, to, width, to);
}

int leaves_pass(const struct member *member, const struct pass *pass) {
    return !member->team && pass->stopped && atomic_load_explicit(pass->stopped, memory_order_relaxed);
}

void project_sources(struct member *member, const struct pass *pass, const struct stack *stack, float *const *memories) {
    float *projected = pass->workspace->projected;
    for (int64_t layer = 0; layer < stack->count && !leaves_pass(member, pass); layer++) {
        const struct linear *linear = &stack->layers[layer].memory;
        apply(member, pass, linear, pass->x, 0, projected);
        SHARED_FOR (member, row, pass->rows) {
            const int64_t first = pass->starts[row], count = pass->starts[row + 1] - first;
            for (int64_t k = 0; k < count; k++)
                store_keys(stack, projected + (first + k) * linear->outputs, memories[row], layer, k, count);
        }
    }
}

void run_pass(struct member *member, const struct pass *pass) {
    if (pass->embedding) {
        SHARED_FOR (member, i, pass->positions)
            embed_token(pass->kernels, pass->embedding, pass->ids[i], pass->token_positions[i], pass->x + i * pass->stack->width);
    }
    for (int64_t i = 0; i < pass->stack->count && !leaves_pass(member, pass); i++) run_layer(member, pass, i);
    normalize_rows(member, pass, pass->stack->last);
}

int64_t multiplications_of(const struct stack *stack, int64_t positions) {
    int64_t sum = 0;
    for (int64_t i = 0; i < stack->count; i++) {
        const struct layer *layer = stack->layers + i;
        const struct linear *all[] = {&layer->query_key_value, &layer->output, &layer->query,
                                      &layer->cross_output, &layer->inner, &layer->outer};
        for (size_t k = 0; k < sizeof all / sizeof *all; k++) sum += all[k]->inputs * all[k]->outputs;
    }
    return sum * positions;
}
