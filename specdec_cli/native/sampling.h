// Sampling as a greedy choice of perturbed logits; the reference is decoding/sampling.py, which computes the same bits.

#pragma once

#include <stdint.h>

#include "choices.h"
#include "specdec.h"

// Where the noise comes from: the random stream of a sentence, and a position of its output.
struct noise {
    int64_t seed;
    const uint32_t *stream; // 2 numbers
    int64_t position;
};

// The standard Gumbel noise of a token.
double gumbel_noise(const struct noise *noise, int32_t token);

// A sample from the distribution of position i: the token with the largest logit / temperature + noise, among the `top_k` best tokens, ties
// included (0: among all).
int32_t sampled_choice(const struct logits *logits, int64_t i, const struct specdec_acceptance *rule, const struct noise *noise);
