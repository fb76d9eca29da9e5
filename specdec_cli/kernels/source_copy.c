// Where to copy from in the source: the steps of input-guided drafting.

#include <stdint.h>

#include "vectors.h"

// Sources (rows, width), each ending with `eos` at `ends`; where to go on copying, -1 if nowhere; rounds in a row in which
// nothing passed. `word_starts` (V) says which tokens begin a word.
struct copy {
    int64_t rows, width, eos, window;
    const int64_t *source, *ends;
    int64_t *starts, *misses;
    const uint8_t *word_starts;
};

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

// ids (rows, k) and how many of them are meant, at most `most`, for sentences of so many tokens; k, the most of any row.
EXPORT int64_t specdec_copy(const struct copy *copy, const int64_t *lengths, const int64_t *limits, const uint8_t *finished, int64_t most, int64_t *ids, int64_t *counts) {
    int64_t longest = 0;
    for (int64_t row = 0; row < copy->rows; row++) {
        const int64_t left = copy->starts[row] < 0 || finished[row] ? 0 : copy->ends[row] - copy->starts[row];
        const int64_t count = smaller(smaller(left, limits[row] - lengths[row]), most);
        counts[row] = count > 0 ? count : 0;
        longest = counts[row] > longest ? counts[row] : longest;
    }
    for (int64_t row = 0; row < copy->rows; row++)
        for (int64_t i = 0; i < longest; i++) {
            const int64_t place = copy->starts[row] + i;
            ids[row * longest + i] = copy->source[row * copy->width + (place < 0 ? 0 : smaller(place, copy->width - 1))];
        }
    return longest;
}

static int begins_word(const struct copy *copy, int64_t token) { return copy->word_starts[token] || token == copy->eos; }

// The place after the `token` nearest to `here`, ahead or also `behind` (ahead where both are as near); -1 where there is none.
static int64_t after_nearest(const int64_t *source, int64_t token, int64_t here, int64_t end, int64_t window, int behind) {
    for (int64_t distance = 1; distance <= window; distance++) {
        if (here + distance < end && source[here + distance] == token) return here + distance + 1;
        if (behind && here >= distance && source[here - distance] == token) return here - distance + 1;
    }
    return -1;
}

// Where to go on after a `token` that is not in the source: a new one, or another than that which stands `here`.
static int64_t after_edit(const struct copy *copy, const int64_t *source, int64_t token, int64_t here) {
    if (!begins_word(copy, source[here])) return here + 1;
    if (!copy->word_starts[token]) return here;
    for (int64_t place = here + 1; place < copy->width; place++)
        if (begins_word(copy, source[place])) return place;
    return here;
}

// After a round that took `counts` of ids (rows, slots), of which so many had passed: where to copy from next.
EXPORT void specdec_realign(const struct copy *copy, const int64_t *ids, int64_t slots, const int64_t *counts, const int64_t *passed) {
    for (int64_t row = 0; row < copy->rows; row++) {
        const int64_t *source = copy->source + row * copy->width, end = copy->ends[row];
        const int64_t token = ids[row * slots + (counts[row] ? counts[row] - 1 : 0)];
        const int64_t here = smaller(copy->starts[row] + passed[row], end);
        if (token == source[here]) {
            copy->starts[row] = smaller(here + 1, end);
            copy->misses[row] = 0;
            continue;
        }
        copy->misses[row] = passed[row] ? 0 : copy->misses[row] + 1;
        int64_t start = after_nearest(source, token, here, end, copy->window * (1 + copy->misses[row]), copy->misses[row] > 0);
        if (start < 0) start = after_edit(copy, source, token, here);
        copy->starts[row] = smaller(start, end);
    }
}
