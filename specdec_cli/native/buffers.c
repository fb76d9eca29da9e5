// The memory of a session: the keys and values of rows, and the buffers of workers.

#include <math.h>
#include <string.h>

#include "state.h"
#include "sizes.h"

int64_t padded_length(int64_t source_length) { return (source_length + SPECDEC_MULTIPLE - 1) / SPECDEC_MULTIPLE * SPECDEC_MULTIPLE; }

int64_t specdec_capacity(const struct specdec_model *model, int64_t source_length, int64_t min_length) {
    const int64_t longest = model->shape.max_positions / SPECDEC_MULTIPLE * SPECDEC_MULTIPLE;
    return smaller(3 * padded_length(larger(source_length, min_length)) + SPECDEC_MULTIPLE, longest);
}

// Few outputs are as long as their row's capacity: a row begins with memory for somewhat more tokens than its source has, and gets more
// when it needs that, so that fewer pages are in use.

// The memory for the longest sentence of the queue, from the row's first sentence on.
static int reserve(struct arena *arena, struct pages *pages, int64_t floats) {
    if (pages->start) return 1;
    if (!arena) return pages_reserve(pages, floats, sizeof(float));
    pages->start = arena_allocate_unset(arena, floats, sizeof(float));
    return pages->start != 0;
}

int row_reserve(const struct specdec_session *session, struct row *row) {
    const struct stack *stack = &session->model->decoder, *drafter = &session->model->drafter.stack;
    const int64_t length = session->longest_source, capacity = session->longest_capacity;
    // A single row has the memory of the row before it, whose pages are in use.
    struct arena *arena = session->options.batch_size == 1 ? &session->workers->arena : 0;
    row->allocated = arena ? row->capacity : smaller(row->capacity, padded_length(row->source_length + row->source_length / 4 + 1));
    if (row->has_drafter && has_network(session) && !(reserve(arena, &row->draft_cache, keys_size_of(drafter, capacity)) &&
                              reserve(arena, &row->draft_memory, keys_size_of(drafter, length))))
        return 0;
    return reserve(arena, &row->cache, keys_size_of(stack, product_of(capacity, session->beam))) &&
           reserve(arena, &row->memory, keys_size_of(stack, length));
}

// Moves the keys and values at the first `used` positions of every layer and head, the last ones first, where each gets `positions`
// positions instead of `old`, which are fewer.
static void move_apart(const struct stack *stack, float *cache, int64_t used, int64_t old, int64_t positions) {
    const int64_t width = stack->head_stride;
    for (int64_t i = stack->count * stack->heads * 2 - 1; i > 0; i--)
        memmove(cache + i * positions * width, cache + i * old * width, (size_t)(used * width) * sizeof(float));
}

void row_extend(const struct specdec_session *session, struct row *row, int64_t positions) {
    if (positions <= row->allocated || row->allocated >= row->capacity) return;
    const int64_t old = row->allocated, used = row->length - 1, beam = session->beam;
    row->allocated = smaller(row->capacity, padded_length(larger(positions, old + old / 2)));
    move_apart(&session->model->decoder, row->cache.start, used * beam, old * beam, row->allocated * beam);
    if (row->has_drafter && has_network(session)) move_apart(&session->model->drafter.stack, row->draft_cache.start, used, old, row->allocated);
}

void row_free(struct row *row) {
    pages_free(&row->cache);
    pages_free(&row->memory);
    pages_free(&row->draft_cache);
    pages_free(&row->draft_memory);
}

static void *allocate(struct worker *worker, int64_t count, int64_t size) { return arena_allocate(&worker->arena, count, size); }

// The same for the values of a pass, not zeroed. They are written before they are read, and zeroing takes a large part of the
// time of a short sentence.
static void *allocate_unset(struct worker *worker, int64_t count, int64_t size) {
    return arena_allocate_unset(&worker->arena, count, size);
}

static int open_rows(struct worker *worker, const struct specdec_session *session) {
    const int64_t batch = session->options.batch_size, hypotheses = product_of(batch, session->beam);
    worker->rows = allocate(worker, batch, sizeof *worker->rows);
    worker->chosen = allocate(worker, batch, sizeof *worker->chosen);
    worker->starts = allocate(worker, sum_of(hypotheses, 1), sizeof *worker->starts);
    worker->cache_capacities = allocate(worker, hypotheses, sizeof *worker->cache_capacities);
    worker->memory_capacities = allocate(worker, hypotheses, sizeof *worker->memory_capacities);
    worker->caches = allocate(worker, hypotheses, sizeof *worker->caches);
    worker->memories = allocate(worker, hypotheses, sizeof *worker->memories);
    if (!worker->rows || !worker->chosen || !worker->starts || !worker->cache_capacities || !worker->memory_capacities ||
        !worker->caches || !worker->memories)
        return 0;
    for (int64_t i = 0; i < batch; i++) {
        struct row *row = worker->rows + i;
        row->number = VACANT;
        row->tokens = allocate(worker, session->longest_capacity, sizeof *row->tokens);
        row->log_probabilities = allocate(worker, session->longest_capacity, sizeof *row->log_probabilities);
        row->draft = allocate(worker, session->longest_draft + 1, sizeof *row->draft);
        row->guesses = allocate(worker, is_jacobi(session) ? session->longest_capacity : 0, sizeof *row->guesses);
        if (!row->tokens || !row->log_probabilities || !row->draft || !row->guesses) return 0;
    }
    return 1;
}

static int open_search(struct worker *worker, const struct specdec_session *session, struct search *search) {
    const int64_t beam = session->beam, size = product_of(beam, session->longest_capacity);
    search->scores = allocate(worker, beam, sizeof *search->scores);
    search->tokens = allocate(worker, size, sizeof *search->tokens);
    search->orders = allocate(worker, size, sizeof *search->orders);
    search->next_tokens = allocate(worker, size, sizeof *search->tokens);
    search->next_orders = allocate(worker, size, sizeof *search->orders);
    search->finished = allocate(worker, beam, sizeof *search->finished);
    int32_t *ids = allocate(worker, size, sizeof *ids);
    const void *const allocated[] = {search->scores,      search->tokens,   search->orders, search->next_tokens,
                                search->next_orders, search->finished, ids};
    for (size_t i = 0; i < sizeof allocated / sizeof *allocated; i++)
        if (!allocated[i]) return 0;
    for (int64_t k = 0; k < beam; k++) search->finished[k].ids = ids + k * session->longest_capacity;
    return 1;
}

static int open_beam(struct worker *worker, const struct specdec_session *session) {
    const int64_t positions = session->most_positions;
    struct beam_workspace *workspace = &worker->beam;
    if (session->options.method != SPECDEC_METHOD_BEAM) return 1;
    workspace->orders = allocate(worker, positions, sizeof *workspace->orders);
    workspace->token_positions = allocate(worker, positions, sizeof *workspace->token_positions);
    workspace->scores = allocate(worker, positions, sizeof *workspace->scores);
    workspace->candidates = allocate(worker, product_of(positions, 2 * session->beam), sizeof *workspace->candidates);
    workspace->counts = allocate(worker, positions, sizeof *workspace->counts);
    for (int64_t i = 0; i < session->options.batch_size; i++)
        if (!open_search(worker, session, &worker->rows[i].search)) return 0;
    return workspace->orders && workspace->token_positions && workspace->scores && workspace->candidates && workspace->counts;
}

static int open_drafting(struct worker *worker, const struct specdec_session *session) {
    const struct link *link = &session->model->drafter.link;
    const int64_t batch = session->options.batch_size, width = session->model->decoder.width, positions = session->most_positions;
    struct drafting_workspace *workspace = &worker->drafting;
    worker->least_drafting = worker->least_verifying = INFINITY;
    if (!has_network(session)) return 1;
    workspace->previous = allocate(worker, product_of(batch, width), sizeof(float));
    workspace->token_inputs = allocate(worker, product_of(batch, link->width), sizeof(float));
    workspace->blocks = allocate(worker, session->model->drafter.mark ? product_of(positions, width) : 0, sizeof(float));
    workspace->link_inputs = allocate(worker, product_of(positions, link->width), sizeof(float));
    workspace->hidden = allocate(worker, product_of(positions, link->width), sizeof(float));
    workspace->best = allocate(worker, product_of(positions, larger(link->candidates, 1)), sizeof *workspace->best);
    workspace->fresh = allocate(worker, batch, sizeof *workspace->fresh);
    for (int64_t i = 0; i < batch; i++) {
        worker->rows[i].states = allocate(worker, product_of(session->longest_draft + 1, width), sizeof(float));
        if (!worker->rows[i].states) return 0;
    }
    return workspace->previous && workspace->token_inputs && workspace->blocks && workspace->link_inputs && workspace->hidden &&
           workspace->best && workspace->fresh;
}

static int open_workspace_of(struct worker *worker, const struct specdec_session *session, int64_t threads) {
    const struct specdec_model *model = session->model;
    const struct stack *decoder = &model->decoder, *drafter = &model->drafter.stack;
    const int64_t longest = larger(session->longest_capacity, session->longest_source);
    struct workspace_sizes sizes = {
        .threads = threads,
        .positions = session->most_positions,
        .projected = projected_of(decoder),
        .attended = larger(decoder->width, decoder->attention),
        .quantized = widest_input_of(decoder),
        .scratch = larger(scratch_size_of(decoder, longest), scratch_size_of(&model->encoder, longest)),
    };
    if (has_network(session)) {
        const int64_t link = model->drafter.link.width;
        sizes.quantized = larger(larger(sizes.quantized, widest_input_of(drafter)), link);
        sizes.projected = larger(larger(sizes.projected, projected_of(drafter)), larger(link, model->drafter.prefix.outputs));
        const int64_t link_inputs = sum_of(2 * link, QUANTIZED_ALONE);
        sizes.scratch = larger(sizes.scratch, scratch_size_of(drafter, longest));
        sizes.scratch = larger(sizes.scratch, larger(link_scratch_size(model), link_inputs));
    }
    return open_workspace(&worker->workspace, &worker->arena, &sizes);
}

int worker_open(struct worker *worker, struct specdec_session *session) {
    const struct specdec_model *model = session->model;
    const int64_t positions = session->most_positions, width = model->decoder.width, size = model->shape.vocabulary;
    const int64_t rows = smaller(session->queue.count, session->options.batch_size);
    const int64_t of_row = larger(session->longest_draft + 1, session->beam);
    const int64_t at_once = smaller(LOGITS_AT_ONCE, product_of(rows, of_row));
    worker->session = session;
    worker->team = session->team;
    if (session->options.batch_size == 1) worker->lent_arena = borrow_arena(model, &worker->arena);
    const int64_t threads = session->team ? session->options.threads : 1;
    if (!open_rows(worker, session) || !open_drafting(worker, session)) return 0;
    if (!open_beam(worker, session) || !open_workspace_of(worker, session, threads)) return 0;
    worker->ids = allocate(worker, positions, sizeof *worker->ids);
    worker->slots = allocate(worker, positions, sizeof *worker->slots);
    worker->x = allocate_unset(worker, product_of(positions, width), sizeof(float));
    worker->indices = allocate(worker, positions, sizeof *worker->indices);
    worker->ends = allocate(worker, positions, sizeof *worker->ends);
    worker->predicted = allocate(worker, positions, sizeof *worker->predicted);
    worker->scores = allocate(worker, positions, sizeof *worker->scores);
    worker->logits = allocate_unset(worker, product_of(at_once, size), sizeof(float));
    worker->tops = allocate_unset(worker, product_of(at_once, size / TILE + 1), sizeof(float));
    return worker->ids && worker->slots && worker->x && worker->indices && worker->ends && worker->predicted && worker->scores &&
           worker->logits && worker->tops;
}

int32_t open_workers(struct specdec_session *session) {
    const int64_t threads = session->options.threads, apart = session->options.batch_size > 1;
    session->worker_count = apart ? threads : 1;
    session->workers = arena_allocate(&session->arena, session->worker_count, sizeof *session->workers);
    if (!session->workers) return SPECDEC_NO_MEMORY;
    for (int64_t i = 0; i < session->worker_count; i++) {
        struct worker *worker = session->workers + i;
        worker->ngrams = session->options.memory ? session->options.memory->of_worker + i : 0;
        worker->adaptive = session->options.adaptive ? session->options.adaptive->of_worker + i : 0;
        if (!worker_open(worker, session)) return SPECDEC_NO_MEMORY;
    }
    return SPECDEC_OK;
}

void worker_close(struct worker *worker) {
    const int64_t batch = worker->session->options.batch_size;
    for (int64_t i = 0; worker->rows && batch > 1 && i < batch; i++) row_free(worker->rows + i);
    give_back_arena(worker->lent_arena, &worker->arena);
}
