// A session: a queue of sources, and the workers that decode it.

#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "adaptive.h"
#include "beam.h"
#include "choices.h"
#include "constraints.h"
#include "layers.h"
#include "ngram_memory.h"

#define VACANT (-1)
#define CHUNK 256     // positions that go through layers together, unless a single row has more
#define LEAVING 4     // when a quarter of the rows is free, others enter

// A sentence on its way. `tokens` (capacity) begins with the start of the model; those before `length` count, up to `limit`.
// `own` and `memory`: keys and values of the decoder's layers, see layers.h; `own` has `room` places now, `capacity` at most. `ids`
// (drafted) is the present draft.
struct row {
    int64_t number, source_length, capacity, room, length, limit, rounds;
    const int32_t *source;
    int32_t *tokens;
    float *log_probabilities;
    struct pages own, memory;
    int32_t *ids;
    int64_t drafted;
    // Of a text that is copied, the source or a given one, EOS included: see draft.c. `longest`: tokens of a draft of a given
    // text at most. `prefix`: tokens at the start of a given text that are taken without being verified.
    const int32_t *text;
    int64_t text_length, copy_from, misses, longest, prefix;
    // Of the drafter, if this row `has_drafter`: its keys and values, as above, of all places before the last token except the
    // last `fresh` of these, and the verifier's states (fresh, W) at those.
    int has_drafter;
    struct pages draft_own, draft_memory;
    float *states;
    int64_t fresh;
    struct search search; // of beam search
};

// A position of a pass: the token that is read there, what is drafted from its row's first position on, and which position that
// is; `forced`: the token that must be predicted, or -1; `next`: the drafted token behind this one, or -1. Of a decoder: its row, and
// the output from the start on, up to this `place` at least.
struct position {
    int64_t first;
    const int32_t *drafted;
    int32_t id, forced, next;
    int64_t place;
    const struct row *row;
    const int32_t *tokens;
};

// Room for drafting: `previous` (batch, W) and `before` (batch, R), a vector for each row, where R is the width of the slot link;
// `blocks` (positions, W): the states of the slots of all rows; `narrow` and `linked` (positions, R); `best` (positions, candidates);
// `fresh` (batch): the index of each row's first fresh state among the fresh states of all rows.
struct drafting_room {
    float *previous, *before, *blocks, *narrow, *linked;
    int32_t *best;
    int64_t *fresh;
};

// Room for beam search, for each position of a pass: where its keys stand, the log probability of its hypothesis, and its best
// candidates, 2 * beam at most.
struct beam_room {
    const int32_t **orders;
    float *scores;
    struct candidate *candidates;
    int32_t *counts;
};

// A sentence that is done (SPECDEC_OK), or a round of one (SPECDEC_ROUND): its output, with the ids and the log probabilities
// behind this.
struct done {
    struct done *next;
    int32_t status;
    struct specdec_output output;
};

// Rows of its own, and room for passes over them.
struct worker {
    struct specdec_session *session;
    struct team *team;
    struct workspace *workspace; // of the model, borrowed, with the memory in `arena`; NULL: all memory is new
    struct arena arena;
    struct row *rows;
    int64_t running;
    struct room room;
    struct position *positions;
    float *x, *logits, *tops, *scores;
    int32_t *predicted;
    int64_t *starts, *places, *ends, *own_room, *memory_room;
    float **own, **memory;
    struct row **chosen; // rows of a pass
    struct drafting_room drafting;
    struct beam_room beam;
    struct adaptive *adaptive; // NULL: every draft has `block_size` tokens
    struct ngrams *ngrams;     // NULL: another decoding
    int64_t block_size;        // of the present round
    double least_drafting, least_verifying; // milliseconds
    int started, entering; // entering: others may follow those that entered last
    pthread_t thread;
};

struct specdec_session {
    const struct specdec_model *model;
    struct specdec_options options;
    struct arena arena;
    int32_t *ids, *drafts, *first_drafts, *prefix_lengths;
    int64_t *starts, *draft_starts, count, longest_source, longest_capacity, longest_draft, most_positions;
    int64_t beam; // hypotheses of a sentence
    atomic_llong entered; // sentences that were taken from the queue
    atomic_int stopped, status;
    pid_t owner;
    struct worker *workers;
    int64_t worker_count;
    struct team *team; // of the model, borrowed; NULL: each worker works alone
    // Under the lock: sentences that are done and not handed out yet, the first first.
    pthread_mutex_t lock;
    pthread_cond_t progress;
    struct done *first, **last, *handed;
    int64_t handed_out;
};

// session.c: whether a text is given for each sentence, which is copied.
int has_texts(const struct specdec_options *options);

// buffers.c: all memory of a worker's passes. Returns 0 without memory, or where a size overflows.
int worker_open(struct worker *worker, struct specdec_session *session);
void worker_close(struct worker *worker);
int64_t padded_length(int64_t source_length);

// buffers.c: reserves memory for the keys and values of a row that begins (returns 0 without memory), and extends it to at least
// `places` positions of its output, at most the row's capacity.
int row_reserve(const struct specdec_session *session, struct row *row);
void row_extend(const struct specdec_session *session, struct row *row, int64_t places);
void row_free(struct row *row);

// encode.c: takes sentences from the queue into free rows. Returns a status; SPECDEC_WAITING: there may be more, but those of one
// call have CHUNK positions, and fewer than the last of them has besides.
int32_t enter_rows(struct worker *worker);

// What stands before the token that is chosen at a position.
static inline struct before before_of(const struct position *position) {
    return (struct before){position->tokens, position->row->source, position->place + 1, position->row->source_length};
}

// verify.c: one pass over the last token of each running row and its draft. Of a row: how many drafted tokens pass; the token
// that is taken at each position if all before it passed, with its log probability, and the verifier's states.
struct verdict {
    struct row *row;
    int64_t passed;
    const int32_t *predicted;
    const float *scores, *states;
};
typedef void (*take_verdict)(struct worker *worker, const struct verdict *verdict);
void verify_rows(struct worker *worker, take_verdict take);

// draft.c: the draft of a row, and what is learnt from a round in which `passed` of its drafted tokens were accepted.
void begin_draft(const struct specdec_session *session, struct row *row);
void propose_draft(const struct worker *worker, struct row *row);
void observe_round(const struct specdec_session *session, struct row *row, int64_t passed);

// drafter.c: floats that the slot link needs for a row; positions of a row at most in a pass of the drafter or of a verification; the drafts of all rows that have a drafter, of
// `worker->block_size` tokens; what it keeps of `count` tokens that a round added.
int64_t link_room(const struct specdec_model *model);
int64_t positions_of_row(const struct specdec_session *session);
void draft_rows(struct worker *worker);
void keep_states(struct worker *worker, const struct verdict *verdict, int64_t count);

// beam.c: the search for a row that begins, and a step of it for all running rows, which returns a status.
void begin_search(const struct specdec_session *session, struct row *row);
int32_t search_rows(struct worker *worker);

// outputs.c: hands over a row that has ended, which is vacant then, or a round that took the first `count` tokens of a verdict.
// Both return a status.
int32_t hand_over(struct specdec_session *session, struct row *row);
int32_t hand_over_round(struct specdec_session *session, const struct verdict *verdict, int64_t count);

// round.c: one round of a worker, or rows that enter, so that it takes little time. Returns a status; SPECDEC_FINISHED: nothing is left
// to do.
int32_t work_once(struct worker *worker);
