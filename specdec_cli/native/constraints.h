// Constraints on generation: see specdec_cli/decoding/constraints.py, which gives the same scores.

#pragma once

#include "choices.h"
#include "specdec.h"

// What stands before a position: the output so far, its start included, and the source.
struct context {
    const int32_t *tokens, *source;
    int64_t length, source_length;
};

// Whether scores have to be changed before a token is chosen. What is forced is not among that: see forced_token().
int has_constraints(const struct specdec_constraints *rules);

// The token that must follow `length` tokens, the start included, of an output that has `limit` at most; -1: any may.
int32_t forced_token(const struct specdec_constraints *rules, int32_t eos, int64_t length, int64_t limit);

// Changes the scores of position i, logits or log probabilities. Tokens that are not allowed get minus infinity.
void constrain(const struct specdec_constraints *rules, const struct specdec_shape *shape, const struct context *context,
               const struct logits *logits, int64_t i);
