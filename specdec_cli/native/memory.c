#include "memory.h"

#include <stdlib.h>
#include <string.h>

#define ALIGNMENT 64
#define MOST ((int64_t)1 << 62)

struct block {
    struct block *before;
    void *start; // what free() takes
};

int64_t product_of(int64_t a, int64_t b) {
    if (a < 0 || b < 0 || (b && a > MOST / b)) return -1;
    return a * b;
}

int64_t sum_of(int64_t a, int64_t b) {
    if (a < 0 || b < 0 || a > MOST - b) return -1;
    return a + b;
}

static void *take(struct arena *arena, int64_t count, int64_t size, int zeroed) {
    const int64_t bytes = product_of(count, size), whole = sum_of(bytes, ALIGNMENT + (int64_t)sizeof(struct block));
    if (whole < 0 || (uint64_t)whole > SIZE_MAX) return 0;
    char *start = zeroed ? calloc(1, (size_t)whole) : malloc((size_t)whole);
    if (!start) return 0;
    char *place = start + sizeof(struct block);
    place += (ALIGNMENT - (uintptr_t)place % ALIGNMENT) % ALIGNMENT;
    struct block *block = (struct block *)(place - sizeof(struct block));
    // The header stands before the aligned place, at any alignment.
    const struct block own = {arena->last, start};
    memcpy(block, &own, sizeof own);
    arena->last = block;
    return place;
}

void *arena_take(struct arena *arena, int64_t count, int64_t size) { return take(arena, count, size, 1); }

void *arena_take_unset(struct arena *arena, int64_t count, int64_t size) { return take(arena, count, size, 0); }

void arena_free(struct arena *arena) {
    while (arena->last) {
        struct block own;
        memcpy(&own, arena->last, sizeof own);
        arena->last = own.before;
        free(own.start);
    }
}
