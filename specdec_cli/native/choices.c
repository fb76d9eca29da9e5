#include "choices.h"

#include <math.h>

#include "specdec.h"

static int64_t tiles_of(const struct logits *logits) { return (logits->size + TILE - 1) / TILE; }

static int64_t end_of(const struct logits *logits, int64_t tile) {
    return (tile + 1) * TILE < logits->size ? (tile + 1) * TILE : logits->size;
}

int are_finite(const struct logits *logits, int64_t i) {
    int finite = 1;
    for (int64_t tile = 0; tile < tiles_of(logits); tile++) finite &= !isnan(logits->tops[tile * logits->count + i]);
    return finite;
}

static int64_t best_tile(const struct logits *logits, int64_t i) {
    const float *tops = logits->tops + i;
    int64_t best = 0;
    for (int64_t tile = 1; tile < tiles_of(logits); tile++)
        if (tops[tile * logits->count] > tops[best * logits->count]) best = tile;
    return best;
}

float top_logit(const struct logits *logits, int64_t i) { return logits->tops[best_tile(logits, i) * logits->count + i]; }

int32_t first_choice(const struct logits *logits, int64_t i) {
    const int64_t tile = best_tile(logits, i);
    const float *values = logits->values + i * logits->size, top = logits->tops[tile * logits->count + i];
    int64_t token = tile * TILE;
    while (token < logits->size - 1 && values[token] != top) token++;
    return (int32_t)token;
}

// The `wanted` best tokens of position i and their logits, the best one first.
static void keep_best(const struct logits *logits, int64_t i, int64_t wanted, float *kept, int32_t *ids) {
    const float *values = logits->values + i * logits->size;
    for (int64_t k = 0; k < wanted; k++) {
        kept[k] = -INFINITY;
        ids[k] = 0;
    }
    for (int64_t tile = 0; tile < tiles_of(logits); tile++) {
        if (!(logits->tops[tile * logits->count + i] > kept[wanted - 1])) continue;
        for (int64_t token = tile * TILE; token < end_of(logits, tile); token++) {
            if (!(values[token] > kept[wanted - 1])) continue;
            int64_t at = wanted - 1;
            for (; at > 0 && values[token] > kept[at - 1]; at--) {
                kept[at] = kept[at - 1];
                ids[at] = ids[at - 1];
            }
            kept[at] = values[token];
            ids[at] = (int32_t)token;
        }
    }
}

void best_choices(const struct logits *logits, int64_t i, int64_t wanted, int32_t *ids) {
    float kept[SPECDEC_MOST_CANDIDATES];
    keep_best(logits, i, wanted, kept, ids);
}

float kth_best(const struct logits *logits, int64_t i, int64_t k) {
    float kept[SPECDEC_MOST_TOP_K];
    int32_t ids[SPECDEC_MOST_TOP_K];
    keep_best(logits, i, k, kept, ids);
    return kept[k - 1];
}

int is_tolerated(const struct logits *logits, int64_t i, int32_t id, int32_t top_beta, float tolerance) {
    const float *values = logits->values + i * logits->size, value = values[id];
    if (value == -INFINITY || !(top_logit(logits, i) - value <= tolerance)) return 0;
    int64_t larger = 0;
    for (int64_t tile = 0; tile < tiles_of(logits) && larger < top_beta; tile++) {
        if (!(logits->tops[tile * logits->count + i] > value)) continue;
        for (int64_t token = tile * TILE; token < end_of(logits, tile); token++) larger += values[token] > value;
    }
    return larger < top_beta;
}

int32_t choice_with_margin(const struct logits *logits, int64_t i, int32_t id, float margin) {
    const float *values = logits->values + i * logits->size;
    int64_t best = -1;
    for (int64_t tile = 0; tile < tiles_of(logits); tile++) {
        if (best >= 0 && !(logits->tops[tile * logits->count + i] > values[best])) continue;
        for (int64_t token = tile * TILE; token < end_of(logits, tile); token++)
            if (token != id && (best < 0 || values[token] > values[best])) best = token;
    }
    return best < 0 || values[id] - values[best] >= margin ? id : (int32_t)best;
}
