// Sessions: the checks of options, the threads of the workers, and the outputs that the caller receives.

#include "state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "sizes.h"

#define MOST_BATCH (1 << 16)

// The name of an option, and whether its value is in its range and goes with the others.
struct check {
    const char *name;
    int fits;
};

// The name of the first option that does not fit; NULL if all do.
static const char *first_fault(const struct check *checks, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (!checks[i].fits) return checks[i].name;
    return 0;
}

static const char *fault_of_constraints(const struct specdec_constraints *constraints, const struct specdec_shape *shape) {
    const struct check checks[] = {
        {"min_length", constraints->min_length >= 0},
        {"no_repeat_ngram_size", constraints->no_repeat_ngram_size >= 0},
        {"source_ngram_size", constraints->source_ngram_size >= 0},
        {"repetition_penalty", constraints->repetition_penalty > 0.0f && isfinite(constraints->repetition_penalty)},
        {"most_copies", between(constraints->most_copies, 0, 256)},
        {"forced", between(constraints->forced, -1, shape->vocabulary - 1)},
        {"forms", !constraints->most_copies || (constraints->forms && constraints->source_forms)},
    };
    return first_fault(checks, sizeof checks / sizeof *checks);
}

static const char *fault_of_search(const struct specdec_search *search) {
    const struct check checks[] = {
        {"beam_size", between(search->beam_size, 1, SPECDEC_MOST_BEAM)},
        {"n_best", between(search->n_best, 1, search->beam_size)},
        {"length_penalty", isfinite(search->length_penalty)},
        {"stop", between(search->stop, SPECDEC_STOP_HEURISTIC, SPECDEC_STOP_FAIRSEQ)},
    };
    return first_fault(checks, sizeof checks / sizeof *checks);
}

// Only what protects memory, and what would have no meaning: the caller knows better what is wanted.
static const char *fault_of_options(const struct specdec_options *options, const struct specdec_shape *shape) {
    const int copies = options->method == SPECDEC_METHOD_INPUT_GUIDED, given = options->method == SPECDEC_METHOD_GIVEN_DRAFTS;
    const int network = options->method == SPECDEC_METHOD_SPECDEC, other = options->method == SPECDEC_METHOD_DRAFT_MODEL;
    const int drafts = network || other, remembers = options->method == SPECDEC_METHOD_NGRAM_MEMORY;
    const int alike = shape->source_vocabulary == shape->vocabulary;
    const int64_t workers = options->batch_size > 1 ? options->threads : 1;
    const struct specdec_acceptance *acceptance = &options->acceptance;
    const int samples = acceptance->temperature > 0;
    const int jacobi = between(options->method, SPECDEC_METHOD_JACOBI, SPECDEC_METHOD_HYBRID_JACOBI);
    const int exact = !acceptance->top_beta && !(acceptance->margin > 0) && options->method != SPECDEC_METHOD_BEAM;
    const struct specdec_adaptive *adaptive = options->adaptive;
    const struct specdec_memory *memory = options->memory;
    const struct check checks[] = {
        {"method", between(options->method, SPECDEC_METHOD_GREEDY, SPECDEC_METHOD_DRAFT_MODEL) && (!network || shape->drafter_layers)},
        {"block_size", between(options->block_size, drafts, network ? shape->max_block : 1 << 16)},
        {"batch_size", between(options->batch_size, 1, MOST_BATCH)},
        {"threads", between(options->threads, 1, MOST_THREADS)},
        {"max_length", options->max_length >= 0},
        {"match", between(options->match, SPECDEC_MATCH_UNIQUE, SPECDEC_MATCH_NEAREST)},
        {"shared_vocabulary", options->shared_vocabulary ? alike : !copies},
        {"top_beta", between(acceptance->top_beta, 0, given ? 0 : shape->vocabulary)},
        {"tolerance", !isnan(acceptance->tolerance)},
        {"margin", acceptance->margin >= 0 && (copies || !(acceptance->margin > 0))},
        {"whole", between(acceptance->whole, 0, jacobi)},
        {"temperature", acceptance->temperature >= 0 && isfinite(acceptance->temperature) && (!samples || exact)},
        {"top_k", between(acceptance->top_k, 0, samples ? SPECDEC_MOST_TOP_K : 0)},
        {"word_starts", options->word_starts || !copies_texts(options) || options->match != SPECDEC_MATCH_NEAREST},
        {"adaptive", !adaptive || (drafts && adaptive->longest == options->block_size && adaptive->rows >= options->batch_size &&
                                   adaptive->workers >= workers)},
        {"draft_model", other ? options->draft_model && options->draft_constraints && !options->read == !options->continued
                              : !options->draft_model},
        {"memory", remembers ? memory && memory->vocabulary == shape->vocabulary && memory->workers >= workers : !memory},
    };
    const char *fault = first_fault(checks, sizeof checks / sizeof *checks);
    if (!fault) fault = fault_of_constraints(&options->constraints, shape);
    if (!fault && other) fault = fault_of_constraints(options->draft_constraints, &options->draft_model->shape);
    return fault || options->method != SPECDEC_METHOD_BEAM ? fault : fault_of_search(&options->search);
}

// A condition whose waits end by the clock that no one sets.
static void init_condition(pthread_cond_t *condition) {
#if defined(__APPLE__) // waits for a time, not until one
    pthread_cond_init(condition, 0);
#else
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
#endif
}

static void wait_for(struct specdec_session *session, int64_t nanoseconds) {
#if defined(__APPLE__)
    const struct timespec time = {nanoseconds / NANOSECONDS, nanoseconds % NANOSECONDS};
    pthread_cond_timedwait_relative_np(&session->progress, &session->lock, &time);
#else
    const int64_t end = nanoseconds_of(CLOCK_MONOTONIC) + nanoseconds;
    const struct timespec until = {end / NANOSECONDS, end % NANOSECONDS};
    pthread_cond_timedwait(&session->progress, &session->lock, &until);
#endif
}

int32_t specdec_session_create(const struct specdec_model *model, const struct specdec_options *options, const struct specdec_queue *queue,
                               struct specdec_session **created, const char **fault) {
    *created = 0;
    *fault = fault_of_options(options, &model->shape);
    if (*fault) return SPECDEC_BAD_OPTION;
    int32_t status = check_queue(queue, options, &model->shape);
    if (status) return status;
    struct specdec_session *session = calloc(1, sizeof *session);
    if (!session) return SPECDEC_NO_MEMORY;
    session->model = model;
    session->options = *options;
    session->queue = *queue;
    session->last = &session->first;
    session->owner = getpid();
    pthread_mutex_init(&session->lock, 0);
    init_condition(&session->progress);
    measure(session);
    const int shared = options->batch_size == 1 && options->threads > 1;
    if (shared && team_borrow(model->team, options->threads)) session->team = model->team;
    status = copy_queue(session);
    if (!status) status = open_workers(session);
    if (!status && options->draft_model) status = open_draft_session(session);
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
    pthread_mutex_lock(&session->lock);
    if (!session->first && !atomic_load(&session->status)) wait_for(session, nanoseconds);
    pthread_mutex_unlock(&session->lock);
}

// The threads of a team live in the parent process.
static void forget_team(struct specdec_session *session) {
    session->workers->team = session->team = 0;
    if (session->draft_session) session->draft_session->workers->team = session->draft_session->team = 0;
}

int32_t specdec_session_next(struct specdec_session *session, int32_t milliseconds, struct specdec_output *output) {
    const int64_t until = nanoseconds_of(CLOCK_MONOTONIC) + (int64_t)(milliseconds > 0 ? milliseconds : 0) * 1000000;
    const int forked = session->owner != getpid();
    if (forked && session->worker_count > 1) return SPECDEC_FORKED;
    if (forked) forget_team(session);
    start_workers(session);
    if (session->team) team_start(session->team);
    for (;;) {
        const int32_t handed = hand_out(session, output);
        if (handed != SPECDEC_WAITING) return handed;
        if (session->handed_out == session->queue.count) return SPECDEC_FINISHED;
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
    close_draft_session(session->draft_session);
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
