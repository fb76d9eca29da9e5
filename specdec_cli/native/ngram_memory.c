#include "ngram_memory.h"

#include <stdlib.h>

#define SLOTS (1 << 16)
#define UNKNOWN (-1)

static int64_t slot_of(int32_t before, int32_t last) {
    return (int64_t)(((uint64_t)before * 40503 + (uint64_t)last * 2654435761u) % SLOTS);
}

// The token before the one at `index`; the start also precedes itself.
static int32_t before_at(const int32_t *tokens, int64_t index) { return tokens[index ? index - 1 : 0]; }

int64_t ngrams_draft(const struct ngrams *ngrams, const int32_t *tokens, int64_t length, int64_t most, int32_t *ids) {
    int32_t last = tokens[length - 1], before = before_at(tokens, length - 1);
    int64_t drafted = 0;
    for (; drafted < most; drafted++) {
        int32_t found = ngrams->after_two[slot_of(before, last)];
        if (found == UNKNOWN) found = ngrams->after_one[last];
        if (found == UNKNOWN) break;
        ids[drafted] = found;
        before = last;
        last = found;
    }
    return drafted;
}

void ngrams_store(struct ngrams *ngrams, const int32_t *tokens, int64_t length, int64_t count) {
    for (int64_t index = length - count; index < length; index++) {
        ngrams->after_one[tokens[index - 1]] = tokens[index];
        ngrams->after_two[slot_of(before_at(tokens, index - 1), tokens[index - 1])] = tokens[index];
    }
}

static int32_t *table(struct specdec_memory *memory, int64_t size) {
    int32_t *slots = arena_allocate(&memory->arena, size, sizeof *slots);
    for (int64_t i = 0; slots && i < size; i++) slots[i] = UNKNOWN;
    return slots;
}

int32_t specdec_memory_create(int32_t vocabulary, int32_t workers, struct specdec_memory **created) {
    *created = 0;
    if (vocabulary < 1 || workers < 1 || workers > 1024) return SPECDEC_BAD_OPTION;
    struct specdec_memory *memory = calloc(1, sizeof *memory);
    if (!memory) return SPECDEC_NO_MEMORY;
    memory->vocabulary = vocabulary;
    memory->workers = workers;
    memory->of_worker = arena_allocate(&memory->arena, workers, sizeof *memory->of_worker);
    int fits = memory->of_worker != 0;
    for (int32_t i = 0; fits && i < workers; i++) {
        struct ngrams *ngrams = memory->of_worker + i;
        ngrams->after_one = table(memory, vocabulary);
        ngrams->after_two = table(memory, SLOTS);
        fits = ngrams->after_one && ngrams->after_two;
    }
    if (fits) *created = memory;
    else specdec_memory_destroy(memory);
    return fits ? SPECDEC_OK : SPECDEC_NO_MEMORY;
}

void specdec_memory_destroy(struct specdec_memory *memory) {
    if (!memory) return;
    arena_free(&memory->arena);
    free(memory);
}
