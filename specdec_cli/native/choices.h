// Choices of tokens by the logits of positions.

#pragma once

#include <stdint.h>

#include "sizes.h"

// Logits (count, size) of some positions; `tops` (tiles, count) are the largest ones of each tile of outputs, which are not a number where
// the tile has a logit that is not finite.
struct logits {
    float *values, *tops;
    int64_t size, count;
};

// Whether all logits of position i are finite; to be asked before constraints change them.
int are_finite(const struct logits *logits, int64_t i);

// The largest logit of position i, and the first token that has it.
float top_logit(const struct logits *logits, int64_t i);
int32_t first_choice(const struct logits *logits, int64_t i);

// The `wanted` best tokens of position i, the best one first; on ties, the token with the smaller id.
void best_choices(const struct logits *logits, int64_t i, int64_t wanted, int32_t *ids);

// The logit of the kth best token of position i; minus infinity if there are fewer tokens. k: 1 to SPECDEC_MOST_TOP_K.
float kth_best(const struct logits *logits, int64_t i, int64_t k);

// Whether a token is among the `top_beta` best of position i, ties included, and at most `tolerance` below the best. No token is that the
// constraints exclude.
int is_tolerated(const struct logits *logits, int64_t i, int32_t id, int32_t top_beta, float tolerance);

// The token `id` if its logit at position i is at least `margin` above all others, else the first of the largest others.
int32_t choice_with_margin(const struct logits *logits, int64_t i, int32_t id, float margin);
