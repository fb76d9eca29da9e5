// The state of a session: its queue of sources, and the workers that decode it.

#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "worker.h"

// A sentence that is done (SPECDEC_OK), or a round of one (SPECDEC_ROUND). Ids and log probabilities stand behind this.
struct done {
    struct done *next;
    int32_t status;
    struct specdec_output output;
};

struct specdec_session {
    const struct specdec_model *model;
    struct specdec_options options;
    struct arena arena;

    struct specdec_queue queue; // its arrays are copies
    int32_t *texts;             // its texts, of which those that are longer than their row are cut
    atomic_llong entered;       // sentences that were taken from it

    // Sizes that the queue needs.
    int64_t longest_source, longest_capacity, longest_draft;
    int64_t most_positions; // of a pass
    int64_t beam;           // hypotheses of a sentence

    atomic_int stopped, status;
    struct specdec_session *draft_session; // of the draft model; or NULL
    pid_t owner; // the process
    struct worker *workers;
    int64_t worker_count;
    struct team *team; // of the model, borrowed; NULL: each worker works alone

    // Under the lock: what is done and not handed out yet, the first first; what was handed out last.
    pthread_mutex_t lock;
    pthread_cond_t progress;
    struct done *first, **last, *handed;
    int64_t handed_out;
};

// Whether a network on the verifier's states drafts; and whether that or a draft model does, whose drafts may be left out.
static inline int has_network(const struct specdec_session *session) { return session->options.method == SPECDEC_METHOD_SPECDEC; }
static inline int has_model(const struct specdec_session *session) {
    return has_network(session) || session->options.method == SPECDEC_METHOD_DRAFT_MODEL;
}

// queue.c: copies_texts() says whether drafts are copies of a given text or of the source; check_queue() checks a queue; measure() sets the
// sizes that it needs; copy_queue() copies the arrays that the method reads. Checks and copies return a status.
int copies_texts(const struct specdec_options *options);
int32_t check_queue(const struct specdec_queue *queue, const struct specdec_options *options, const struct specdec_shape *shape);
void measure(struct specdec_session *session);
int32_t copy_queue(struct specdec_session *session);

// buffers.c: allocates the workers of a session. They share the session's thread team, if it has one. Returns a status.
int32_t open_workers(struct specdec_session *session);

// buffers.c: the length of a source with its padding.
int64_t padded_length(int64_t source_length);

#define SHORTEST 3 // tokens of a draft that cost little: a drafter that bounds its drafts allows so many

// draft.c: what a row that begins copies from, and what is learnt from a round in which `passed` of its drafted tokens were accepted.
void begin_draft(const struct specdec_session *session, struct row *row);
void observe_round(const struct specdec_session *session, struct row *row, int64_t passed);

// jacobi.c: a row that begins; its draft; and what a round predicted at the positions of its draft and after it, before its tokens are
// taken.
int is_jacobi(const struct specdec_session *session);
void jacobi_begin(const struct specdec_session *session, struct row *row);
void jacobi_draft(const struct specdec_session *session, struct row *row);
void jacobi_observe(const struct specdec_session *session, struct row *row, const int32_t *predicted);

// drafter.c: positions of a row at most in a pass of the drafter or of a verification.
int64_t positions_of_row(const struct specdec_session *session);

// beam.c: the search for a row that begins.
void begin_search(const struct specdec_session *session, struct row *row);

// outputs.c: hands over a row that has ended, which is vacant then, or a round that took the first `count` tokens of a verdict.
// Both return a status.
int32_t hand_over(struct specdec_session *session, struct row *row);
int32_t hand_over_round(struct specdec_session *session, const struct verdict *verdict, int64_t count, int ended);
