// The number of tokens of a draft, chosen by what pays: see decoding/pace.py, which chooses the same.

#pragma once

#include "memory.h"
#include "specdec.h"

// Statistics of one worker. Counts of rounds for each slot, given that all slots before it were accepted: it was asked for,
// it was accepted. `stopped` (longest + 2) counts the rows of the present round by the tokens that passed.
struct adaptive {
    const struct specdec_adaptive *all;
    double *asked, *passed, *earlier_asked, *earlier_passed, present;
    int64_t *stopped, *round_of_choice, lasted, rounds_since, choices, pause, skipped;
    struct size_choice *chosen; // by rows; valid where `round_of_choice` is `choices`
    int64_t drafted_rounds, drafted_tokens;
    struct specdec_trial trial;
    double began; // the time in milliseconds at which the present sentence of a trial began
    int drafts;   // whether it is drafted
};

// How many tokens are best for a number of rows, and whether drafting them is faster than not drafting.
struct size_choice {
    int64_t size;
    int pays;
};

struct specdec_adaptive {
    struct specdec_costs costs;
    int64_t longest, workers, rows;
    int may_skip, tries; // `tries`: whether there is a trial
    struct adaptive *of_worker; // (workers)
    struct arena arena;
};

// Whether sentences that enter now, in a batch of `rows`, are drafted; `now` is the time in milliseconds.
int adaptive_begin(struct adaptive *adaptive, int64_t rows, double now);
// A sentence ends, with so many tokens and rounds, in a batch of `rows`: what a trial measures.
void adaptive_end(struct adaptive *adaptive, int64_t rows, int64_t tokens, int64_t rounds, double now);
// The number of tokens of each draft in the next round, for a batch of `rows` rows.
int64_t adaptive_size(struct adaptive *adaptive, int64_t rows);
// A row of the present round, of whose draft `passed` tokens were taken; then the end of a round of drafts of `size` tokens.
void adaptive_count(struct adaptive *adaptive, int64_t passed);
void adaptive_finish(struct adaptive *adaptive, int64_t size);
