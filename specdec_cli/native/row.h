// A row: a sentence on its way through a worker.

#pragma once

#include "beam.h"
#include "memory.h"
#include "specdec.h"

#define VACANT (-1)

struct row {
    int64_t number; // of the sentence in the queue; VACANT: the row is free
    const int32_t *source;
    int64_t source_length;
    int64_t capacity;         // tokens of the output at most, the start included
    int32_t *tokens;          // (capacity): the start of the model, then the output
    float *log_probabilities; // (capacity): of the tokens
    int64_t length, limit;    // tokens so far, the start included, and at most
    int64_t rounds;
    struct pages cache;  // keys and values of the decoder's layers for the output, see layers.h
    int64_t allocated;   // positions that the caches have memory for now; `capacity` at most
    struct pages memory; // keys and values of the decoder's layers for the encoded source
    int32_t *draft;      // (drafted): the present draft
    int64_t drafted;

    // Of a text that is copied, see draft.c: the source or a given one, EOS included.
    const int32_t *text;
    int64_t text_length;
    int64_t copy_from; // where the next copy begins; -1: nowhere
    int64_t misses;    // rounds in succession in which nothing was accepted
    int64_t longest;   // tokens of the next draft at most
    int64_t prefix;    // tokens at the start of a given text that are taken without being verified

    // Of Jacobi decoding, see jacobi.c.
    int32_t *guesses; // (capacity): what was last predicted at each position, or the padding
    int64_t expected; // tokens at which drafts end, the start included

    int has_drafter; // whether a network or a draft model drafts for this sentence

    // Of a row of a draft model: whether it writes nothing for now; and where its own tokens begin, and end at most.
    int idle;
    int64_t written_from, written_to;

    // Of a network that drafts.
    struct pages draft_cache;  // its keys and values of all positions before the last token except the last `fresh` of these
    struct pages draft_memory; // its keys and values for the encoded source
    float *states;             // (fresh, W): the verifier's states that it has not read yet
    int64_t fresh;

    struct search search; // of beam search
};

// buffers.c: reserves memory for the keys and values of a row that begins (returns 0 without memory), and extends it to at least
// `positions` positions of its output, at most the row's capacity.
struct specdec_session;
int row_reserve(const struct specdec_session *session, struct row *row);
void row_extend(const struct specdec_session *session, struct row *row, int64_t positions);
void row_free(struct row *row);
