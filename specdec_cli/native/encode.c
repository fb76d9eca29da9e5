// Sentences that enter: their sources encoded, and projected for every layer of the decoder.

#include "state.h"
#include "sizes.h"

// What all threads read; copied to each.
struct call {
    struct pass pass;
    const struct specdec_model *model;
    float *const *memories;       // of the rows
    float *const *draft_memories; // those of the drafter; NULL: these rows have none
};
_Static_assert(sizeof(struct call) <= ARGUMENT_SIZE, "the team copies it");

static void run(struct member *member, const void *argument) {
    const struct call *call = argument;
    run_pass(member, &call->pass);
    project_sources(member, &call->pass, &call->model->decoder, call->memories);
    if (call->draft_memories) project_sources(member, &call->pass, &call->model->drafter.stack, call->draft_memories);
}

void encode_chosen(struct worker *worker, int64_t rows, int64_t positions) {
    const struct specdec_model *model = worker->session->model;
    const struct pass pass = {
        .kernels = model->kernels,
        .stack = &model->encoder,
        .embedding = &model->source,
        .ids = worker->ids,
        .token_positions = worker->indices,
        .rows = rows,
        .positions = positions,
        .starts = worker->starts,
        .x = worker->x,
        .workspace = &worker->workspace,
        .stopped = &worker->session->stopped,
    };
    const int drafts = worker->chosen[0]->has_drafter && has_network(worker->session);
    for (int64_t i = 0; i < rows; i++) {
        worker->memories[i] = worker->chosen[i]->memory.start;
        worker->caches[i] = worker->chosen[i]->draft_memory.start; // the encoder has no caches
    }
    const struct call call = {pass, model, worker->memories, drafts ? worker->caches : 0};
    const int64_t layers = model->decoder.count + (drafts ? model->drafter.stack.count : 0);
    const int64_t projected = layers * 2 * model->decoder.attention * model->decoder.width * positions;
    team_run(worker->team, multiplications_of(&model->encoder, positions) + projected, run, &call, sizeof call);
}

// A new sentence in a free row. Returns a status.
static int32_t begin_row(const struct specdec_session *session, struct row *row, int64_t number) {
    const struct specdec_model *model = session->model;
    const int64_t length = session->queue.starts[number + 1] - session->queue.starts[number];
    row->source = session->queue.ids + session->queue.starts[number];
    row->source_length = length;
    row->capacity = specdec_capacity(model, length, session->options.constraints.min_length);
    if (!row_reserve(session, row)) return SPECDEC_NO_MEMORY;
    row->tokens[0] = model->shape.start;
    row->length = 1;
    row->limit = smaller(row->capacity - 1, 1 + (session->options.max_length ? session->options.max_length : row->capacity));
    row->rounds = row->drafted = row->fresh = 0;
    row->number = number;
    begin_draft(session, row);
    if (is_jacobi(session)) jacobi_begin(session, row);
    if (session->options.method == SPECDEC_METHOD_BEAM) begin_search(session, row);
    return SPECDEC_OK;
}

int32_t enter_row(struct worker *worker, struct row *row, int64_t number, int64_t first) {
    const int32_t status = begin_row(worker->session, row, number);
    if (status) return status;
    worker->running++;
    for (int64_t k = 0; k < row->source_length; k++) {
        worker->ids[first + k] = row->source[k];
        worker->indices[first + k] = k;
    }
    return SPECDEC_OK;
}
