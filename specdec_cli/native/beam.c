// A step of beam search: one pass over the last tokens of all hypotheses, and their best continuations.

#include <float.h>
#include <math.h>

#include "kernels.h"
#include "session.h"

// What all threads of a pass read; copied to each.
struct call {
    struct pass pass;
    const struct worker *worker;
    int constrained;
};
_Static_assert(sizeof(struct call) <= ARGUMENT_SIZE, "the team copies it");

static void embed(const struct call *call, int64_t i) {
    const struct specdec_model *model = call->worker->session->model;
    const struct position *own = call->worker->positions + i;
    embed_token(model->kernels, &model->target, own->id, own->place, call->pass.x + i * model->target.width);
}

// Replaces logits by log probabilities, and constrains these, which are not normalised again: as transformers and fairseq do.
static void constrain_probabilities(const struct call *call, const struct logits *logits, int64_t i, const struct position *position,
                                    struct distribution *own) {
    const struct worker *worker = call->worker;
    float *values = worker->logits + i * logits->size, *tops = worker->tops + i;
    for (int64_t first = 0; first < logits->size; first += TILE) {
        float *top = tops + first / TILE * logits->count;
        *top = -INFINITY;
        for (int64_t k = first; k < first + TILE && k < logits->size; k++) {
            values[k] = values[k] < own->lowest ? -INFINITY : values[k] - own->top - own->log_total;
            *top = values[k] > *top ? values[k] : *top;
        }
    }
    const struct before before = before_of(position);
    constrain(&worker->session->options, &worker->session->model->shape, &before, worker->logits, worker->tops, logits, i);
    *own = (struct distribution){own->score, 0.0f, 0.0f, -FLT_MAX};
}

// The candidates of the hypothesis at position `first` + i of the pass.
static void find(const struct call *call, const struct logits *logits, int64_t first, int64_t i) {
    const struct specdec_session *session = call->worker->session;
    const struct beam_room *room = &call->worker->beam;
    const struct position *position = call->worker->positions + first + i;
    const int64_t wanted = 2 * session->options.beam_size;
    const int32_t parent = (int32_t)(first + i - position->first), forced = position->forced;
    const float *values = logits->values + i * logits->size;
    struct candidate *to = room->candidates + (first + i) * wanted;
    struct distribution own = {room->scores[first + i], 0.0f, 0.0f, SUPPRESSED / 2};
    session->model->kernels->log_softmax(values, logits->size, &own.top, &own.log_total);
    if (forced < 0) {
        if (call->constrained) constrain_probabilities(call, logits, i, position, &own);
        room->counts[first + i] = (int32_t)best_candidates(logits, i, &own, parent, wanted, to);
        return;
    }
    room->counts[first + i] = 0;
    if (session->options.stop == SPECDEC_STOP_FAIRSEQ && values[forced] < SUPPRESSED / 2) return;
    const float probable = values[forced] - own.top - own.log_total;
    *to = (struct candidate){own.score + (session->options.stop == SPECDEC_STOP_FAIRSEQ ? probable : 0.0f), parent, forced};
    room->counts[first + i] = 1;
}

static void run(struct member *member, const void *argument) {
    const struct call *call = argument;
    const struct worker *worker = call->worker;
    const struct linear *output = &worker->session->model->output;
    const int64_t total = call->pass.positions;
    SHARED_FOR (member, i, total) embed(call, i);
    run_pass(member, &call->pass);
    for (int64_t first = 0; first < total; first += LOGITS_AT_ONCE) {
        const int64_t count = total - first < LOGITS_AT_ONCE ? total - first : LOGITS_AT_ONCE;
        const struct linear_call product = {call->pass.kernels, output, call->pass.x + first * output->inputs, 0, count,
                                            worker->logits, worker->tops, call->pass.room};
        const struct logits logits = {worker->logits, worker->tops, output->outputs, count};
        run_linear(member, &product);
        SHARED_FOR (member, i, count) find(call, &logits, first, i);
    }
}

// Puts the hypotheses of a row at positions from `first` on; the position after them.
static int64_t place_hypotheses(struct worker *worker, struct row *row, int64_t first) {
    const struct specdec_options *options = &worker->session->options;
    const int64_t beam = options->beam_size, place = row->length - 1;
    const int32_t forced = forced_token(options, worker->session->model->shape.eos, row->length, row->limit);
    for (int64_t k = 0; k < row->search.running; k++) {
        const int64_t at = first + k, start = k * worker->session->longest_capacity;
        row->search.orders[start + place] = (int32_t)(place * beam + k);
        const int32_t *tokens = row->search.tokens + start;
        worker->positions[at] = (struct position){first, 0, tokens[place], forced, -1, place, row, tokens};
        worker->beam.orders[at] = row->search.orders + start;
        worker->beam.scores[at] = row->search.scores[k];
        worker->own[at] = row->own.start;
        worker->own_room[at] = row->room * beam;
        worker->memory[at] = row->memory.start;
        worker->memory_room[at] = row->source_length;
        worker->places[at] = place * beam + k;
        worker->ends[at] = place + 1;
        worker->starts[at + 1] = at + 1;
    }
    return first + row->search.running;
}

// The rows that were chosen go through the model together. Returns a status.
static int32_t search_chosen(struct worker *worker, int64_t rows, int64_t positions) {
    const struct specdec_session *session = worker->session;
    const struct specdec_model *model = session->model;
    const struct call call = {
        {model->kernels, &model->decoder, positions, positions, worker->starts, worker->x, worker->own, worker->own_room, worker->places,
         worker->ends, worker->beam.orders, worker->memory, worker->memory_room, &worker->room, 0},
        worker, has_constraints(&session->options)};
    const int64_t output = model->output.inputs * model->output.outputs * positions, wanted = 2 * session->options.beam_size;
    team_run(worker->team, multiplications_of(&model->decoder, positions) + output, run, &call, sizeof call);
    int32_t status = SPECDEC_OK;
    for (int64_t i = 0, first = 0; i < rows; i++) {
        struct row *row = worker->chosen[i];
        const int64_t parents = row->search.running;
        struct candidate merged[2 * SPECDEC_MOST_BEAM];
        const struct candidate *found = worker->beam.candidates + first * wanted;
        const int64_t count = merge_candidates(found, worker->beam.counts + first, parents, wanted, merged);
        first += parents;
        if (!continue_search(session, row, merged, count)) continue;
        worker->running--;
        const int32_t own = hand_over(worker->session, row);
        if (own) status = own;
    }
    return status;
}

int32_t search_rows(struct worker *worker) {
    const int64_t beam = worker->session->options.beam_size;
    int64_t rows = 0, positions = 0;
    int32_t status = SPECDEC_OK;
    worker->starts[0] = 0;
    for (int64_t i = 0; i < worker->session->options.batch && !status; i++) {
        struct row *row = worker->rows + i;
        if (row->number == VACANT) continue;
        if (rows && positions + beam > CHUNK) {
            status = search_chosen(worker, rows, positions);
            rows = positions = 0;
        }
        row_extend(worker->session, row, row->length);
        worker->chosen[rows++] = row;
        positions = place_hypotheses(worker, row, positions);
    }
    return rows && !status ? search_chosen(worker, rows, positions) : status;
}
