// Sentences that are done, and rounds, from a worker to the session.

#include <stdlib.h>
#include <string.h>

#include "state.h"
#include "sizes.h"

// The best hypotheses of a search.
static struct done *found_by_search(const struct specdec_session *session, const struct row *row) {
    const struct finished *finished = row->search.finished;
    const int64_t count = smaller(row->search.ended, session->options.search.n_best);
    int64_t total = 0;
    for (int64_t i = 0; i < count; i++) total += finished[i].length;
    struct specdec_hypothesis *hypotheses;
    struct done *done = malloc(sizeof *done + (size_t)count * sizeof *hypotheses + (size_t)total * sizeof(int32_t));
    if (!done) return 0;
    hypotheses = (struct specdec_hypothesis *)(done + 1);
    int32_t *ids = (int32_t *)(hypotheses + count);
    done->output = (struct specdec_output){row->number, count ? finished[0].length : 0, row->rounds, 1, ids, 0, count, hypotheses};
    for (int64_t i = 0; i < count; i++) {
        const int64_t length = finished[i].length;
        hypotheses[i] = (struct specdec_hypothesis){finished[i].score, length, ids, finished[i].log_probability, 0};
        memcpy(ids, finished[i].ids, (size_t)length * sizeof *ids);
        ids += length;
    }
    return done;
}

static struct done *decoded(const struct specdec_session *session, const struct row *row) {
    const int64_t length = row->length - 1;
    struct done *done = malloc(sizeof *done + (size_t)length * (sizeof(int32_t) + sizeof(float)));
    if (!done) return 0;
    int32_t *ids = (int32_t *)(done + 1);
    float *scores = (float *)(ids + length);
    memcpy(ids, row->tokens + 1, (size_t)length * sizeof *ids);
    memcpy(scores, row->log_probabilities + 1, (size_t)length * sizeof *scores);
    const int64_t drafted = has_model(session) ? row->has_drafter : session->options.method != SPECDEC_METHOD_GREEDY;
    done->output = (struct specdec_output){row->number, length, row->rounds, drafted, ids, session->options.with_scores ? scores : 0, 0, 0};
    return done;
}

static void append(struct specdec_session *session, struct done *done) {
    done->next = 0;
    pthread_mutex_lock(&session->lock);
    *session->last = done;
    session->last = &done->next;
    pthread_cond_broadcast(&session->progress);
    pthread_mutex_unlock(&session->lock);
}

int32_t hand_over(struct specdec_session *session, struct row *row) {
    struct done *done = session->options.method == SPECDEC_METHOD_BEAM ? found_by_search(session, row) : decoded(session, row);
    if (!done) return SPECDEC_NO_MEMORY;
    done->status = SPECDEC_OK;
    row->number = VACANT;
    append(session, done);
    return SPECDEC_OK;
}

int32_t hand_over_round(struct specdec_session *session, const struct verdict *verdict, int64_t count, int ended) {
    const struct row *row = verdict->row;
    struct done *done = malloc(sizeof *done + (size_t)(count + 2 * row->drafted + 1) * sizeof(int32_t));
    if (!done) return SPECDEC_NO_MEMORY;
    int32_t *ids = (int32_t *)(done + 1);
    memcpy(ids, verdict->predicted, (size_t)count * sizeof *ids);
    if (row->drafted) memcpy(ids + count, row->draft, (size_t)row->drafted * sizeof *ids);
    memcpy(ids + count + row->drafted, verdict->predicted, (size_t)(row->drafted + 1) * sizeof *ids);
    done->status = SPECDEC_ROUND;
    done->output = (struct specdec_output){row->number, count, row->rounds, row->drafted, ids, 0, ended, 0};
    append(session, done);
    return SPECDEC_OK;
}
