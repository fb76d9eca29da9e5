// The judge of positions: a pass of the decoder, and the token that is taken at each position. Sessions and callers that keep the rows
// themselves have the same one. decoding/accept.py and kernels/accept.py give the same answers.

#pragma once

#include "choices.h"
#include "constraints.h"
#include "layers.h"

// A position of a pass: what stands before it, and what may follow. At a position that has several answers, the first of these holds:
// the drafted token if it is of a prefix, which begins the output whatever the verifier says; the forced token; the choice of the rule by
// the logits under the constraints.
struct slot {
    struct context context;
    int64_t first;          // the first position of its row in the pass
    int64_t limit;          // tokens that the output has at most, the start included
    int32_t drafted;        // the drafted token, or -1
    int32_t is_prefix;      // whether that is of a prefix
    const uint32_t *stream; // the random stream of its sentence, for sampling; or NULL
};

// What all threads read; copied to each. The log probability of a token is that under the constraints, also of a prefix: 0 for the forced
// token, minus infinity for another one in its position and for one that the constraints exclude. It is computed for positions whose
// drafted tokens all passed; the others keep what `scores` has.
struct judgement {
    struct pass pass;
    const struct specdec_model *model;
    const struct specdec_constraints *constraints;
    const struct specdec_acceptance *rule;
    const struct slot *slots; // (positions)
    float *logits, *tops;     // (LOGITS_AT_ONCE, V), (tiles, LOGITS_AT_ONCE)
    int32_t *predicted;       // (positions): the tokens that are taken
    float *scores;            // (positions): their log probabilities; or NULL
    atomic_int *status;       // becomes SPECDEC_NOT_FINITE if a logit is not finite; the tokens then have no meaning
};
_Static_assert(sizeof(struct judgement) <= ARGUMENT_SIZE, "the team copies it");

// Runs the pass and judges its positions; the argument is a judgement.
void judge(struct member *member, const void *judgement);

// Multiplications of a judgement, or of a search.
int64_t multiplications_to_judge(const struct pass *pass, const struct specdec_model *model);

// The logits of `count` positions of the pass from `first` on, LOGITS_AT_ONCE at most. The status becomes SPECDEC_NOT_FINITE if one is not.
struct logits compute_logits(struct member *member, const struct judgement *judgement, int64_t first, int64_t count);

// The token that must be taken at a position, or -1.
int32_t forced_at(const struct judgement *judgement, const struct slot *slot);
