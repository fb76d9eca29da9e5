// What becomes of a sentence's hypotheses in a step of beam search.

#include <math.h>
#include <string.h>

#include "session.h"
#include "sizes.h"

void begin_search(const struct specdec_session *session, struct row *row) {
    struct search *search = &row->search;
    search->running = 1;
    search->ended = 0;
    search->scores[0] = 0.0f;
    search->tokens[0] = session->model->shape.start;
}

static double scored(const struct specdec_session *session, float log_probability, int64_t length) {
    return (double)log_probability / pow((double)length, session->options.length_penalty);
}

// Keeps a hypothesis that has ended, with the candidate's token as its last, if it is among the best ones.
static void finish(const struct specdec_session *session, struct row *row, const struct candidate *last) {
    struct search *search = &row->search;
    const int64_t beam = session->options.beam_size, length = row->length;
    const double score = scored(session, last->log_probability, length);
    const int full = search->ended == beam;
    if (full && (session->options.stop == SPECDEC_STOP_FAIRSEQ || !(score > search->finished[beam - 1].score))) return;
    int64_t at = full ? beam - 1 : search->ended++;
    int32_t *ids = search->finished[at].ids;
    for (; at > 0 && score > search->finished[at - 1].score; at--) search->finished[at] = search->finished[at - 1];
    search->finished[at] = (struct finished){score, length, last->log_probability, ids};
    memcpy(ids, search->tokens + last->parent * session->longest_capacity + 1, (size_t)(length - 1) * sizeof *ids);
    ids[length - 1] = last->token;
}

// Whether the search ends, if `running` is the log probability of the best hypothesis that has not ended.
static int is_done(const struct specdec_session *session, const struct row *row, float running) {
    const struct specdec_options *options = &session->options;
    const struct search *search = &row->search;
    int64_t length = row->length;
    if (search->ended < options->beam_size) return 0;
    if (options->stop == SPECDEC_STOP_FIRST || options->stop == SPECDEC_STOP_FAIRSEQ) return 1;
    if (options->stop == SPECDEC_STOP_NEVER && options->length_penalty > 0)
        length = options->max_length ? options->max_length : row->limit - 1;
    return scored(session, running, length) <= search->finished[options->beam_size - 1].score;
}

// Makes the candidate the next step's hypothesis `number`.
static void extend(const struct specdec_session *session, struct row *row, const struct candidate *candidate, int64_t number) {
    struct search *search = &row->search;
    const int64_t from = candidate->parent * session->longest_capacity, to = number * session->longest_capacity;
    memcpy(search->next_tokens + to, search->tokens + from, (size_t)row->length * sizeof(int32_t));
    memcpy(search->next_orders + to, search->orders + from, (size_t)row->length * sizeof(int32_t));
    search->next_tokens[to + row->length] = candidate->token;
    search->scores[number] = candidate->log_probability;
}

static void exchange(int32_t **a, int32_t **b) {
    int32_t *const other = *a;
    *a = *b;
    *b = other;
}

int continue_search(const struct specdec_session *session, struct row *row, const struct candidate *candidates, int64_t count) {
    struct search *search = &row->search;
    const int64_t beam = session->options.beam_size, eos = session->model->shape.eos;
    const int full = row->length + 1 >= row->limit;
    row->rounds++;
    for (int64_t i = 0; i < smaller(beam, count); i++)
        if (full || candidates[i].token == eos) finish(session, row, candidates + i);
    search->running = 0;
    for (int64_t i = 0; !full && i < count && search->running < beam; i++)
        if (candidates[i].token != eos) extend(session, row, candidates + i, search->running++);
    if (!search->running || is_done(session, row, search->scores[0])) return 1;
    exchange(&search->tokens, &search->next_tokens);
    exchange(&search->orders, &search->next_orders);
    row->length++;
    return 0;
}
