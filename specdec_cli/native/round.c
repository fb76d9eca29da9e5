// A round of a worker: rows enter, and are drafted, verified and accepted.

#include <math.h>

#include "clock.h"
#include "state.h"
#include "sizes.h"

// Takes what passed of a draft and, after it, the verifier's own token; an end or the row's limit cuts that off. By the rule of whole drafts
// nothing is taken unless all passed.
static void accept_tokens(struct worker *worker, const struct verdict *verdict) {
    struct specdec_session *session = worker->session;
    struct row *row = verdict->row;
    const int64_t remaining = row->limit - row->length;
    const int nothing = session->options.acceptance.whole && verdict->passed < row->drafted;
    int64_t count = nothing ? 0 : smaller(verdict->passed + 1, remaining);
    int ended = count == remaining;
    for (int64_t i = 0; i < count; i++) {
        row->tokens[row->length + i] = verdict->predicted[i];
        row->log_probabilities[row->length + i] = verdict->scores[i];
        if (verdict->predicted[i] != session->model->shape.eos) continue;
        ended = 1;
        count = i + 1;
    }
    if (is_jacobi(session)) jacobi_observe(session, row, verdict->predicted);
    row->length += count;
    if (worker->ngrams) ngrams_store(worker->ngrams, row->tokens, row->length, count);
    row->rounds++;
    int32_t status = session->options.with_rounds ? hand_over_round(session, verdict, count, ended) : SPECDEC_OK;
    if (status) atomic_store(&session->status, status);
    if (worker->adaptive && row->has_drafter) adaptive_count(worker->adaptive, count - 1);
    if (worker->adaptive && ended)
        adaptive_end(worker->adaptive, session->options.batch_size, row->length - 1, row->rounds, milliseconds_alone(worker));
    if (!ended) {
        if (row->has_drafter && has_network(session)) keep_states(worker, verdict, count);
        observe_round(session, row, verdict->passed);
        return;
    }
    worker->running--;
    status = hand_over(session, row);
    if (status) atomic_store(&session->status, status);
}

// The time of a round's parts. Where a thread decodes several rows alone, the time that it waits for a processor does not count:
// such rounds are so long that all of them may be interrupted while other programs run.
static double milliseconds(const struct worker *worker) {
    const int alone = !worker->team && worker->session->options.batch_size > 1;
    return 1e-6 * (double)nanoseconds_of(alone ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC);
}

// Replaces the drafts of all rows by those that were given for their rounds.
static void replay_drafts(struct worker *worker) {
    struct specdec_session *session = worker->session;
    const int64_t rounds = session->queue.recorded_rounds;
    for (int64_t i = 0; i < session->options.batch_size; i++) {
        struct row *row = worker->rows + i;
        if (row->number == VACANT) continue;
        const int64_t number = row->number * rounds + (row->rounds < rounds ? row->rounds : rounds - 1);
        const int64_t start = session->queue.recorded_starts[number], count = session->queue.recorded_starts[number + 1] - start;
        const int64_t left = row->limit - row->length, most = left < session->longest_draft ? left : session->longest_draft;
        row->drafted = count < most ? count : most;
        for (int64_t k = 0; k < row->drafted; k++) row->draft[k] = session->queue.recorded[start + k];
    }
}

// Room for the keys and values of a row's round.
static void extend_row(const struct specdec_session *session, struct row *row) {
    const int64_t drafted = row->has_drafter || session->queue.recorded_rounds ? session->longest_draft : row->drafted;
    row_extend(session, row, row->length + drafted);
}

// Returns how many rows the drafter drafts for.
static int64_t propose_drafts(struct worker *worker) {
    struct specdec_session *session = worker->session;
    int64_t drafting = 0;
    for (int64_t i = 0; i < session->options.batch_size; i++) {
        struct row *row = worker->rows + i;
        if (row->number == VACANT) continue;
        propose_draft(worker, row);
        extend_row(session, row);
        drafting += row->has_drafter;
    }
    if (drafting) {
        worker->block_size = worker->adaptive ? adaptive_size(worker->adaptive, drafting) : session->options.block_size;
        if (has_network(session)) draft_rows(worker);
        else draft_by_model(worker);
    }
    if (session->queue.recorded_rounds) replay_drafts(worker);
    return drafting;
}

// Whether all rows of the batch run, with drafts of the full size if these are a drafter's or recorded.
static int is_full(const struct worker *worker) {
    const struct specdec_options *options = &worker->session->options;
    const int drafts = has_model(worker->session) || worker->session->queue.recorded_rounds;
    for (int64_t i = 0; i < options->batch_size; i++) {
        const struct row *row = worker->rows + i;
        if (row->number == VACANT || (drafts && row->drafted < options->block_size)) return 0;
    }
    return 1;
}

// Takes sentences from the queue into free rows. Returns a status; SPECDEC_WAITING: there may be more, but those of one call have CHUNK
// positions, and fewer than the last of them has besides.
static int32_t enter_rows(struct worker *worker) {
    struct specdec_session *session = worker->session;
    const int64_t batch = session->options.batch_size, free_rows = batch - worker->running;
    if (worker->running && LEAVING * free_rows < batch && !worker->entering) return SPECDEC_OK;
    int64_t rows = 0, positions = 0;
    int drafts = -1; // not known yet; the same for all rows that enter together
    worker->starts[0] = 0;
    for (int64_t i = 0; i < batch && positions < CHUNK; i++) {
        struct row *row = worker->rows + i;
        if (row->number != VACANT) continue;
        if (atomic_load(&session->entered) >= session->queue.count) break;
        const int64_t number = atomic_fetch_add(&session->entered, 1);
        if (number >= session->queue.count) break;
        const int may_draft = session->options.method != SPECDEC_METHOD_GREEDY;
        if (drafts < 0) drafts = worker->adaptive ? adaptive_begin(worker->adaptive, batch, milliseconds_alone(worker)) : may_draft;
        row->has_drafter = drafts && has_model(session);
        const int32_t status = enter_row(worker, row, number, positions);
        if (status) return status;
        worker->chosen[rows] = row;
        positions += row->source_length;
        worker->starts[++rows] = positions;
    }
    if (rows) encode_chosen(worker, rows, positions);
    if (rows && worker->draft_worker) {
        const int32_t status = enter_draft_rows(worker, rows);
        if (status) return status;
    }
    worker->entering = positions >= CHUNK;
    return worker->entering ? SPECDEC_WAITING : SPECDEC_OK;
}

int32_t work_once(struct worker *worker) {
    struct specdec_session *session = worker->session;
    const int32_t status = enter_rows(worker);
    if (status) return status == SPECDEC_WAITING ? SPECDEC_OK : status;
    if (!worker->running || atomic_load(&session->stopped)) return SPECDEC_FINISHED;
    if (session->options.method == SPECDEC_METHOD_BEAM) return search_rows(worker);
    const double started = milliseconds(worker);
    const int64_t drafting = propose_drafts(worker);
    const double drafted = milliseconds(worker);
    const int full = is_full(worker);
    verify_rows(worker, accept_tokens);
    if (worker->adaptive && drafting) adaptive_finish(worker->adaptive, worker->block_size);
    if (full) {
        worker->least_drafting = fmin(worker->least_drafting, drafted - started);
        worker->least_verifying = fmin(worker->least_verifying, milliseconds(worker) - drafted);
    }
    return atomic_load(&session->status);
}
