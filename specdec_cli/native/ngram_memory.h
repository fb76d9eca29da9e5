// What followed the same tokens in any output decoded so far: see specdec_cli/decoding/drafters/suffix.py.

#pragma once

#include "memory.h"
#include "specdec.h"

// Of one worker: the tokens that last followed each token, and each pair of tokens by its hash; UNKNOWN where there is none.
struct ngrams {
    int32_t *after_one, *after_two;
};

struct specdec_memory {
    int32_t vocabulary, workers;
    struct ngrams *of_worker; // (workers)
    struct arena arena;
};

// Drafts at most `most` tokens after the last of `length` tokens. Returns how many.
int64_t ngrams_draft(const struct ngrams *ngrams, const int32_t *tokens, int64_t length, int64_t most, int32_t *ids);

// Stores the last `count` of `length` tokens as what follows the tokens before them.
void ngrams_store(struct ngrams *ngrams, const int32_t *tokens, int64_t length, int64_t count);
