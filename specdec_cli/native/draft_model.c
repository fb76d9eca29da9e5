// Drafts by another model: it goes on from what stands in each row, by passes of its own. Its rows belong to a second session, which has
// the numbers of the sentences and of the rows, and which no one asks for sentences. decoding/drafters/draft_model.py does the same.

#include <stdlib.h>
#include <string.h>

#include "state.h"
#include "sizes.h"

#define DIVISOR 4 // a draft has at most a quarter of the positions that the draft model has for a sentence

// The options of the draft model's session. Lookup is the method whose passes have as many positions as an output.
static struct specdec_options options_of(const struct specdec_session *session) {
    struct specdec_options options = {
        .method = SPECDEC_METHOD_LOOKUP,
        .batch_size = session->options.batch_size,
        .threads = session->options.threads,
        .constraints = *session->options.draft_constraints,
    };
    if (!session->options.read) options.acceptance = session->options.acceptance;
    return options;
}

int32_t open_draft_session(struct specdec_session *session) {
    struct specdec_session *own = calloc(1, sizeof *own);
    if (!own) return SPECDEC_NO_MEMORY;
    session->draft_session = own;
    own->model = session->options.draft_model;
    own->options = options_of(session);
    own->queue = (struct specdec_queue){
        .count = session->queue.count,
        .ids = session->queue.draft_ids,
        .starts = session->queue.draft_starts,
        .streams = session->queue.streams,
    };
    own->team = session->team;
    measure(own);
    int32_t status = copy_queue(own);
    if (!status) status = open_workers(own);
    for (int64_t i = 0; !status && i < session->worker_count; i++) session->workers[i].draft_worker = own->workers + i;
    return status;
}

void close_draft_session(struct specdec_session *own) {
    if (!own) return;
    for (int64_t i = 0; own->workers && i < own->worker_count; i++)
        if (own->workers[i].session) worker_close(own->workers + i);
    arena_free(&own->arena);
    free(own);
}

static struct row *draft_row_of(const struct worker *worker, const struct row *row) {
    return worker->draft_worker->rows + (row - worker->rows);
}

int32_t enter_draft_rows(struct worker *worker, int64_t rows) {
    struct worker *own = worker->draft_worker;
    const int64_t *starts = own->session->queue.starts;
    int64_t entered = 0, positions = 0;
    own->starts[0] = 0;
    for (int64_t i = 0; i < rows; i++) {
        const int64_t number = worker->chosen[i]->number, length = starts[number + 1] - starts[number];
        struct row *row = draft_row_of(worker, worker->chosen[i]);
        row->number = VACANT;
        if (!length || !worker->chosen[i]->has_drafter) continue;
        if (entered && positions + length > CHUNK) {
            encode_chosen(own, entered, positions);
            entered = positions = 0;
        }
        const int32_t status = enter_row(own, row, number, positions);
        if (status) return status;
        own->chosen[entered++] = row;
        positions += length;
        own->starts[entered] = positions;
    }
    if (entered) encode_chosen(own, entered, positions);
    return SPECDEC_OK;
}

// How many of the `count` ids that a function of the caller wrote are tokens of a vocabulary, up to the first that is not.
static int64_t known_ids(const int32_t *ids, int64_t count, int64_t capacity, int64_t vocabulary) {
    int64_t known = 0;
    while (known < smaller(count, capacity) && between(ids[known], 0, vocabulary - 1)) known++;
    return known;
}

// What stands in a row, in the tokens of the draft model, start included, goes to `to`; returns their number.
static int64_t read_row(const struct worker *worker, const struct row *row, int32_t *to, int64_t capacity) {
    const specdec_read read = (specdec_read)worker->session->options.read;
    const struct specdec_shape *shape = &worker->draft_worker->session->model->shape;
    const int64_t length = row->length - 1;
    to[0] = shape->start;
    if (read) return 1 + known_ids(to + 1, read(row->tokens + 1, length, to + 1, capacity - 1), capacity - 1, shape->vocabulary);
    const int64_t count = smaller(length, capacity - 1);
    memcpy(to + 1, row->tokens + 1, (size_t)count * sizeof *to);
    return 1 + count;
}

// Lays out what the draft model has to read, after what it read before; the keys and values of that stay. Returns the tokens that it then
// writes, or 0 where its row has no room for them.
static int64_t begin_writing(const struct worker *worker, const struct row *row, struct row *own) {
    const int64_t size = smaller(worker->block_size, own->capacity / DIVISOR);
    const int64_t count = read_row(worker, row, own->draft, own->capacity);
    own->drafted = 0;
    own->idle = 1;
    if (count + size >= own->capacity) return 0;
    int64_t agreed = 1;
    while (agreed < smaller(count, own->length) && own->tokens[agreed] == own->draft[agreed]) agreed++;
    own->length = agreed;
    own->drafted = count - agreed;
    memmove(own->draft, own->draft + agreed, (size_t)own->drafted * sizeof *own->draft);
    own->written_from = count;
    own->written_to = count + size;
    own->idle = 0;
    return size;
}

static void take_written(struct worker *own, const struct verdict *verdict) {
    struct row *row = verdict->row;
    const int32_t token = verdict->predicted[row->drafted];
    row->length += row->drafted;
    row->drafted = 0;
    row->tokens[row->length++] = token;
    row->idle = token == own->session->model->shape.eos || row->length >= row->written_to;
}

// The draft of a row: what the draft model wrote, without its end, as tokens of the verifier.
static void take_draft(const struct worker *worker, struct row *row, const struct row *own) {
    const specdec_continue continued = (specdec_continue)worker->session->options.continued;
    const int64_t remaining = row->limit - row->length, most = smaller(worker->block_size, remaining);
    const int32_t *written = own->tokens + own->written_from;
    int64_t count = own->length - own->written_from;
    if (count && written[count - 1] == worker->draft_worker->session->model->shape.eos) count--;
    if (!continued) memcpy(row->draft, written, (size_t)smaller(count, most) * sizeof *row->draft);
    else if (count) count = continued(row->tokens + 1, row->length - 1, own->tokens + 1, own->written_from - 1, written, count, row->draft, most);
    row->drafted = known_ids(row->draft, count, most, worker->session->model->shape.vocabulary);
}

void draft_by_model(struct worker *worker) {
    struct specdec_session *session = worker->session, *drafting = session->draft_session;
    struct worker *own = worker->draft_worker;
    int64_t steps = 0;
    for (int64_t i = 0; i < session->options.batch_size; i++) {
        struct row *row = worker->rows + i, *other = own->rows + i;
        row->drafted = 0;
        other->idle = 1;
        other->written_from = 0;
        if (row->number == VACANT || !row->has_drafter || other->number != row->number) continue;
        steps = larger(steps, begin_writing(worker, row, other));
    }
    for (; steps && !atomic_load(&drafting->status); steps--) {
        for (int64_t i = 0; i < session->options.batch_size; i++)
            if (!own->rows[i].idle) row_extend(drafting, own->rows + i, own->rows[i].length + own->rows[i].drafted);
        verify_rows(own, take_written);
    }
    if (atomic_load(&drafting->status)) atomic_store(&session->status, atomic_load(&drafting->status));
    for (int64_t i = 0; i < session->options.batch_size; i++)
        if (own->rows[i].written_from) take_draft(worker, worker->rows + i, own->rows + i);
}
