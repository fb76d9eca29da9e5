// Which token: by logits alone, or in a draft by the token before it too.

#include "choices.h"
#include "team.h"
#include "vectors.h"

static float largest_number(const float *x, int64_t size) {
    const int64_t whole = size / LANES * LANES;
    floats most = all(-INFINITY);
    for (int64_t i = 0; i < whole; i += LANES) most = largest(most, load(x + i));
    float top = largest_lane(most);
    for (int64_t i = whole; i < size; i++) top = x[i] > top ? x[i] : top;
    return top;
}

int64_t place_of(float top, const float *x, int64_t size) {
    int64_t place = 0;
    while (place < size - 1 && x[place] != top) place++;
    return place;
}

struct largest_call {
    const float *x;
    int64_t rows, size;
    int64_t *places;
};

static void find_largest(void *argument) {
    const struct largest_call *call = argument;
    SHARED_FOR (row, call->rows) {
        const float *own = call->x + row * call->size;
        call->places[row] = place_of(largest_number(own, call->size), own, call->size);
    }
}

// places (rows): where each row's largest number stands, the first of them.
EXPORT void specdec_largest(const float *x, int64_t rows, int64_t size, int64_t *places, int threads) {
    struct largest_call call = {x, rows, size, places};
    together(find_largest, &call, threads);
}

__attribute__((noinline, noclone)) float log_probability(const float *logits, int64_t size, float top, int64_t id) {
    const int64_t whole = size / LANES * LANES;
    floats total = {0}, last = all(-INFINITY);
    for (int64_t i = 0; i < whole; i += LANES) total += exponential(load(logits + i) - top);
    for (int64_t i = whole; i < size; i++) last[i - whole] = logits[i];
    total += exponential(last - top);
    return logits[id] - top - (float)log(sum_lanes(total));
}

struct probabilities_call {
    const float *x;
    int64_t rows, size;
    const int64_t *ids;
    float *to;
};

static void find_probabilities(void *argument) {
    const struct probabilities_call *call = argument;
    SHARED_FOR (row, call->rows) {
        const float *own = call->x + row * call->size;
        call->to[row] = log_probability(own, call->size, largest_number(own, call->size), call->ids[row]);
    }
}

// to (rows): the logarithm of the probability of one id a row, by logits (rows, size).
EXPORT void specdec_log_probabilities(const float *x, int64_t rows, int64_t size, const int64_t *ids, float *to, int threads) {
    struct probabilities_call call = {x, rows, size, ids, to};
    together(find_probabilities, &call, threads);
}

#define MOST 32 // candidates of a slot

static void best_of(const float *logits, int64_t size, int64_t wanted, int64_t *ids) {
    float kept[MOST];
    for (int64_t i = 0; i < wanted; i++) kept[i] = -INFINITY, ids[i] = 0;
    for (int64_t i = 0; i < size; i++) {
        if (!(logits[i] > kept[wanted - 1])) continue;
        int64_t at = wanted - 1;
        for (; at > 0 && logits[i] > kept[at - 1]; at--) kept[at] = kept[at - 1], ids[at] = ids[at - 1];
        kept[at] = logits[i], ids[at] = i;
    }
}

// The link between neighbouring slots of a draft: a slot's logits, where the token before it was unknown, and what they
// become for a token that is known: logits[b] + (relu(state + before[a]) - relu(state + unknown)) * after[b].
struct chain {
    int64_t vocabulary, width, candidates; // `width` is a multiple of 16, `candidates` at most 32
    const float *before, *after, *unknown; // (vocabulary, width) twice, and (width)
};

struct chain_call {
    const struct chain *chain;
    const float *logits;
    int64_t slots;
    int64_t *candidates;
};

static void find_candidates(void *argument) {
    const struct chain_call *call = argument;
    const int64_t size = call->chain->vocabulary, wanted = call->chain->candidates;
    SHARED_FOR (slot, call->slots) best_of(call->logits + slot * size, size, wanted, call->candidates + slot * wanted);
}

// ids (rows, slots): a greedy walk over the best candidates of each slot. The first slot's logits know the token before it.
EXPORT void specdec_chain(const struct chain *chain, const float *logits, const float *states, int64_t rows, int64_t slots, int64_t *ids, int64_t *scratch, int threads) {
    const int64_t width = chain->width, wanted = chain->candidates;
    struct chain_call call = {chain, logits, rows * slots, scratch};
    together(find_candidates, &call, threads);
    for (int64_t slot = 0; slot < rows * slots; slot++) {
        const int64_t *candidates = scratch + slot * wanted;
        ids[slot] = candidates[0];
        if (slot % slots == 0) continue;
        float difference[width], best = -INFINITY;
        for (int64_t i = 0; i < width; i += LANES) {
            const floats state = load(states + slot * width + i), zero = all(0.0f);
            const floats known = state + load(chain->before + ids[slot - 1] * width + i), unknown = state + load(chain->unknown + i);
            store(difference + i, largest(known, zero) - largest(unknown, zero));
        }
        for (int64_t choice = 0; choice < wanted; choice++) {
            floats sum = {0};
            for (int64_t i = 0; i < width; i += LANES) sum = fused(load(difference + i), load(chain->after + candidates[choice] * width + i), sum);
            const float score = logits[slot * chain->vocabulary + candidates[choice]] + sum_lanes(sum);
            if (score > best) best = score, ids[slot] = candidates[choice];
        }
    }
}
