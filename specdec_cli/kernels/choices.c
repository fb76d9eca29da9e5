// Which token: by logits alone, or in a draft by the token before it too.

#include "choices.h"
#include "layers.h"

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

// The link between neighbouring slots of a draft: a state is conditioned on the token before it, then multiplied with the
// output projection of its candidates.
struct chain {
    int64_t width, rank, candidates;            // widths are multiples of 16, `candidates` at most 32
    const float *tokens, *rows, *bias;           // embeddings and output projection (vocabulary, width); NULL: no bias
    const struct linear *from_token, *output;
    float scale; // of embeddings
};

struct chain_call {
    const struct chain *chain;
    const float *logits, *states, *narrow;
    int64_t rows, slots, size, *ids, *candidates;
};

static void find_candidates(void *argument) {
    const struct chain_call *call = argument;
    const int64_t size = call->size, wanted = call->chain->candidates;
    SHARED_FOR (slot, call->rows * call->slots) best_of(call->logits + slot * size, size, wanted, call->candidates + slot * wanted);
}

// The candidate of a slot that is best after the token `before`.
static int64_t choose_after(const struct chain_call *call, int64_t slot, int64_t before) {
    const struct chain *chain = call->chain;
    const int64_t width = chain->width, rank = chain->rank, widest = width > rank ? width : rank;
    float embedded[width], linked[rank], state[width], best = -INFINITY;
    uint8_t bytes[widest + 8];
    for (int64_t i = 0; i < width; i++) embedded[i] = chain->tokens[before * width + i] * chain->scale;
    linear(chain->from_token, embedded, 1, 0, linked, 0, bytes);
    for (int64_t i = 0; i < rank; i += LANES) store(linked + i, largest(load(call->narrow + slot * rank + i) + load(linked + i), all(0.0f)));
    linear(chain->output, linked, 1, call->states + slot * width, state, 0, bytes);
    const int64_t *candidates = call->candidates + slot * chain->candidates;
    int64_t chosen = candidates[0];
    for (int64_t choice = 0; choice < chain->candidates; choice++) {
        const int64_t id = candidates[choice];
        floats sum = {0};
        for (int64_t i = 0; i < width; i += LANES) sum = fused(load(state + i), load(chain->rows + id * width + i), sum);
        const float score = chain->bias ? sum_lanes(sum) + chain->bias[id] : sum_lanes(sum);
        if (score > best) best = score, chosen = id;
    }
    return chosen;
}

static void walk(void *argument) {
    const struct chain_call *call = argument;
    for (int64_t slot = 0; slot < call->rows * call->slots; slot++)
        call->ids[slot] = slot % call->slots ? choose_after(call, slot, call->ids[slot - 1]) : call->candidates[slot * call->chain->candidates];
}

// ids (rows, slots): a greedy walk over the best candidates of each slot, by logits (rows, slots, size), which know the
// token before the first slot only, states (rows, slots, width) and their projections `narrow` (rows, slots, rank).
EXPORT void specdec_chain(const struct chain *chain, const float *logits, const float *states, const float *narrow, int64_t rows, int64_t slots, int64_t size, int64_t *ids, int64_t *scratch, int threads) {
    struct chain_call call = {chain, logits, states, narrow, rows, slots, size, ids, scratch};
    together(find_candidates, &call, threads);
    together(walk, &call, 1);
}
