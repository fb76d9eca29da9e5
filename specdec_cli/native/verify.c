// One pass of the verifier over rows and their drafts.

#include <string.h>

#include "session.h"

// What all threads of a pass read; copied to each.
struct call {
    struct pass pass;
    const struct specdec_model *model;
    const struct position *positions;
    float *logits, *tops, *scores;
    int32_t *predicted;
    const struct specdec_options *options;
    int constrained;
};
_Static_assert(sizeof(struct call) <= ARGUMENT_SIZE, "the team copies it");

static void embed(const struct call *call, int64_t i) {
    const struct embedding *embedding = &call->model->target;
    const struct kernels *kernels = call->model->kernels;
    const struct position *own = call->positions + i;
    embed_token(kernels, embedding, own->id, own->place, call->pass.x + i * embedding->width);
}

// What is taken at position i of some, number `first` + i of the pass: the drafted token if it is of a prefix or the rule accepts it,
// else the verifier's own choice.
static int32_t choose_token(const struct call *call, const struct logits *logits, int64_t first, int64_t i) {
    const struct position *own = call->positions + first + i;
    if (own->forced >= 0) return own->forced;
    if (own->next >= 0 && own->place < own->row->prefix) return own->next;
    const struct specdec_options *options = call->options;
    if (options->margin > 0 && own->next >= 0) return reluctant_choice(logits, i, own->next, options->margin);
    const int tolerated = options->top_beta && own->next >= 0 && is_tolerated(logits, i, own->next, options->top_beta, options->tolerance);
    return tolerated ? own->next : first_choice(logits, i);
}

// Whether all drafted tokens before position i passed.
static int is_reached(const struct call *call, int64_t i) {
    const struct position *own = call->positions + i;
    for (int64_t k = own->first; k < i; k++)
        if (call->predicted[k] != own->drafted[k - own->first]) return 0;
    return 1;
}

// Predictions at `count` positions from `first` on.
static void choose_tokens(struct member *member, const struct call *call, int64_t first, int64_t count) {
    const struct specdec_model *model = call->model;
    const int64_t size = model->output.outputs;
    const struct linear_call product = {model->kernels, &model->output, call->pass.x + first * model->output.inputs, 0, count,
                                        call->logits, call->tops, call->pass.room};
    const struct logits logits = {call->logits, call->tops, size, count};
    run_linear(member, &product);
    SHARED_FOR (member, i, count) {
        const struct position *own = call->positions + first + i;
        const struct before before = before_of(own);
        if (call->constrained && own->forced < 0) constrain(call->options, &model->shape, &before, call->logits, call->tops, &logits, i);
        call->predicted[first + i] = choose_token(call, &logits, first, i);
    }
    if (!call->options->with_scores) return;
    SHARED_FOR (member, j, count) {
        if (!is_reached(call, first + j)) continue;
        const int forced = call->positions[first + j].forced >= 0;
        const float *own = logits.values + j * size;
        const int32_t chosen = call->predicted[first + j];
        call->scores[first + j] = forced ? 0.0f : model->kernels->log_probability(own, size, top_logit(&logits, j), chosen);
    }
}

static void run(struct member *member, const void *argument) {
    const struct call *call = argument;
    const int64_t total = call->pass.positions;
    SHARED_FOR (member, i, total) embed(call, i);
    run_pass(member, &call->pass);
    for (int64_t first = 0; first < total; first += LOGITS_AT_ONCE)
        choose_tokens(member, call, first, total - first < LOGITS_AT_ONCE ? total - first : LOGITS_AT_ONCE);
}

// Puts the last token of a row and its draft at positions from `first` on; the position after them. The draft is written behind the
// row's tokens, where constraints read it.
static int64_t place_row(struct worker *worker, const struct row *row, int64_t first) {
    const struct specdec_session *session = worker->session;
    if (row->drafted) memcpy(row->tokens + row->length, row->ids, (size_t)row->drafted * sizeof *row->ids);
    for (int64_t slot = 0; slot <= row->drafted; slot++) {
        const int64_t place = row->length - 1 + slot;
        const int32_t id = slot ? row->ids[slot - 1] : row->tokens[place];
        const int32_t next = slot < row->drafted ? row->ids[slot] : -1;
        const int32_t forced = forced_token(&session->options, session->model->shape.eos, place + 1, row->limit);
        worker->positions[first + slot] = (struct position){first, row->ids, id, forced, next, place, row, row->tokens};
        worker->places[first + slot] = place;
        worker->ends[first + slot] = place + 1;
    }
    return first + row->drafted + 1;
}

// The rows that were chosen go through the model together.
static void verify_chosen(struct worker *worker, int64_t rows, int64_t positions, take_verdict take) {
    const struct specdec_model *model = worker->session->model;
    const struct call call = {
        {model->kernels, &model->decoder, rows, positions, worker->starts, worker->x, worker->own, worker->own_room, worker->places,
         worker->ends, 0, worker->memory, worker->memory_room, &worker->room, 0},
        model, worker->positions, worker->logits, worker->tops, worker->scores, worker->predicted, &worker->session->options,
        has_constraints(&worker->session->options)};
    const int64_t output = model->output.inputs * model->output.outputs * positions;
    team_run(worker->team, multiplications_of(&model->decoder, positions) + output, run, &call, sizeof call);
    for (int64_t i = 0; i < rows; i++) {
        struct row *row = worker->chosen[i];
        const int32_t *predicted = worker->predicted + worker->starts[i];
        const float *states = worker->x + worker->starts[i] * model->decoder.width;
        struct verdict verdict = {row, 0, predicted, worker->scores + worker->starts[i], states};
        while (verdict.passed < row->drafted && predicted[verdict.passed] == row->ids[verdict.passed]) verdict.passed++;
        take(worker, &verdict);
    }
}

void verify_rows(struct worker *worker, take_verdict take) {
    int64_t rows = 0, positions = 0;
    worker->starts[0] = 0;
    for (int64_t i = 0; i < worker->session->options.batch; i++) {
        struct row *row = worker->rows + i;
        if (row->number == VACANT) continue;
        if (rows && positions + row->drafted + 1 > CHUNK) {
            verify_chosen(worker, rows, positions, take);
            rows = positions = 0;
        }
        worker->chosen[rows] = row;
        worker->own[rows] = row->own.start;
        worker->memory[rows] = row->memory.start;
        worker->own_room[rows] = row->room;
        worker->memory_room[rows] = row->source_length;
        positions = place_row(worker, row, positions);
        worker->starts[++rows] = positions;
    }
    if (rows) verify_chosen(worker, rows, positions, take);
}
