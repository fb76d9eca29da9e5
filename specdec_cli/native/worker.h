// A worker: rows, and what passes over them need.

#pragma once

#include <pthread.h>

#include "adaptive.h"
#include "clock.h"
#include "judge.h"
#include "ngram_memory.h"
#include "row.h"
#include "sizes.h"

#define LEAVING 4 // when a quarter of the rows is free, others enter

// What drafting by a network needs. R is the width of the slot link.
struct drafting_workspace {
    float *previous;     // (batch, W): the last state, or the embedding of the last token, of each row
    float *token_inputs; // (batch, R): what the link makes of each row's last token
    float *blocks;       // (positions, W): the states of the slots of all rows
    float *link_inputs;  // (positions, R): the states, projected to the link
    float *hidden;       // (positions, R): the hidden units of the link
    int32_t *best;       // (positions, candidates)
    int64_t *fresh;      // (batch): the index of each row's first fresh state among those of all rows
};

// What beam search needs for each position of a pass: where its keys stand, the token's position in its hypothesis, the log probability of
// the hypothesis, and its best candidates, 2 * beam at most.
struct beam_workspace {
    const int32_t **orders;
    int64_t *token_positions;
    float *scores;
    struct candidate *candidates;
    int32_t *counts;
};

struct specdec_session;

struct worker {
    struct specdec_session *session;
    struct team *team;             // NULL: the worker's thread works alone
    struct lent_arena *lent_arena; // of the model, borrowed, with the memory in `arena`; NULL: all memory is new
    struct arena arena;
    struct row *rows; // (batch)
    int64_t running;  // rows that are not vacant
    int entering;     // whether others may follow those that entered last

    // Of a pass, see `struct pass`.
    struct row **chosen; // its rows
    int32_t *ids;
    struct slot *slots;
    struct workspace workspace;
    float *x;
    int64_t *starts, *indices, *ends, *cache_capacities, *memory_capacities;
    float **caches, **memories;
    float *logits, *tops; // (LOGITS_AT_ONCE, V), (tiles, LOGITS_AT_ONCE)
    int32_t *predicted;   // (positions)
    float *scores;        // (positions): log probabilities of what is predicted

    struct worker *draft_worker; // that of the draft model, whose rows have the numbers of these rows; or NULL
    struct drafting_workspace drafting;
    struct beam_workspace beam;
    struct adaptive *adaptive; // NULL: every draft has `block_size` tokens
    struct ngrams *ngrams;     // NULL: another decoding
    int64_t block_size;        // of the present round
    double least_drafting, least_verifying; // milliseconds
    int started; // whether it has a thread of its own: 1; -1: that could not start
    pthread_t thread;
};

// buffers.c: all memory of a worker's passes. Returns 0 without memory, or where a size overflows.
int worker_open(struct worker *worker, struct specdec_session *session);
void worker_close(struct worker *worker);

// encode.c: a sentence of the queue in a free row, at positions of a pass from `first` on (returns a status); and a pass of the encoder over
// the rows that were chosen.
int32_t enter_row(struct worker *worker, struct row *row, int64_t number, int64_t first);
void encode_chosen(struct worker *worker, int64_t rows, int64_t positions);

// verify.c: a pass of a stack over the rows that were chosen and their `positions` positions, which see keys and values of the caches.
struct pass pass_of(const struct worker *worker, const struct stack *stack, int64_t rows, int64_t positions);

// verify.c: a pass of the decoder over `positions` positions of `rows` rows, and what judges them; and what stands before a position of a
// row whose output begins with `length` of `tokens`.
struct judgement judgement_of(const struct worker *worker, int64_t rows, int64_t positions);
struct context context_of(const struct row *row, const int32_t *tokens, int64_t length);

// verify.c: one pass over the last token of each running row and its draft, whose verdicts are handed to `accept`.
struct verdict {
    struct row *row;
    int64_t passed;           // drafted tokens that are accepted
    const int32_t *predicted; // the token that is taken at each position if all before it passed
    const float *scores;      // their log probabilities
    const float *states;      // the verifier's states
};
typedef void (*accept_verdict)(struct worker *worker, const struct verdict *verdict);
void verify_rows(struct worker *worker, accept_verdict accept);

// drafter.c: the drafts of all rows that have a drafter, of `worker->block_size` tokens; what it keeps of `count` tokens that a round
// added; and floats that the slot link needs for a row.
void draft_rows(struct worker *worker);
void keep_states(struct worker *worker, const struct verdict *verdict, int64_t count);
int64_t link_scratch_size(const struct specdec_model *model);

// draft_model.c: what a draft model has beside a session, a session of its own, which decodes nothing by itself: opened with the team of the
// other one (returns a status), and closed; its rows for the first `rows` rows that were chosen and enter (returns a status); and the drafts
// of all rows that have one.
int32_t open_draft_session(struct specdec_session *session);
void close_draft_session(struct specdec_session *session);
int32_t enter_draft_rows(struct worker *worker, int64_t rows);
void draft_by_model(struct worker *worker);

// draft.c: the draft of a row.
void propose_draft(const struct worker *worker, struct row *row);

// beam.c: a step of beam search for all running rows. Returns a status.
int32_t search_rows(struct worker *worker);

// The time in milliseconds: that of the processor where the worker's thread works alone.
static inline double milliseconds_alone(const struct worker *worker) {
    return 1e-6 * (double)nanoseconds_of(worker->team ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID);
}

// round.c: one round of a worker, or rows that enter, so that it takes little time. Returns a status; SPECDEC_FINISHED: nothing is left
// to do.
int32_t work_once(struct worker *worker);
