// A round of a worker: draft, verify, accept.

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "session.h"

static void append(struct specdec_session *session, struct done *done) {
    done->next = 0;
    pthread_mutex_lock(&session->lock);
    *session->last = done;
    session->last = &done->next;
    pthread_cond_broadcast(&session->progress);
    pthread_mutex_unlock(&session->lock);
}

static int32_t hand_over(struct specdec_session *session, struct row *row) {
    const int64_t length = row->length - 1;
    const size_t size = sizeof(struct done) + (size_t)length * (sizeof(int32_t) + sizeof(float));
    struct done *done = malloc(size);
    if (!done) return SPECDEC_NO_MEMORY;
    int32_t *ids = (int32_t *)(done + 1);
    float *scores = (float *)(ids + length);
    memcpy(ids, row->tokens + 1, (size_t)length * sizeof *ids);
    memcpy(scores, row->log_probabilities + 1, (size_t)length * sizeof *scores);
    done->status = SPECDEC_OK;
    const int64_t drafted = session->options.decoding == SPECDEC_DRAFTER ? row->has_drafter : session->options.decoding != SPECDEC_GREEDY;
    done->output = (struct specdec_output){row->number, length, row->rounds, drafted, ids, session->options.with_scores ? scores : 0};
    row->number = VACANT;
    append(session, done);
    return SPECDEC_OK;
}

// Hands over a round that took the first `count` tokens of a verdict.
static int32_t hand_over_round(struct specdec_session *session, const struct verdict *verdict, int64_t count) {
    const struct row *row = verdict->row;
    struct done *done = malloc(sizeof *done + (size_t)(count + row->drafted) * sizeof(int32_t));
    if (!done) return SPECDEC_NO_MEMORY;
    int32_t *ids = (int32_t *)(done + 1);
    memcpy(ids, verdict->predicted, (size_t)count * sizeof *ids);
    if (row->drafted) memcpy(ids + count, row->ids, (size_t)row->drafted * sizeof *ids);
    done->status = SPECDEC_ROUND;
    done->output = (struct specdec_output){row->number, count, row->rounds, row->drafted, ids, 0};
    append(session, done);
    return SPECDEC_OK;
}

// Takes what passed of a draft and, after it, the verifier's own token; an end or the row's limit cuts that off.
static void take(struct worker *worker, const struct verdict *verdict) {
    struct specdec_session *session = worker->session;
    struct row *row = verdict->row;
    const int64_t room = row->limit - row->length;
    int64_t count = verdict->passed + 1;
    if (count > room) count = room;
    int ended = count == room;
    for (int64_t i = 0; i < count; i++) {
        row->tokens[row->length + i] = verdict->predicted[i];
        row->log_probabilities[row->length + i] = verdict->scores[i];
        if (verdict->predicted[i] != session->model->shape.eos) continue;
        ended = 1;
        count = i + 1;
    }
    row->length += count;
    row->rounds++;
    int32_t status = session->options.with_rounds ? hand_over_round(session, verdict, count) : SPECDEC_OK;
    if (status) atomic_store(&session->status, status);
    if (worker->adaptive && row->has_drafter) adaptive_count(worker->adaptive, count - 1);
    if (!ended) {
        if (row->has_drafter) keep_states(worker, verdict, count);
        observe_round(session, row, verdict->passed);
        return;
    }
    worker->running--;
    status = hand_over(session, row);
    if (status) atomic_store(&session->status, status);
}

static double milliseconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return 1e3 * (double)time.tv_sec + 1e-6 * (double)time.tv_nsec;
}

// Returns how many rows the drafter drafts for.
static int64_t propose_drafts(struct worker *worker) {
    struct specdec_session *session = worker->session;
    int64_t drafting = 0;
    for (int64_t i = 0; i < session->options.batch; i++) {
        struct row *row = worker->rows + i;
        if (row->number == VACANT) continue;
        propose_draft(session, row);
        drafting += row->has_drafter;
    }
    if (!drafting) return 0;
    worker->block_size = worker->adaptive ? adaptive_size(worker->adaptive, drafting) : session->options.block_size;
    draft_rows(worker);
    return drafting;
}

// Whether all rows that the session has room for run, with drafts of the full size if there is a drafter.
static int is_full(const struct worker *worker) {
    const struct specdec_options *options = &worker->session->options;
    for (int64_t i = 0; i < options->batch; i++) {
        const struct row *row = worker->rows + i;
        if (row->number == VACANT || (options->decoding == SPECDEC_DRAFTER && row->drafted < options->block_size)) return 0;
    }
    return 1;
}

int32_t work_once(struct worker *worker) {
    struct specdec_session *session = worker->session;
    const int32_t status = enter_rows(worker);
    if (status) return status == SPECDEC_WAITING ? SPECDEC_OK : status;
    if (!worker->running) return SPECDEC_FINISHED;
    const double started = milliseconds();
    const int64_t drafting = propose_drafts(worker);
    const double drafted = milliseconds();
    const int full = is_full(worker);
    verify_rows(worker, take);
    if (worker->adaptive && drafting) adaptive_finish(worker->adaptive, worker->block_size);
    if (full) {
        worker->least_drafting = fmin(worker->least_drafting, drafted - started);
        worker->least_verifying = fmin(worker->least_verifying, milliseconds() - drafted);
    }
    return atomic_load(&session->status);
}
