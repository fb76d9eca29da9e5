// The memory of a session: the keys and values of rows, and the buffers of workers.

#include <math.h>
#include <string.h>

#include "session.h"
#include "sizes.h"

int64_t padded_length(int64_t source_length) { return (source_length + SPECDEC_MULTIPLE - 1) / SPECDEC_MULTIPLE * SPECDEC_MULTIPLE; }

int64_t specdec_capacity(const struct specdec_model *model, int64_t source_length, int64_t min_length) {
    const int64_t longest = model->shape.max_positions / SPECDEC_MULTIPLE * SPECDEC_MULTIPLE;
    return smaller(3 * padded_length(larger(source_length, min_length)) + SPECDEC_MULTIPLE, longest);
}

// Few outputs are as long as their row's capacity: a row begins with places for somewhat more tokens than its source has, and gets more when
// it needs them, so that fewer pages of memory are in use.

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

static void *take(struct worker *worker, int64_t count, int64_t size) { return arena_take(&worker->arena, count, size); }

// Takes room for the values of a pass without zeroing it. They are written before they are read, and zeroing takes a large part of the
// time of a short sentence.
static void *take_unset(struct worker *worker, int64_t count, int64_t size) { return arena_take_unset(&worker->arena, count, size); }

static int open_rows(struct worker *worker, const struct specdec_session *session) {
    const int64_t batch = session->options.batch, hypotheses = product_of(batch, session->beam);
    worker->rows = take(worker, batch, sizeof *worker->rows);
    worker->chosen = take(worker, batch, sizeof *worker->chosen);
    worker->starts = take(worker, sum_of(hypotheses, 1), sizeof *worker->starts);
    worker->own_room = take(worker, hypotheses, sizeof *worker->own_room);
    worker->memory_room = take(worker, hypotheses, sizeof *worker->memory_room);
    worker->own = take(worker, hypotheses, sizeof *worker->own);
    worker->memory = take(worker, hypotheses, sizeof *worker->memory);
    if (!worker->rows || !worker->chosen || !worker->starts || !worker->own_room || !worker->memory_room || !worker->own || !worker->memory)
        return 0;
    for (int64_t i = 0; i < batch; i++) {
        struct row *row = worker->rows + i;
        row->number = VACANT;
        row->tokens = take(worker, session->longest_capacity, sizeof *row->tokens);
        row->log_probabilities = take(worker, session->longest_capacity, sizeof *row->log_probabilities);
        row->ids = take(worker, session->longest_draft + 1, sizeof *row->ids);
        if (!row->tokens || !row->log_probabilities || !row->ids) return 0;
    }
    return 1;
}

static int open_search(struct worker *worker, const struct specdec_session *session, struct search *search) {
    const int64_t beam = session->beam, size = product_of(beam, session->longest_capacity);
    search->scores = take(worker, beam, sizeof *search->scores);
    search->tokens = take(worker, size, sizeof *search->tokens);
    search->orders = take(worker, size, sizeof *search->orders);
    search->next_tokens = take(worker, size, sizeof *search->tokens);
    search->next_orders = take(worker, size, sizeof *search->orders);
    search->finished = take(worker, beam, sizeof *search->finished);
    int32_t *ids = take(worker, size, sizeof *ids);
    const void *const made[] = {search->scores,      search->tokens,   search->orders, search->next_tokens,
                                search->next_orders, search->finished, ids};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        if (!made[i]) return 0;
    for (int64_t k = 0; k < beam; k++) search->finished[k].ids = ids + k * session->longest_capacity;
    return 1;
}

static int open_beam(struct worker *worker, const struct specdec_session *session) {
    const int64_t positions = session->most_positions;
    struct beam_room *room = &worker->beam;
    if (session->options.decoding != SPECDEC_BEAM) return 1;
    room->orders = take(worker, positions, sizeof *room->orders);
    room->scores = take(worker, positions, sizeof *room->scores);
    room->candidates = take(worker, product_of(positions, 2 * session->beam), sizeof *room->candidates);
    room->counts = take(worker, positions, sizeof *room->counts);
    for (int64_t i = 0; i < session->options.batch; i++)
        if (!open_search(worker, session, &worker->rows[i].search)) return 0;
    return room->orders && room->scores && room->candidates && room->counts;
}

static int has_drafter(const struct specdec_session *session) { return session->options.decoding == SPECDEC_DRAFTER; }

static int open_drafting(struct worker *worker, const struct specdec_session *session) {
    const struct link *link = &session->model->drafter.link;
    const int64_t batch = session->options.batch, width = session->model->decoder.width, positions = session->most_positions;
    struct drafting_room *room = &worker->drafting;
    worker->least_drafting = worker->least_verifying = INFINITY;
    if (!has_drafter(session)) return 1;
    room->previous = take(worker, product_of(batch, width), sizeof(float));
    room->before = take(worker, product_of(batch, link->width), sizeof(float));
    room->blocks = take(worker, session->model->drafter.mark ? product_of(positions, width) : 0, sizeof(float));
    room->narrow = take(worker, product_of(positions, link->width), sizeof(float));
    room->linked = take(worker, product_of(positions, link->width), sizeof(float));
    room->best = take(worker, product_of(positions, larger(link->candidates, 1)), sizeof *room->best);
    room->fresh = take(worker, batch, sizeof *room->fresh);
    for (int64_t i = 0; i < batch; i++) {
        worker->rows[i].states = take(worker, product_of(session->longest_draft + 1, width), sizeof(float));
        if (!worker->rows[i].states) return 0;
    }
    return room->previous && room->before && room->blocks && room->narrow && room->linked && room->best && room->fresh;
}

static int open_room(struct worker *worker, const struct specdec_session *session, int64_t threads) {
    const struct specdec_model *model = session->model;
    const struct stack *decoder = &model->decoder, *encoder = &model->encoder, *drafter = &model->drafter.stack;
    const int64_t width = decoder->width, positions = session->most_positions;
    const int64_t longest = larger(session->longest_capacity, session->longest_source);
    int64_t inner = decoder->inner, wide = larger(inner, 3 * width);
    struct room *room = &worker->room;
    room->own_size = larger(own_size_of(decoder, longest), own_size_of(encoder, longest));
    if (has_drafter(session)) {
        inner = larger(larger(inner, drafter->inner), model->drafter.link.width);
        wide = larger(larger(wide, inner), model->drafter.prefix.outputs);
        const int64_t link_inputs = sum_of(2 * model->drafter.link.width, QUANTIZED_ALONE);
        room->own_size = larger(larger(room->own_size, own_size_of(drafter, longest)), larger(link_room(model), link_inputs));
    }
    room->wide = take_unset(worker, product_of(positions, wide), sizeof(float));
    room->mixed = take_unset(worker, product_of(positions, width), sizeof(float));
    room->bytes = take_unset(worker, product_of(positions, larger(inner, width)), 1);
    room->ranges = take(worker, positions, sizeof *room->ranges);
    room->own = take_unset(worker, product_of(threads, room->own_size), sizeof(float));
    return room->wide && room->mixed && room->bytes && room->ranges && room->own;
}

static void borrow_workspace(struct worker *worker) {
    struct workspace *workspace = worker->session->model->workspace;
    if (atomic_exchange(&workspace->lent, 1)) return;
    worker->workspace = workspace;
    worker->arena = workspace->arena;
}

static void give_back_workspace(struct worker *worker) {
    arena_rewind(&worker->arena);
    worker->workspace->arena = worker->arena;
    atomic_store(&worker->workspace->lent, 0);
}

int worker_open(struct worker *worker, struct specdec_session *session) {
    const struct specdec_model *model = session->model;
    const int64_t positions = session->most_positions, width = model->decoder.width, size = model->shape.vocabulary;
    const int64_t of_row = larger(session->longest_draft + 1, session->beam), rows = smaller(session->count, session->options.batch);
    const int64_t at_once = smaller(LOGITS_AT_ONCE, product_of(rows, of_row));
    worker->session = session;
    worker->team = session->team;
    if (session->options.batch == 1) borrow_workspace(worker);
    const int64_t threads = session->team ? session->options.threads : 1;
    if (!open_rows(worker, session) || !open_drafting(worker, session)) return 0;
    if (!open_beam(worker, session) || !open_room(worker, session, threads)) return 0;
    worker->positions = take(worker, positions, sizeof *worker->positions);
    worker->x = take_unset(worker, product_of(positions, width), sizeof(float));
    worker->places = take(worker, positions, sizeof *worker->places);
    worker->ends = take(worker, positions, sizeof *worker->ends);
    worker->predicted = take(worker, positions, sizeof *worker->predicted);
    worker->scores = take(worker, positions, sizeof *worker->scores);
    worker->logits = take_unset(worker, product_of(at_once, size), sizeof(float));
    worker->tops = take_unset(worker, product_of(at_once, size / TILE + 1), sizeof(float));
    return worker->positions && worker->x && worker->places && worker->ends && worker->predicted && worker->scores && worker->logits &&
           worker->tops;
}

void worker_close(struct worker *worker) {
    const int64_t batch = worker->session->options.batch;
    for (int64_t i = 0; worker->rows && batch > 1 && i < batch; i++) row_free(worker->rows + i);
    if (worker->workspace) give_back_workspace(worker);
    else arena_free(&worker->arena);
}
