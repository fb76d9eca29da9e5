// Beam search: the hypotheses of a sentence. See specdec_cli/decoding/beam.py, which finds the same.

#pragma once

#include <stdint.h>

#include "choices.h"

// A continuation of the hypothesis `parent` of a sentence by one token, with the log probability of the whole.
struct candidate {
    float log_probability;
    int32_t parent, token;
};

// The log probabilities of the tokens after a hypothesis: that of a logit is logit - top - log_total. `score` is the hypothesis' own.
// Tokens with a logit below `lowest` are left out.
struct distribution {
    float score, top, log_total, lowest;
};

// A hypothesis that has ended: `length` ids, and its log probability divided by the length to the power of the length penalty.
struct finished {
    double score;
    int64_t length;
    float log_probability;
    int32_t *ids;
};

// The search for a sentence: `running` hypotheses with their log probabilities, the best one first. `tokens` (beam, capacity) begin
// with the start of the model. Hypothesis k keeps its keys and values of position p at index p * beam + k, and so the ones of its
// tokens stand at `orders` (beam, capacity). `next_tokens` and `next_orders` are for the next step. `finished` (beam): the
// best ones that have ended, the best one first.
struct search {
    int64_t running, ended;
    float *scores;
    int32_t *tokens, *orders, *next_tokens, *next_orders;
    struct finished *finished;
};
