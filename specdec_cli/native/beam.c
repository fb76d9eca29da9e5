// Beam search: a step is one pass over the last tokens of all hypotheses, whose best continuations are the next ones.

#include <float.h>
#include <math.h>
#include <string.h>

#include "kernels.h"
#include "state.h"
#include "sizes.h"

static float value_of(const struct distribution *distribution, float logit) {
    return distribution->score + ((logit - distribution->top) - distribution->log_total);
}

static void insert(struct candidate *kept, int64_t *count, int64_t wanted, struct candidate candidate) {
    if (*count < wanted) (*count)++;
    else if (!(candidate.log_probability > kept[wanted - 1].log_probability)) return;
    int64_t at = *count - 1;
    for (; at > 0 && candidate.log_probability > kept[at - 1].log_probability; at--) kept[at] = kept[at - 1];
    kept[at] = candidate;
}

// The `wanted`-th of the tiles' largest logits: at least `wanted` tokens have this logit or a larger one. Minus infinity for fewer tiles.
static float least_wanted(const struct logits *logits, int64_t i, int64_t wanted) {
    const int64_t tiles = (logits->size + TILE - 1) / TILE;
    float kept[2 * SPECDEC_MOST_BEAM];
    for (int64_t k = 0; k < wanted; k++) kept[k] = -INFINITY;
    for (int64_t tile = 0; tile < tiles; tile++) {
        const float top = logits->tops[tile * logits->count + i];
        if (!(top > kept[wanted - 1])) continue;
        int64_t at = wanted - 1;
        for (; at > 0 && top > kept[at - 1]; at--) kept[at] = kept[at - 1];
        kept[at] = top;
    }
    return kept[wanted - 1];
}

// The best continuations, at most `wanted`, the best one first; on ties that of the first token. Returns how many there are.
static int64_t best_candidates(const struct logits *logits, int64_t i, const struct distribution *distribution, int32_t parent,
                               int64_t wanted, struct candidate *to) {
    const float least = value_of(distribution, least_wanted(logits, i, wanted));
    int64_t count = 0;
    for (int64_t first = 0; first < logits->size; first += TILE) {
        if (!(value_of(distribution, logits->tops[first / TILE * logits->count + i]) >= least)) continue;
        const float *values = logits->values + i * logits->size + first;
        const int64_t size = logits->size - first < TILE ? logits->size - first : TILE;
        float scores[TILE];
        for (int64_t k = 0; k < size; k++) scores[k] = value_of(distribution, values[k]);
        for (int64_t k = 0; k < size; k++) {
            if (scores[k] < least || values[k] < distribution->lowest) continue;
            insert(to, &count, wanted, (struct candidate){scores[k], parent, (int32_t)(first + k)});
        }
    }
    return count;
}

// The same of the candidates of `parents` hypotheses, counts[i] of them from (i * wanted) on; on ties that of the first parent.
static int64_t merge_candidates(const struct candidate *candidates, const int32_t *counts, int64_t parents, int64_t wanted,
                                struct candidate *to) {
    int64_t count = 0;
    for (int64_t parent = 0; parent < parents; parent++)
        for (int64_t k = 0; k < counts[parent]; k++) insert(to, &count, wanted, candidates[parent * wanted + k]);
    return count;
}

void begin_search(const struct specdec_session *session, struct row *row) {
    struct search *search = &row->search;
    search->running = 1;
    search->ended = 0;
    search->scores[0] = 0.0f;
    search->tokens[0] = session->model->shape.start;
}

static double scored(const struct specdec_session *session, float log_probability, int64_t length) {
    return (double)log_probability / pow((double)length, session->options.search.length_penalty);
}

// Keeps a hypothesis that has ended, with the candidate's token as its last, if it is among the best ones.
static void finish(const struct specdec_session *session, struct row *row, const struct candidate *last) {
    struct search *search = &row->search;
    const int64_t beam = session->options.search.beam_size, length = row->length;
    const double score = scored(session, last->log_probability, length);
    const int full = search->ended == beam;
    if (full && (session->options.search.stop == SPECDEC_STOP_FAIRSEQ || !(score > search->finished[beam - 1].score))) return;
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
    if (search->ended < options->search.beam_size) return 0;
    if (options->search.stop == SPECDEC_STOP_FIRST || options->search.stop == SPECDEC_STOP_FAIRSEQ) return 1;
    if (options->search.stop == SPECDEC_STOP_NEVER && options->search.length_penalty > 0)
        length = options->max_length ? options->max_length : row->limit - 1;
    return scored(session, running, length) <= search->finished[options->search.beam_size - 1].score;
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

// The next step of a row's search, by what merge_candidates() gave. Returns whether the search is done.
static int continue_search(const struct specdec_session *session, struct row *row, const struct candidate *candidates, int64_t count) {
    struct search *search = &row->search;
    const int64_t beam = session->options.search.beam_size, eos = session->model->shape.eos;
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

// Replaces logits by log probabilities, and constrains these, which are not normalised again: as transformers and fairseq do.
static void constrain_probabilities(const struct judgement *judgement, const struct slot *slot, const struct logits *logits, int64_t i,
                                    struct distribution *distribution) {
    float *values = logits->values + i * logits->size, *tops = logits->tops + i;
    for (int64_t first = 0; first < logits->size; first += TILE) {
        float *top = tops + first / TILE * logits->count;
        *top = -INFINITY;
        for (int64_t k = first; k < first + TILE && k < logits->size; k++) {
            values[k] = values[k] < distribution->lowest ? -INFINITY : values[k] - distribution->top - distribution->log_total;
            *top = values[k] > *top ? values[k] : *top;
        }
    }
    constrain(judgement->constraints, &judgement->model->shape, &slot->context, logits, i);
    *distribution = (struct distribution){distribution->score, 0.0f, 0.0f, -FLT_MAX};
}

// A step of the search: a pass over the last tokens of hypotheses. What all threads read; copied to each.
struct step {
    struct judgement judgement;
    const struct worker *worker;
};
_Static_assert(sizeof(struct step) <= ARGUMENT_SIZE, "the team copies it");

// The candidates of the hypothesis at position `first` + i of the pass.
static void find_candidates(const struct step *step, const struct logits *logits, int64_t first, int64_t i) {
    const struct specdec_session *session = step->worker->session;
    const struct beam_workspace *beam = &step->worker->beam;
    const struct slot *slot = step->judgement.slots + first + i;
    const int64_t wanted = 2 * session->options.search.beam_size;
    const int32_t parent = (int32_t)(first + i - slot->first), forced = forced_at(&step->judgement, slot);
    const float *values = logits->values + i * logits->size;
    struct candidate *to = beam->candidates + (first + i) * wanted;
    struct distribution distribution = {beam->scores[first + i], 0.0f, 0.0f, SUPPRESSED / 2};
    session->model->kernels->log_softmax(values, logits->size, &distribution.top, &distribution.log_total);
    if (forced < 0) {
        if (has_constraints(step->judgement.constraints)) constrain_probabilities(&step->judgement, slot, logits, i, &distribution);
        beam->counts[first + i] = (int32_t)best_candidates(logits, i, &distribution, parent, wanted, to);
        return;
    }
    beam->counts[first + i] = 0;
    if (session->options.search.stop == SPECDEC_STOP_FAIRSEQ && values[forced] < SUPPRESSED / 2) return;
    const float probable = values[forced] - distribution.top - distribution.log_total;
    *to = (struct candidate){distribution.score + (session->options.search.stop == SPECDEC_STOP_FAIRSEQ ? probable : 0.0f), parent, forced};
    beam->counts[first + i] = 1;
}

static void run(struct member *member, const void *argument) {
    const struct step *step = argument;
    const int64_t total = step->judgement.pass.positions;
    run_pass(member, &step->judgement.pass);
    for (int64_t first = 0; first < total; first += LOGITS_AT_ONCE) {
        const int64_t count = smaller(total - first, LOGITS_AT_ONCE);
        const struct logits logits = compute_logits(member, &step->judgement, first, count);
        SHARED_FOR (member, i, count) find_candidates(step, &logits, first, i);
    }
}

// Puts the hypotheses of a row at positions from `first` on; the position after them.
static int64_t lay_out_hypotheses(struct worker *worker, struct row *row, int64_t first) {
    const int64_t beam = worker->session->options.search.beam_size, index = row->length - 1;
    for (int64_t k = 0; k < row->search.running; k++) {
        const int64_t at = first + k, start = k * worker->session->longest_capacity;
        row->search.orders[start + index] = (int32_t)(index * beam + k);
        const int32_t *tokens = row->search.tokens + start;
        worker->ids[at] = tokens[index];
        worker->slots[at] = (struct slot){context_of(row, tokens, index + 1), first, row->limit, .drafted = -1};
        worker->beam.token_positions[at] = index;
        worker->beam.orders[at] = row->search.orders + start;
        worker->beam.scores[at] = row->search.scores[k];
        worker->caches[at] = row->cache.start;
        worker->cache_capacities[at] = row->allocated * beam;
        worker->memories[at] = row->memory.start;
        worker->memory_capacities[at] = row->source_length;
        worker->indices[at] = index * beam + k;
        worker->ends[at] = index + 1;
        worker->starts[at + 1] = at + 1;
    }
    return first + row->search.running;
}

// The rows that were chosen go through the model together. Returns a status.
static int32_t search_chosen(struct worker *worker, int64_t rows, int64_t positions) {
    const struct specdec_session *session = worker->session;
    struct step step = {judgement_of(worker, positions, positions), worker};
    step.judgement.pass.orders = worker->beam.orders;
    step.judgement.pass.token_positions = worker->beam.token_positions;
    const int64_t wanted = 2 * session->options.search.beam_size;
    team_run(worker->team, multiplications_to_judge(&step.judgement.pass, session->model), run, &step, sizeof step);
    int32_t status = atomic_load(&session->status);
    for (int64_t i = 0, first = 0; i < rows && !status; i++) {
        struct row *row = worker->chosen[i];
        const int64_t parents = row->search.running;
        struct candidate merged[2 * SPECDEC_MOST_BEAM];
        const struct candidate *candidates = worker->beam.candidates + first * wanted;
        const int64_t count = merge_candidates(candidates, worker->beam.counts + first, parents, wanted, merged);
        first += parents;
        if (!continue_search(session, row, merged, count)) continue;
        worker->running--;
        const int32_t handed = hand_over(worker->session, row);
        if (handed) status = handed;
    }
    return status;
}

int32_t search_rows(struct worker *worker) {
    const int64_t beam = worker->session->options.search.beam_size;
    int64_t rows = 0, positions = 0;
    int32_t status = SPECDEC_OK;
    worker->starts[0] = 0;
    for (int64_t i = 0; i < worker->session->options.batch_size && !status; i++) {
        struct row *row = worker->rows + i;
        if (row->number == VACANT) continue;
        if (rows && positions + beam > CHUNK) {
            status = search_chosen(worker, rows, positions);
            rows = positions = 0;
        }
        row_extend(worker->session, row, row->length);
        worker->chosen[rows++] = row;
        positions = lay_out_hypotheses(worker, row, positions);
    }
    return rows && !status ? search_chosen(worker, rows, positions) : status;
}
