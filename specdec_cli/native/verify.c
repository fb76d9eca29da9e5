// Passes of the decoder, and the verification of drafts in one of them.

#include <string.h>

#include "sampling.h"
#include "session.h"
#include "sizes.h"

_Static_assert(sizeof(struct decoder_pass) <= ARGUMENT_SIZE, "the team copies it");

struct pass pass_of(const struct worker *worker, const struct stack *stack, int64_t rows, int64_t positions) {
    return (struct pass){
        .kernels = worker->session->model->kernels,
        .stack = stack,
        .rows = rows,
        .positions = positions,
        .starts = worker->starts,
        .x = worker->x,
        .caches = worker->caches,
        .cache_capacities = worker->cache_capacities,
        .indices = worker->indices,
        .ends = worker->ends,
        .memories = worker->memories,
        .memory_capacities = worker->memory_capacities,
        .workspace = &worker->workspace,
    };
}

struct decoder_pass decoder_pass_of(const struct worker *worker, int64_t rows, int64_t positions, const int32_t *const *orders) {
    struct pass pass = pass_of(worker, &worker->session->model->decoder, rows, positions);
    pass.orders = orders;
    return (struct decoder_pass){pass, worker, has_constraints(&worker->session->options.constraints)};
}

void run_decoder(struct member *member, const struct decoder_pass *pass) {
    const struct embedding *embedding = &pass->worker->session->model->target;
    SHARED_FOR (member, i, pass->pass.positions) {
        const struct position *position = pass->worker->positions + i;
        embed_token(pass->pass.kernels, embedding, position->id, position->index, pass->pass.x + i * embedding->width);
    }
    run_pass(member, &pass->pass);
}

struct logits compute_logits(struct member *member, const struct decoder_pass *pass, int64_t first, int64_t count) {
    const struct worker *worker = pass->worker;
    const struct linear *output = &worker->session->model->output;
    const struct linear_call product = {
        .kernels = pass->pass.kernels,
        .linear = output,
        .x = pass->pass.x + first * output->inputs,
        .rows = count,
        .to = worker->logits,
        .tops = worker->tops,
        .workspace = pass->pass.workspace,
    };
    run_linear(member, &product);
    return (struct logits){worker->logits, worker->tops, output->outputs, count};
}

struct context context_of(const struct position *position) {
    return (struct context){position->tokens, position->row->source, position->index + 1, position->row->source_length};
}

void run_with_team(const struct decoder_pass *pass, team_work work) {
    const struct linear *output = &pass->worker->session->model->output;
    const int64_t positions = pass->pass.positions, projection = output->inputs * output->outputs * positions;
    team_run(pass->worker->team, multiplications_of(pass->pass.stack, positions) + projection, work, pass, sizeof *pass);
}

// What is taken at position i of some, number `first` + i of the pass: the drafted token if it is of a prefix or the rule accepts it,
// else the verifier's own choice.
static int32_t choose_token(const struct worker *worker, const struct logits *logits, int64_t first, int64_t i) {
    const struct position *position = worker->positions + first + i;
    const struct specdec_acceptance *rule = &worker->session->options.acceptance;
    const int32_t drafted = position->next;
    if (position->forced >= 0) return position->forced;
    if (drafted >= 0 && position->index < position->row->prefix) return drafted;
    if (rule->temperature > 0) {
        const uint32_t *streams = worker->session->queue.streams;
        const struct noise noise = {rule->seed, streams + 2 * position->row->number, position->index + 1};
        return sampled_choice(logits, i, rule, &noise);
    }
    if (rule->margin > 0 && drafted >= 0) return choice_with_margin(logits, i, drafted, rule->margin);
    const int tolerated = rule->top_beta && drafted >= 0 && is_tolerated(logits, i, drafted, rule->top_beta, rule->tolerance);
    return tolerated ? drafted : first_choice(logits, i);
}

// Whether all drafted tokens before position i passed.
static int is_reached(const struct worker *worker, int64_t i) {
    const struct position *position = worker->positions + i;
    for (int64_t k = position->first; k < i; k++)
        if (worker->predicted[k] != position->drafted[k - position->first]) return 0;
    return 1;
}

// Predictions at `count` positions from `first` on.
static void choose_tokens(struct member *member, const struct decoder_pass *pass, int64_t first, int64_t count) {
    const struct worker *worker = pass->worker;
    const struct specdec_options *options = &worker->session->options;
    const struct logits logits = compute_logits(member, pass, first, count);
    SHARED_FOR (member, i, count) {
        const struct position *position = worker->positions + first + i;
        const struct context context = context_of(position);
        if (pass->constrained && position->forced < 0)
            constrain(&options->constraints, &worker->session->model->shape, &context, worker->logits, worker->tops, &logits, i);
        worker->predicted[first + i] = choose_token(worker, &logits, first, i);
    }
    if (!options->with_scores) return;
    SHARED_FOR (member, j, count) {
        if (!is_reached(worker, first + j)) continue;
        const int forced = worker->positions[first + j].forced >= 0;
        const float *values = logits.values + j * logits.size;
        const int32_t chosen = worker->predicted[first + j];
        const float probable = forced ? 0.0f : pass->pass.kernels->log_probability(values, logits.size, top_logit(&logits, j), chosen);
        worker->scores[first + j] = probable;
    }
}

static void run(struct member *member, const void *argument) {
    const struct decoder_pass *pass = argument;
    const int64_t total = pass->pass.positions;
    run_decoder(member, pass);
    for (int64_t first = 0; first < total; first += LOGITS_AT_ONCE)
        choose_tokens(member, pass, first, smaller(total - first, LOGITS_AT_ONCE));
}

// Puts the last token of a row and its draft at positions from `first` on; the position after them. The draft is written behind the
// row's tokens, where constraints read it.
static int64_t lay_out_row(struct worker *worker, const struct row *row, int64_t first) {
    const struct specdec_session *session = worker->session;
    if (row->drafted) memcpy(row->tokens + row->length, row->draft, (size_t)row->drafted * sizeof *row->draft);
    for (int64_t slot = 0; slot <= row->drafted; slot++) {
        const int64_t index = row->length - 1 + slot;
        const int32_t id = slot ? row->draft[slot - 1] : row->tokens[index];
        const int32_t next = slot < row->drafted ? row->draft[slot] : -1;
        const int32_t forced = forced_token(&session->options.constraints, session->model->shape.eos, index + 1, row->limit);
        worker->positions[first + slot] = (struct position){first, row->draft, id, forced, next, index, row, row->tokens};
        worker->indices[first + slot] = index;
        worker->ends[first + slot] = index + 1;
    }
    return first + row->drafted + 1;
}

// The rows that were chosen go through the model together.
static void verify_chosen(struct worker *worker, int64_t rows, int64_t positions, accept_verdict accept) {
    const struct decoder_pass pass = decoder_pass_of(worker, rows, positions, 0);
    run_with_team(&pass, run);
    for (int64_t i = 0; i < rows; i++) {
        struct row *row = worker->chosen[i];
        const int64_t start = worker->starts[i];
        const int32_t *predicted = worker->predicted + start;
        struct verdict verdict = {row, 0, predicted, worker->scores + start, worker->x + start * pass.pass.stack->width};
        while (verdict.passed < row->drafted && predicted[verdict.passed] == row->draft[verdict.passed]) verdict.passed++;
        accept(worker, &verdict);
    }
}

void verify_rows(struct worker *worker, accept_verdict accept) {
    int64_t rows = 0, positions = 0;
    worker->starts[0] = 0;
    for (int64_t i = 0; i < worker->session->options.batch_size; i++) {
        struct row *row = worker->rows + i;
        if (row->number == VACANT) continue;
        if (rows && positions + row->drafted + 1 > CHUNK) {
            verify_chosen(worker, rows, positions, accept);
            rows = positions = 0;
        }
        worker->chosen[rows] = row;
        worker->caches[rows] = row->cache.start;
        worker->memories[rows] = row->memory.start;
        worker->cache_capacities[rows] = row->allocated;
        worker->memory_capacities[rows] = row->source_length;
        positions = lay_out_row(worker, row, positions);
        worker->starts[++rows] = positions;
    }
    if (rows) verify_chosen(worker, rows, positions, accept);
}
