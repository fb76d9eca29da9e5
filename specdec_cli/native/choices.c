#include "choices.h"

#include <math.h>

#include "specdec.h"

static int64_t tiles_of(const struct logits *logits) { return (logits->size + TILE - 1) / TILE; }

static int64_t end_of(const struct logits *logits, int64_t tile) {
    return (tile + 1) * TILE < logits->size ? (tile + 1) * TILE : logits->size;
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
    const float *own = logits->values + i * logits->size, top = top_logit(logits, i);
    int64_t place = best_tile(logits, i) * TILE;
    while (place < logits->size - 1 && own[place] != top) place++;
    return (int32_t)place;
}

void best_choices(const struct logits *logits, int64_t i, int64_t wanted, int32_t *ids) {
    const float *own = logits->values + i * logits->size;
    float kept[SPECDEC_MOST_CANDIDATES];
    for (int64_t k = 0; k < wanted; k++) {
        kept[k] = -INFINITY;
        ids[k] = 0;
    }
    for (int64_t tile = 0; tile < tiles_of(logits); tile++) {
        if (!(logits->tops[tile * logits->count + i] > kept[wanted - 1])) continue;
        for (int64_t place = tile * TILE; place < end_of(logits, tile); place++) {
            if (!(own[place] > kept[wanted - 1])) continue;
            int64_t at = wanted - 1;
            for (; at > 0 && own[place] > kept[at - 1]; at--) {
                kept[at] = kept[at - 1];
                ids[at] = ids[at - 1];
            }
            kept[at] = own[place];
            ids[at] = (int32_t)place;
        }
    }
}

int is_tolerated(const struct logits *logits, int64_t i, int32_t id, int32_t top_beta, float tolerance) {
    const float *own = logits->values + i * logits->size, value = own[id];
    if (!(top_logit(logits, i) - value <= tolerance)) return 0;
    int64_t larger = 0;
    for (int64_t tile = 0; tile < tiles_of(logits) && larger < top_beta; tile++) {
        if (!(logits->tops[tile * logits->count + i] > value)) continue;
        for (int64_t place = tile * TILE; place < end_of(logits, tile); place++) larger += own[place] > value;
    }
    return larger < top_beta;
}

int32_t reluctant_choice(const struct logits *logits, int64_t i, int32_t id, float margin) {
    const float *own = logits->values + i * logits->size;
    int64_t best = -1;
    for (int64_t tile = 0; tile < tiles_of(logits); tile++) {
        if (best >= 0 && !(logits->tops[tile * logits->count + i] > own[best])) continue;
        for (int64_t place = tile * TILE; place < end_of(logits, tile); place++)
            if (place != id && (best < 0 || own[place] > own[best])) best = place;
    }
    return best < 0 || own[id] - own[best] >= margin ? id : (int32_t)best;
}
