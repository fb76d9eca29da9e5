#include "ngram_memory.h"

#include <stdlib.h>

#define PLACES (1 << 16)
#define UNKNOWN (-1)

static int64_t place_of(int32_t before, int32_t last) {
    return (int64_t)(((uint64_t)before * 40503 + (uint64_t)last * 2654435761u) % PLACES);
}

// The token before the one at `place`; the start also precedes itself.
static int32_t before_at(const int32_t *tokens, int64_t place) { return tokens[place ? place - 1 : 0]; }

int64_t ngrams_draft(const struct ngrams *ngrams, const int32_t *tokens, int64_t length, int64_t most, int32_t *ids) {
    int32_t last = tokens[length - 1], before = before_at(tokens, length - 1);
    int64_t drafted = 0;
    for (; drafted < most; drafted++) {
        int32_t found = ngrams->after_two[place_of(before, last)];
        if (found == UNKNOWN) found = ngrams->after_one[last];
        if (found == UNKNOWN) break;
        ids[drafted] = found;
        before = last;
        last = found;
    }
    return drafted;
}

void ngrams_store(struct ngrams *ngrams, const int32_t *tokens, int64_t length, int64_t count) {
    for (int64_t place = length - count; place < length; place++) {
        ngrams->after_one[tokens[place - 1]] = tokens[place];
        ngrams->after_two[place_of(before_at(tokens, place - 1), tokens[place - 1])] = tokens[place];
    }
}

static int32_t *table(struct specdec_memory *memory, int64_t size) {
    int32_t *places = arena_take(&memory->arena, size, sizeof *places);
    for (int64_t i = 0; places && i < size; i++) places[i] = UNKNOWN;
    return places;
}

int32_t specdec_memory_create(int32_t vocabulary, int32_t workers, struct specdec_memory **made) {
    *made = 0;
    if (vocabulary < 1 || workers < 1 || workers > 1024) return SPECDEC_BAD_OPTION;
    struct specdec_memory *memory = calloc(1, sizeof *memory);
    if (!memory) return SPECDEC_NO_MEMORY;
    memory->vocabulary = vocabulary;
    memory->workers = workers;
    memory->each = arena_take(&memory->arena, workers, sizeof *memory->each);
    int fits = memory->each != 0;
    for (int32_t i = 0; fits && i < workers; i++) {
        struct ngrams *own = memory->each + i;
        own->after_one = table(memory, vocabulary);
        own->after_two = table(memory, PLACES);
        fits = own->after_one && own->after_two;
    }
    if (fits) *made = memory;
    else specdec_memory_destroy(memory);
    return fits ? SPECDEC_OK : SPECDEC_NO_MEMORY;
}

void specdec_memory_destroy(struct specdec_memory *memory) {
    if (!memory) return;
    arena_free(&memory->arena);
    free(memory);
}
