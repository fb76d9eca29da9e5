// A round of a worker: draft, verify, accept.

#include <stdlib.h>
#include <string.h>

#include "session.h"

static int32_t hand_over(struct specdec_session *session, struct row *row) {
    const int64_t length = row->length - 1;
    const size_t size = sizeof(struct done) + (size_t)length * (sizeof(int32_t) + sizeof(float));
    struct done *done = malloc(size);
    if (!done) return SPECDEC_NO_MEMORY;
    int32_t *ids = (int32_t *)(done + 1);
    float *scores = (float *)(ids + length);
    memcpy(ids, row->tokens + 1, (size_t)length * sizeof *ids);
    memcpy(scores, row->log_probabilities + 1, (size_t)length * sizeof *scores);
    done->next = 0;
    done->output = (struct specdec_output){row->number, length, row->rounds, ids, session->options.with_scores ? scores : 0};
    row->number = VACANT;
    pthread_mutex_lock(&session->lock);
    *session->last = done;
    session->last = &done->next;
    pthread_cond_broadcast(&session->progress);
    pthread_mutex_unlock(&session->lock);
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
    if (!ended) {
        observe_round(session, row, verdict->passed);
        return;
    }
    worker->running--;
    const int32_t status = hand_over(session, row);
    if (status) atomic_store(&session->status, status);
}

int32_t work_once(struct worker *worker) {
    struct specdec_session *session = worker->session;
    const int32_t status = enter_rows(worker);
    if (status) return status == SPECDEC_WAITING ? SPECDEC_OK : status;
    if (!worker->running) return SPECDEC_FINISHED;
    for (int64_t i = 0; i < session->options.batch; i++)
        if (worker->rows[i].number != VACANT) propose_draft(session, worker->rows + i);
    verify_rows(worker, take);
    return atomic_load(&session->status);
}
