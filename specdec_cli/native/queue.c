// The queue of a session: checks and copies of the sentences, and the sizes of the buffers for them.

#include <string.h>

#include "state.h"
#include "sizes.h"

int copies_texts(const struct specdec_options *options) {
    return options->method == SPECDEC_METHOD_GIVEN_DRAFTS || options->method == SPECDEC_METHOD_INPUT_GUIDED;
}

// Checks that texts begin at `starts` and have at least `least` tokens, and at most `most`, of `vocabulary`.
static int32_t check_texts(const int32_t *ids, const int64_t *starts, int64_t count, int64_t least, int64_t most, int32_t vocabulary) {
    if (starts[0] != 0) return SPECDEC_BAD_LENGTH;
    for (int64_t i = 0; i < count; i++) {
        if (starts[i + 1] < starts[i] || !between(starts[i + 1] - starts[i], least, most)) return SPECDEC_BAD_LENGTH;
        for (int64_t k = starts[i]; k < starts[i + 1]; k++)
            if (!between(ids[k], 0, vocabulary - 1)) return SPECDEC_BAD_ID;
    }
    return SPECDEC_OK;
}

static int32_t check_numbers(const struct specdec_queue *queue) {
    for (int64_t i = 0; queue->first_drafts && i < queue->count; i++)
        if (queue->first_drafts[i] < 0) return SPECDEC_BAD_LENGTH;
    for (int64_t i = 0; queue->lengths && i < queue->count; i++)
        if (queue->lengths[i] < 0) return SPECDEC_BAD_LENGTH;
    for (int64_t i = 0; queue->prefix_lengths && i < queue->count; i++)
        if (!queue->texts || !between(queue->prefix_lengths[i], 0, queue->text_starts[i + 1] - queue->text_starts[i] - 1))
            return SPECDEC_BAD_LENGTH;
    return SPECDEC_OK;
}

// Checks the sources: each has at least `least` tokens, not more than the model has positions, and does not end with a padding token.
static int32_t check_sources(const int32_t *ids, const int64_t *starts, int64_t count, int64_t least, const struct specdec_shape *shape) {
    const int64_t most = shape->max_positions / SPECDEC_MULTIPLE * SPECDEC_MULTIPLE;
    int32_t status = check_texts(ids, starts, count, least, most, shape->source_vocabulary);
    for (int64_t i = 0; !status && i < count; i++)
        if (starts[i + 1] > starts[i] && ids[starts[i + 1] - 1] == shape->padding) status = SPECDEC_BAD_ID;
    return status;
}

int32_t check_queue(const struct specdec_queue *queue, const struct specdec_options *options, const struct specdec_shape *shape) {
    const int given = options->method == SPECDEC_METHOD_GIVEN_DRAFTS;
    if (queue->count < 0 || queue->recorded_rounds < 0 || (given && !queue->texts)) return SPECDEC_BAD_LENGTH;
    if (options->acceptance.temperature > 0 && !queue->streams) return SPECDEC_BAD_LENGTH;
    if (options->draft_model && !queue->draft_starts) return SPECDEC_BAD_LENGTH;
    int32_t status = check_sources(queue->ids, queue->starts, queue->count, 1, shape);
    if (!status && options->draft_model)
        status = check_sources(queue->draft_ids, queue->draft_starts, queue->count, 0, &options->draft_model->shape);
    if (!status && queue->texts) status = check_texts(queue->texts, queue->text_starts, queue->count, 1, INT64_MAX, shape->vocabulary);
    if (!status) status = check_numbers(queue);
    if (status || !queue->recorded_rounds) return status;
    const int64_t recorded = product_of(queue->recorded_rounds, queue->count);
    if (recorded < 0 || given || options->adaptive) return SPECDEC_BAD_LENGTH;
    return check_texts(queue->recorded, queue->recorded_starts, recorded, 0, INT64_MAX, shape->vocabulary);
}

static int64_t longest_draft(const struct specdec_session *session) {
    const int32_t method = session->options.method;
    if (method == SPECDEC_METHOD_GREEDY || method == SPECDEC_METHOD_BEAM) return 0;
    return has_model(session) ? smaller(session->options.block_size, session->longest_capacity) : session->longest_capacity;
}

void measure(struct specdec_session *session) {
    const struct specdec_queue *queue = &session->queue;
    const struct specdec_options *options = &session->options;
    for (int64_t i = 0; i < queue->count; i++)
        session->longest_source = larger(session->longest_source, queue->starts[i + 1] - queue->starts[i]);
    session->longest_capacity = specdec_capacity(session->model, session->longest_source, options->constraints.min_length);
    session->longest_draft = longest_draft(session);
    session->beam = options->method == SPECDEC_METHOD_BEAM ? options->search.beam_size : 1;
    const int64_t positions = larger(larger(session->longest_source, positions_of_row(session)), session->beam);
    // Rows that enter or run together: as many as there are, up to CHUNK positions and those of one more.
    const int64_t of_all = product_of(positions, smaller(queue->count, options->batch_size));
    session->most_positions = of_all < CHUNK + positions ? of_all : CHUNK + positions;
}

// A copy of `count` numbers of `size` bytes each; NULL without memory.
static void *copy_of(struct specdec_session *session, const void *numbers, int64_t count, size_t size) {
    void *copy = arena_allocate(&session->arena, count + 1, (int64_t)size);
    if (copy) memcpy(copy, numbers, (size_t)count * size);
    return copy;
}

static int copy_texts(struct specdec_session *session, const int32_t **ids, const int64_t **starts, int64_t count) {
    *ids = copy_of(session, *ids, (*starts)[count], sizeof **ids);
    *starts = copy_of(session, *starts, count + 1, sizeof **starts);
    return *ids && *starts;
}

static int copy_numbers(struct specdec_session *session, const int32_t **numbers) {
    *numbers = copy_of(session, *numbers, session->queue.count, sizeof **numbers);
    return *numbers != 0;
}

int32_t copy_queue(struct specdec_session *session) {
    struct specdec_queue *queue = &session->queue;
    const int texts = copies_texts(&session->options), given = session->options.method == SPECDEC_METHOD_GIVEN_DRAFTS;
    if (!texts) queue->texts = queue->first_drafts = 0;
    if (!given) queue->prefix_lengths = 0;
    if (!is_jacobi(session)) queue->lengths = 0;
    int fits = copy_texts(session, &queue->ids, &queue->starts, queue->count);
    if (queue->texts) fits = fits && copy_texts(session, &queue->texts, &queue->text_starts, queue->count);
    session->texts = (int32_t *)queue->texts;
    if (queue->first_drafts) fits = fits && copy_numbers(session, &queue->first_drafts);
    if (queue->prefix_lengths) fits = fits && copy_numbers(session, &queue->prefix_lengths);
    if (queue->lengths) fits = fits && copy_numbers(session, &queue->lengths);
    if (!(session->options.acceptance.temperature > 0)) queue->streams = 0;
    if (queue->streams) {
        queue->streams = copy_of(session, queue->streams, 2 * queue->count, sizeof *queue->streams);
        fits = fits && queue->streams;
    }
    const int64_t recorded = queue->recorded_rounds * queue->count;
    if (recorded) fits = fits && copy_texts(session, &queue->recorded, &queue->recorded_starts, recorded);
    return fits ? SPECDEC_OK : SPECDEC_NO_MEMORY;
}
