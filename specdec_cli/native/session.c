// Sessions: what is handed in, which is checked, what is handed out, and the threads between.

#include "session.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "sizes.h"

#define MOST_THREADS 1024
#define MOST_BATCH (1 << 16)

static int beam_fits(const struct specdec_options *options) {
    return between(options->beam_size, 1, SPECDEC_MOST_BEAM) && between(options->n_best, 1, options->beam_size) &&
           between(options->stop, SPECDEC_STOP_HEURISTIC, SPECDEC_STOP_FAIRSEQ) && isfinite(options->length_penalty);
}

static int constraints_fit(const struct specdec_options *options) {
    return options->min_length >= 0 && options->no_repeat_ngram_size >= 0 && options->source_ngram_size >= 0 &&
           options->repetition_penalty > 0.0f && isfinite(options->repetition_penalty) && between(options->most_copies, 0, 256) &&
           !(options->most_copies && !(options->forms && options->source_forms));
}

static int memory_fits(const struct specdec_options *options, const struct specdec_shape *shape) {
    const struct specdec_memory *memory = options->memory;
    if (options->method != SPECDEC_METHOD_NGRAM_MEMORY) return !memory;
    return memory && memory->vocabulary == shape->vocabulary && memory->workers >= (options->batch > 1 ? options->threads : 1);
}

static int options_fit(const struct specdec_options *options, const struct specdec_shape *shape) {
    const int copies = options->method == SPECDEC_METHOD_INPUT_GUIDED, drafts = options->method == SPECDEC_METHOD_SPECDEC;
    const int given = options->method == SPECDEC_METHOD_GIVEN_DRAFTS;
    const struct specdec_adaptive *adaptive = options->adaptive;
    return between(options->method, SPECDEC_METHOD_GREEDY, SPECDEC_METHOD_NGRAM_MEMORY) &&
           between(options->match, SPECDEC_MATCH_UNIQUE, SPECDEC_MATCH_NEAREST) &&
           between(options->block_size, 0, 1 << 16) && between(options->batch, 1, MOST_BATCH) &&
           between(options->threads, 1, MOST_THREADS) && options->max_length >= 0 && between(options->forced, -1, shape->vocabulary - 1) &&
           constraints_fit(options) && memory_fits(options, shape) && between(options->top_beta, 0, shape->vocabulary) &&
           !isnan(options->tolerance) &&
           !(options->method == SPECDEC_METHOD_BEAM && !beam_fits(options)) &&
           !(drafts && !(shape->drafter_layers && between(options->block_size, 1, shape->max_block))) &&
           !(adaptive && !(drafts && adaptive->longest == options->block_size && adaptive->rows >= options->batch &&
                           adaptive->workers >= (options->batch > 1 ? options->threads : 1))) &&
           !((copies || given) && options->match == SPECDEC_MATCH_NEAREST && !options->word_starts) &&
           options->recorded >= 0 && !(options->recorded && (given || adaptive || !options->drafts || !options->draft_starts)) &&
           !(copies && options->drafts && !options->draft_starts) &&
           !(given && !(options->drafts && options->draft_starts && options->first_drafts && options->prefix_lengths)) &&
           !(given && options->top_beta) &&
           options->margin >= 0 && !(options->margin > 0 && !copies) &&
           !(copies && (!options->shared_vocabulary || shape->source_vocabulary != shape->vocabulary)) &&
           !(options->shared_vocabulary && shape->source_vocabulary != shape->vocabulary);
}

static int32_t check_queue(const struct specdec_shape *shape, const int32_t *ids, const int64_t *starts, int64_t count) {
    const int64_t most = shape->max_positions / SPECDEC_MULTIPLE * SPECDEC_MULTIPLE;
    if (starts[0] != 0) return SPECDEC_BAD_LENGTH;
    for (int64_t i = 0; i < count; i++) {
        if (starts[i + 1] <= starts[i] || starts[i + 1] - starts[i] > most) return SPECDEC_BAD_LENGTH;
        if (ids[starts[i + 1] - 1] == shape->padding) return SPECDEC_BAD_ID;
        for (int64_t k = starts[i]; k < starts[i + 1]; k++)
            if (!between(ids[k], 0, shape->source_vocabulary - 1)) return SPECDEC_BAD_ID;
    }
    return SPECDEC_OK;
}

int has_texts(const struct specdec_options *options) {
    return options->method == SPECDEC_METHOD_GIVEN_DRAFTS ||
           (options->method == SPECDEC_METHOD_INPUT_GUIDED && options->drafts && !options->recorded);
}

static int64_t drafts_of(const struct specdec_session *session) {
    return has_texts(&session->options) ? session->count : product_of(session->options.recorded, session->count);
}

static int has_bounds(const struct specdec_options *options) {
    return options->first_drafts && (options->method == SPECDEC_METHOD_GIVEN_DRAFTS || options->method == SPECDEC_METHOD_INPUT_GUIDED);
}

static int32_t check_drafts(const struct specdec_session *session) {
    const int32_t *ids = session->options.drafts;
    const int64_t *starts = session->options.draft_starts, count = drafts_of(session);
    const int given = session->options.method == SPECDEC_METHOD_GIVEN_DRAFTS, texts = has_texts(&session->options);
    for (int64_t i = 0; has_bounds(&session->options) && i < session->count; i++)
        if (session->options.first_drafts[i] < 0) return SPECDEC_BAD_LENGTH;
    if (count < 0) return SPECDEC_BAD_LENGTH;
    if (count && starts[0] != 0) return SPECDEC_BAD_LENGTH;
    for (int64_t i = 0; i < count; i++) {
        if (starts[i + 1] < starts[i] + texts) return SPECDEC_BAD_LENGTH;
        if (given && !between(session->options.prefix_lengths[i], 0, starts[i + 1] - starts[i] - 1)) return SPECDEC_BAD_LENGTH;
        for (int64_t k = starts[i]; k < starts[i + 1]; k++)
            if (!between(ids[k], 0, session->model->shape.vocabulary - 1)) return SPECDEC_BAD_ID;
    }
    return SPECDEC_OK;
}

static int64_t longest_draft(const struct specdec_session *session) {
    const int32_t decoding = session->options.method;
    if (decoding == SPECDEC_METHOD_GREEDY || decoding == SPECDEC_METHOD_BEAM) return 0;
    return decoding == SPECDEC_METHOD_SPECDEC ? session->options.block_size : session->longest_capacity;
}

// Computes the sizes that the queue needs, which is checked.
static void measure(struct specdec_session *session, const int64_t *starts) {
    for (int64_t i = 0; i < session->count; i++) session->longest_source = larger(session->longest_source, starts[i + 1] - starts[i]);
    session->longest_capacity = specdec_capacity(session->model, session->longest_source, session->options.min_length);
    session->longest_draft = longest_draft(session);
    session->beam = session->options.method == SPECDEC_METHOD_BEAM ? session->options.beam_size : 1;
    const int64_t positions = larger(larger(session->longest_source, positions_of_row(session)), session->beam);
    // Rows that enter or run together: as many as there are, up to CHUNK positions and those of one more.
    const int64_t of_all = product_of(positions, session->count < session->options.batch ? session->count : session->options.batch);
    session->most_positions = of_all < CHUNK + positions ? of_all : CHUNK + positions;
}

static int32_t open_workers(struct specdec_session *session) {
    const int64_t threads = session->options.threads, apart = session->options.batch > 1;
    session->worker_count = apart ? threads : 1;
    session->workers = arena_allocate(&session->arena, session->worker_count, sizeof *session->workers);
    if (!session->workers) return SPECDEC_NO_MEMORY;
    if (!apart && threads > 1 && team_borrow(session->model->team, (int)threads)) session->team = session->model->team;
    for (int64_t i = 0; i < session->worker_count; i++) {
        struct worker *worker = session->workers + i;
        worker->ngrams = session->options.memory ? session->options.memory->of_worker + i : 0;
        worker->adaptive = session->options.adaptive ? session->options.adaptive->of_worker + i : 0;
        if (!worker_open(worker, session)) return SPECDEC_NO_MEMORY;
    }
    return SPECDEC_OK;
}

static int32_t copy_texts(struct specdec_session *session, const int32_t *ids, const int64_t *starts, int64_t count, int32_t **copied_ids,
                          int64_t **copied_starts) {
    *copied_ids = arena_allocate(&session->arena, starts[count], sizeof *ids);
    *copied_starts = arena_allocate(&session->arena, count + 1, sizeof *starts);
    if (!*copied_ids || !*copied_starts) return SPECDEC_NO_MEMORY;
    memcpy(*copied_ids, ids, (size_t)starts[count] * sizeof *ids);
    memcpy(*copied_starts, starts, (size_t)(count + 1) * sizeof *starts);
    return SPECDEC_OK;
}

// A copy of a number for each sentence; NULL without memory.
static int32_t *copy_numbers(struct specdec_session *session, const int32_t *numbers) {
    int32_t *copy = arena_allocate(&session->arena, session->count + 1, sizeof *copy);
    if (copy) memcpy(copy, numbers, (size_t)session->count * sizeof *copy);
    return copy;
}

static int32_t copy_queue(struct specdec_session *session, const int32_t *ids, const int64_t *starts) {
    const struct specdec_options *options = &session->options;
    const int32_t status = copy_texts(session, ids, starts, session->count, &session->ids, &session->starts);
    if (status) return status;
    if (has_bounds(options) && !(session->first_drafts = copy_numbers(session, options->first_drafts))) return SPECDEC_NO_MEMORY;
    if (!drafts_of(session)) return SPECDEC_OK;
    if (options->method == SPECDEC_METHOD_GIVEN_DRAFTS && !(session->prefix_lengths = copy_numbers(session, options->prefix_lengths)))
        return SPECDEC_NO_MEMORY;
    return copy_texts(session, options->drafts, options->draft_starts, drafts_of(session), &session->drafts, &session->draft_starts);
}

int32_t specdec_session_create(const struct specdec_model *model, const struct specdec_options *options, const int32_t *ids,
                               const int64_t *starts, int64_t count, struct specdec_session **created) {
    *created = 0;
    if (!options_fit(options, &model->shape)) return SPECDEC_BAD_OPTION;
    if (count < 0) return SPECDEC_BAD_LENGTH;
    struct specdec_session *session = calloc(1, sizeof *session);
    if (!session) return SPECDEC_NO_MEMORY;
    session->model = model;
    session->options = *options;
    session->count = count;
    session->last = &session->first;
    session->owner = getpid();
    pthread_mutex_init(&session->lock, 0);
    pthread_cond_init(&session->progress, 0);
    int32_t status = check_queue(&model->shape, ids, starts, count);
    if (!status) measure(session, starts);
    if (!status) status = check_drafts(session);
    if (!status) status = copy_queue(session, ids, starts);
    if (!status) status = open_workers(session);
    if (status) specdec_session_destroy(session);
    else *created = session;
    return status;
}

// A worker on a thread of its own, until the queue is empty.
static void *work(void *given) {
    struct worker *worker = given;
    struct specdec_session *session = worker->session;
    int32_t status = SPECDEC_OK;
    while (!status && !atomic_load(&session->stopped)) status = work_once(worker);
    if (status < 0) {
        atomic_store(&session->status, status);
        pthread_mutex_lock(&session->lock);
        pthread_cond_broadcast(&session->progress);
        pthread_mutex_unlock(&session->lock);
    }
    return 0;
}

// Starts the threads of all workers but the first, which the caller's own thread is. One that cannot start is missing.
static void start_workers(struct specdec_session *session) {
    for (int64_t i = 1; i < session->worker_count; i++) {
        struct worker *worker = session->workers + i;
        if (!worker->started) worker->started = start_thread(&worker->thread, work, worker) ? 1 : -1;
    }
}

// The first sentence, or round, that is done and was not handed out. Returns its status; SPECDEC_WAITING: there is none.
static int32_t hand_out(struct specdec_session *session, struct specdec_output *output) {
    pthread_mutex_lock(&session->lock);
    struct done *done = session->first;
    if (done) {
        session->first = done->next;
        if (!session->first) session->last = &session->first;
    }
    pthread_mutex_unlock(&session->lock);
    if (!done) return SPECDEC_WAITING;
    free(session->handed);
    session->handed = done;
    session->handed_out += done->status == SPECDEC_OK;
    *output = done->output;
    return done->status;
}

// Waits until another worker has done a sentence, for at most `nanoseconds`.
static void wait_for_others(struct specdec_session *session, int64_t nanoseconds) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    const int64_t after = until.tv_nsec + nanoseconds;
    until.tv_sec += after / NANOSECONDS;
    until.tv_nsec = after % NANOSECONDS;
    pthread_mutex_lock(&session->lock);
    if (!session->first && !atomic_load(&session->status)) pthread_cond_timedwait(&session->progress, &session->lock, &until);
    pthread_mutex_unlock(&session->lock);
}

int32_t specdec_session_next(struct specdec_session *session, int32_t milliseconds, struct specdec_output *output) {
    const int64_t until = nanoseconds_of(CLOCK_MONOTONIC) + (int64_t)(milliseconds > 0 ? milliseconds : 0) * 1000000;
    const int forked = session->owner != getpid();
    if (forked && session->worker_count > 1) return SPECDEC_FORKED;
    if (forked) session->workers->team = session->team = 0;
    start_workers(session);
    if (session->team) team_start(session->team);
    for (;;) {
        const int32_t handed = hand_out(session, output);
        if (handed != SPECDEC_WAITING) return handed;
        if (session->handed_out == session->count) return SPECDEC_FINISHED;
        int32_t status = atomic_load(&session->status);
        if (!status) status = work_once(session->workers);
        if (status < 0) return status;
        const int64_t left = until - nanoseconds_of(CLOCK_MONOTONIC);
        if (left <= 0) return hand_out(session, output);
        if (status == SPECDEC_FINISHED) wait_for_others(session, left);
    }
}

void specdec_session_times(const struct specdec_session *session, double *drafting, double *verifying) {
    *drafting = *verifying = INFINITY;
    for (int64_t i = 0; i < session->worker_count; i++) {
        *drafting = fmin(*drafting, session->workers[i].least_drafting);
        *verifying = fmin(*verifying, session->workers[i].least_verifying);
    }
    if (isinf(*drafting)) *drafting = 0.0;
    if (isinf(*verifying)) *verifying = 0.0;
}

void specdec_session_destroy(struct specdec_session *session) {
    if (!session) return;
    atomic_store(&session->stopped, 1);
    for (int64_t i = 0; session->workers && i < session->worker_count; i++)
        if (session->workers[i].started > 0 && session->owner == getpid()) pthread_join(session->workers[i].thread, 0);
    if (session->team && session->owner == getpid()) team_give_back(session->team);
    for (int64_t i = 0; session->workers && i < session->worker_count; i++)
        if (session->workers[i].session) worker_close(session->workers + i);
    while (session->first) {
        struct done *next = session->first->next;
        free(session->first);
        session->first = next;
    }
    free(session->handed);
    pthread_mutex_destroy(&session->lock);
    pthread_cond_destroy(&session->progress);
    arena_free(&session->arena);
    free(session);
}
