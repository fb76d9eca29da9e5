// The keys and values of rows. Few outputs are as long as their row's capacity: a row begins with places for somewhat more tokens than
// its source has, and gets more when it needs them, so that fewer pages of memory are in use.

#include <string.h>

#include "session.h"
#include "sizes.h"

// The number of floats that the keys and values of all layers have for `places` positions of a row.
static int64_t keys_size(const struct stack *stack, int64_t places) {
    return product_of(product_of(2 * stack->count, stack->heads), product_of(stack->head_room, places));
}

// The memory for the longest sentence of the queue, from the row's first sentence on.
static int reserve(struct arena *arena, struct pages *place, int64_t floats) {
    if (place->start) return 1;
    if (!arena) return pages_reserve(place, floats, sizeof(float));
    place->start = arena_take_unset(arena, floats, sizeof(float));
    return place->start != 0;
}

int row_reserve(const struct specdec_session *session, struct row *row) {
    const struct stack *stack = &session->model->decoder, *drafter = &session->model->drafter.stack;
    const int64_t length = session->longest_source, capacity = session->longest_capacity;
    // A single row has the memory of the row before it, whose pages are in use.
    struct arena *arena = session->options.batch == 1 ? &session->workers->arena : 0;
    row->room = arena ? row->capacity : smaller(row->capacity, padded_length(row->source_length + row->source_length / 4 + 1));
    if (row->has_drafter && !(reserve(arena, &row->draft_own, keys_size(drafter, capacity)) &&
                              reserve(arena, &row->draft_memory, keys_size(drafter, length))))
        return 0;
    return reserve(arena, &row->own, keys_size(stack, product_of(capacity, session->beam))) &&
           reserve(arena, &row->memory, keys_size(stack, length));
}

// Moves the keys and values at the first `used` places of every layer and head, the last ones first, where each has `places` places
// instead of `before`, which are fewer.
static void move_apart(const struct stack *stack, float *own, int64_t used, int64_t before, int64_t places) {
    const int64_t width = stack->head_room;
    for (int64_t i = stack->count * stack->heads * 2 - 1; i > 0; i--)
        memmove(own + i * places * width, own + i * before * width, (size_t)(used * width) * sizeof(float));
}

void row_extend(const struct specdec_session *session, struct row *row, int64_t places) {
    if (places <= row->room || row->room >= row->capacity) return;
    const int64_t before = row->room, used = row->length - 1, beam = session->beam;
    row->room = smaller(row->capacity, padded_length(larger(places, before + before / 2)));
    move_apart(&session->model->decoder, row->own.start, used * beam, before * beam, row->room * beam);
    if (row->has_drafter) move_apart(&session->model->drafter.stack, row->draft_own.start, used, before, row->room);
}

void row_free(struct row *row) {
    pages_free(&row->own);
    pages_free(&row->memory);
    pages_free(&row->draft_own);
    pages_free(&row->draft_memory);
}
