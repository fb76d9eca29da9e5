// The best continuations of hypotheses.

#include "beam.h"

#include <math.h>

#include "kernels.h"
#include "specdec.h"

static float value_of(const struct distribution *own, float logit) { return own->score + ((logit - own->top) - own->log_total); }

static void insert(struct candidate *kept, int64_t *count, int64_t wanted, struct candidate candidate) {
    if (*count < wanted) (*count)++;
    else if (!(candidate.log_probability > kept[wanted - 1].log_probability)) return;
    int64_t at = *count - 1;
    for (; at > 0 && candidate.log_probability > kept[at - 1].log_probability; at--) kept[at] = kept[at - 1];
    kept[at] = candidate;
}

// The `wanted`-th of the tiles' largest logits: at least `wanted` tokens have this logit or a larger one. Minus infinity for fewer tiles.
static float least_wanted(const struct logits *logits, int64_t i, int64_t wanted) {
    const int64_t tiles = (logits->size + TILE - 1) / TILE;
    float kept[2 * SPECDEC_MOST_BEAM];
    for (int64_t k = 0; k < wanted; k++) kept[k] = -INFINITY;
    for (int64_t tile = 0; tile < tiles; tile++) {
        const float top = logits->tops[tile * logits->count + i];
        if (!(top > kept[wanted - 1])) continue;
        int64_t at = wanted - 1;
        for (; at > 0 && top > kept[at - 1]; at--) kept[at] = kept[at - 1];
        kept[at] = top;
    }
    return kept[wanted - 1];
}

int64_t best_candidates(const struct logits *logits, int64_t i, const struct distribution *own, int32_t parent, int64_t wanted,
                        struct candidate *to) {
    const float least = value_of(own, least_wanted(logits, i, wanted));
    int64_t count = 0;
    for (int64_t first = 0; first < logits->size; first += TILE) {
        if (!(value_of(own, logits->tops[first / TILE * logits->count + i]) >= least)) continue;
        const float *values = logits->values + i * logits->size + first;
        const int64_t size = logits->size - first < TILE ? logits->size - first : TILE;
        float found[TILE];
        for (int64_t k = 0; k < size; k++) found[k] = value_of(own, values[k]);
        for (int64_t k = 0; k < size; k++) {
            if (found[k] < least || values[k] < own->lowest) continue;
            insert(to, &count, wanted, (struct candidate){found[k], parent, (int32_t)(first + k)});
        }
    }
    return count;
}

int64_t merge_candidates(const struct candidate *candidates, const int32_t *counts, int64_t parents, int64_t wanted, struct candidate *to) {
    int64_t count = 0;
    for (int64_t parent = 0; parent < parents; parent++)
        for (int64_t k = 0; k < counts[parent]; k++) insert(to, &count, wanted, candidates[parent * wanted + k]);
    return count;
}
