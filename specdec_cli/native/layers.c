#include "layers.h"

#include <string.h>

#include "sizes.h"

// A thread's own room: a normed row and FEW quantized ones, or scores, a query, what it attends to, and keys and values of a
// head.
int64_t own_size_of(const struct stack *stack, int64_t longest) {
    const int64_t keys = sum_of(longest, LANES), for_head = product_of(2 * stack->head_room, keys);
    const int64_t attention = sum_of(sum_of(keys, 2 * stack->head_room), for_head), wide = larger(stack->width, stack->inner);
    return larger(sum_of(2 * wide, QUANTIZED_ALONE), attention);
}

static void quantize_row(const struct linear_call *call, float *normed, uint8_t *bytes, struct range *ranges, int64_t row) {
    const int64_t inputs = call->linear->inputs;
    call->kernels->quantize(call->linear, call->x + row * inputs, normed, bytes + row * inputs, ranges + row);
}

// Few rows are quantized by every thread for itself, once it has a part of the product: that takes less time than waiting for
// each other.
void run_linear(struct member *member, const struct linear_call *call) {
    const int64_t rows = call->rows;
    float *normed = call->room->own + member->index * call->room->own_size;
    struct range *ranges = rows > FEW ? call->room->ranges : (struct range *)(normed + call->linear->inputs);
    uint8_t *bytes = rows > FEW ? call->room->bytes : (uint8_t *)(ranges + FEW);
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
    const struct linear_call call = {pass->kernels, linear, x, residual, pass->positions, to, 0, pass->room};
    run_linear(member, &call);
}

static void normalize_rows(struct member *member, const struct pass *pass, struct norm norm) {
    const int64_t width = pass->stack->width;
    if (!norm.gamma) return;
    SHARED_FOR (member, i, pass->positions)
        pass->kernels->normalize(norm.gamma, norm.beta, pass->x + i * width, width, pass->x + i * width);
}

// One head's keys and values of a row: `keys`, then `values`, (room, head_room) each.
struct head {
    float *keys, *values;
};

static struct head head_of(const struct stack *stack, float *base, int64_t layer, int64_t head, int64_t room) {
    float *keys = base + (layer * stack->heads + head) * 2 * room * stack->head_room;
    return (struct head){keys, keys + room * stack->head_room};
}

// Copies a head's part of a key or a value; zeros behind it.
static void copy_head(const struct stack *stack, float *to, const float *from) {
    memcpy(to, from, (size_t)stack->head_width * sizeof(float));
    memset(to + stack->head_width, 0, (size_t)(stack->head_room - stack->head_width) * sizeof(float));
}

void store_keys(const struct stack *stack, const float *from, float *to, int64_t layer, int64_t place, int64_t room) {
    for (int64_t head = 0; head < stack->heads; head++) {
        const struct head own = head_of(stack, to, layer, head, room);
        copy_head(stack, own.keys + place * stack->head_room, from + head * stack->head_width);
        copy_head(stack, own.values + place * stack->head_room, from + stack->width + head * stack->head_width);
    }
}

// A query of a head over what it sees, in the `order` given, if any, by way of a thread's own `spare` room.
static void attend(const struct pass *pass, const float *query, struct head seen, const int32_t *order, int64_t end, float *spare,
                   float *to) {
    const struct stack *stack = pass->stack;
    const int64_t room = stack->head_room, width = stack->head_width;
    const int whole = room == width;
    float *own_query = spare, *own_to = spare + room, *scores = spare + 2 * room;
    if (!whole) copy_head(stack, own_query, query);
    const struct attention attention = {whole ? query : own_query, seen.keys, seen.values, order, end, room,
                                        width, scores, whole ? to : own_to};
    pass->kernels->attend(&attention);
    if (!whole) memcpy(to, own_to, (size_t)width * sizeof(float));
}

// One head of a row: `wide` (positions, 3 W) has queries, keys and values. New keys and values are stored, then seen.
static void attend_to_own(const struct pass *pass, int64_t layer, int64_t row, int64_t head, float *spare) {
    const struct stack *stack = pass->stack;
    const int64_t first = pass->starts[row], after = pass->starts[row + 1], stride = 3 * stack->width, offset = head * stack->head_width;
    const int64_t room = pass->own ? pass->own_room[row] : after - first;
    struct head seen = {spare, spare + room * stack->head_room};
    if (pass->own) seen = head_of(stack, pass->own[row], layer, head, room);
    else spare += 2 * room * stack->head_room;
    for (int64_t i = first; i < after; i++) {
        const float *from = pass->room->wide + i * stride + offset;
        const int64_t place = (pass->own ? pass->places[i] : i - first) * stack->head_room;
        copy_head(stack, seen.keys + place, from + stack->width);
        copy_head(stack, seen.values + place, from + 2 * stack->width);
    }
    const int32_t *order = pass->orders ? pass->orders[row] : 0;
    const float *queries = pass->room->wide + offset;
    float *mixed = pass->room->mixed + offset;
    for (int64_t i = first; i < after; i++)
        attend(pass, queries + i * stride, seen, order, pass->own ? pass->ends[i] : room, spare, mixed + i * stack->width);
}

static void attend_to_memory(const struct pass *pass, int64_t layer, int64_t row, int64_t head, float *spare) {
    const struct stack *stack = pass->stack;
    const int64_t offset = head * stack->head_width, room = pass->memory_room[row];
    const struct head seen = head_of(stack, pass->memory[row], layer, head, room);
    for (int64_t i = pass->starts[row]; i < pass->starts[row + 1]; i++)
        attend(pass, pass->room->wide + i * stack->width + offset, seen, 0, room, spare, pass->room->mixed + i * stack->width + offset);
}

static void run_layer(struct member *member, const struct pass *pass, int64_t number) {
    const struct stack *stack = pass->stack;
    const struct layer *layer = stack->layers + number;
    float *x = pass->x, *wide = pass->room->wide, *mixed = pass->room->mixed;
    float *spare = pass->room->own + member->index * pass->room->own_size;
    apply(member, pass, &layer->query_key_value, x, 0, wide);
    SHARED_FOR (member, task, pass->rows * stack->heads)
        attend_to_own(pass, number, task / stack->heads, task % stack->heads, spare);
    apply(member, pass, &layer->output, mixed, x, x);
    normalize_rows(member, pass, layer->after_attention);
    if (layer->query.outputs) {
        apply(member, pass, &layer->query, x, 0, wide);
        SHARED_FOR (member, task, pass->rows * stack->heads)
            attend_to_memory(pass, number, task / stack->heads, task % stack->heads, spare);
        apply(member, pass, &layer->cross_output, mixed, x, x);
        normalize_rows(member, pass, layer->after_cross_attention);
    }
    apply(member, pass, &layer->inner, x, 0, wide);
    apply(member, pass, &layer->outer, wide, x, x);
    normalize_rows(member, pass, layer->after_feed_forward);
}

void embed_token(const struct kernels *kernels, const struct embedding *embedding, int64_t id, int64_t position, float *to) {
    const int64_t width = embedding->width;
    widen_row(kernels, &embedding->tokens, id, to);
    kernels->embed(to, embedding->scale, embedding->positions + (position + embedding->offset) * width, width, to);
    if (embedding->norm.gamma) kernels->normalize(embedding->norm.gamma, embedding->norm.beta, to, width, to);
}

int leaves_pass(const struct member *member, const struct pass *pass) {
    return !member->team && pass->stopped && atomic_load_explicit(pass->stopped, memory_order_relaxed);
}

void run_pass(struct member *member, const struct pass *pass) {
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
