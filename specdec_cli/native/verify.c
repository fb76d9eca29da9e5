// Passes of a worker, and the verification of drafts in one of them.

#include <string.h>

#include "state.h"
#include "sizes.h"

struct pass pass_of(const struct worker *worker, const struct stack *stack, int64_t rows, int64_t positions) {
    return (struct pass){
        .kernels = worker->session->model->kernels,
        .stack = stack,
        .rows = rows,
        .positions = positions,
        .token_positions = worker->indices,
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

struct judgement judgement_of(const struct worker *worker, int64_t rows, int64_t positions) {
    struct specdec_session *session = worker->session;
    struct judgement judgement = {
        .pass = pass_of(worker, &session->model->decoder, rows, positions),
        .model = session->model,
        .constraints = &session->options.constraints,
        .rule = &session->options.acceptance,
        .slots = worker->slots,
        .logits = worker->logits,
        .tops = worker->tops,
        .predicted = worker->predicted,
        .scores = session->options.with_scores ? worker->scores : 0,
        .status = &session->status,
    };
    judgement.pass.embedding = &session->model->target;
    judgement.pass.ids = worker->ids;
    return judgement;
}

struct context context_of(const struct row *row, const int32_t *tokens, int64_t length) {
    return (struct context){tokens, row->source, length, row->source_length};
}

// Puts the last token of a row and its draft at positions from `first` on; the position after them. The draft is written behind the
// row's tokens, where constraints read it.
static int64_t lay_out_row(struct worker *worker, const struct row *row, int64_t first) {
    const uint32_t *streams = worker->session->queue.streams;
    if (row->drafted) memcpy(row->tokens + row->length, row->draft, (size_t)row->drafted * sizeof *row->draft);
    for (int64_t i = 0; i <= row->drafted; i++) {
        const int64_t at = first + i, index = row->length - 1 + i;
        worker->ids[at] = row->tokens[index];
        worker->indices[at] = index;
        worker->ends[at] = index + 1;
        worker->slots[at] = (struct slot){
            .context = context_of(row, row->tokens, index + 1),
            .first = first,
            .limit = row->limit,
            .drafted = i < row->drafted ? row->draft[i] : -1,
            .is_prefix = i < row->drafted && index < row->prefix,
            .stream = streams ? streams + 2 * row->number : 0,
        };
    }
    return first + row->drafted + 1;
}

// The rows that were chosen go through the model together.
static void verify_chosen(struct worker *worker, int64_t rows, int64_t positions, accept_verdict accept) {
    const struct judgement judgement = judgement_of(worker, rows, positions);
    team_run(worker->team, multiplications_to_judge(&judgement.pass, judgement.model), judge, &judgement, sizeof judgement);
    if (atomic_load(&worker->session->status)) return;
    for (int64_t i = 0; i < rows; i++) {
        struct row *row = worker->chosen[i];
        const int64_t start = worker->starts[i];
        const int32_t *predicted = worker->predicted + start;
        struct verdict verdict = {row, 0, predicted, worker->scores + start, worker->x + start * judgement.pass.stack->width};
        while (verdict.passed < row->drafted && predicted[verdict.passed] == row->draft[verdict.passed]) verdict.passed++;
        accept(worker, &verdict);
    }
}

void verify_rows(struct worker *worker, accept_verdict accept) {
    int64_t rows = 0, positions = 0;
    worker->starts[0] = 0;
    for (int64_t i = 0; i < worker->session->options.batch_size; i++) {
        struct row *row = worker->rows + i;
        if (row->number == VACANT || row->idle) continue;
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
