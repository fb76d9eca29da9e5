#include "memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define ALIGNMENT 64
#define MOST ((int64_t)1 << 62)
#define PAGE ((int64_t)1 << 21)
#define PAGES ((int64_t)4) // of a block that others are parts of
#if defined(__SANITIZE_ADDRESS__)
#define PARTS 0 // the sanitizer checks the bounds of blocks, not of their parts
#else
#define PARTS 1
#endif

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

// Begins a larger block, with room for so many bytes at least. Returns 0 without memory.
static int take_pages(struct arena *arena, int64_t bytes) {
    const int64_t pages = (bytes + PAGE - 1) / PAGE, whole = (pages > PAGES ? pages : PAGES) * PAGE;
    struct arena own = {arena->last, 0, 0, 0};
    char *place = take(&own, whole + PAGE, 1, 0);
    if (!place) return 0;
    arena->last = own.last;
    arena->place = place + (PAGE - (uintptr_t)place % PAGE) % PAGE;
    arena->left = whole;
#if defined(MADV_HUGEPAGE)
    madvise(arena->place, (size_t)whole, MADV_HUGEPAGE);
#endif
    return 1;
}

static void *take_part(struct arena *arena, int64_t count, int64_t size) {
    const int64_t bytes = product_of(count, size);
    if (bytes < 0 || bytes > MOST / 2) return 0;
    const int64_t aligned = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (aligned > arena->left && !take_pages(arena, aligned)) return 0;
    void *place = arena->place;
    arena->place += aligned;
    arena->left -= aligned;
    return memset(place, 0, (size_t)bytes);
}

void *arena_take(struct arena *arena, int64_t count, int64_t size) {
    return arena->large_pages && PARTS ? take_part(arena, count, size) : take(arena, count, size, 1);
}

void *arena_take_unset(struct arena *arena, int64_t count, int64_t size) { return take(arena, count, size, 0); }

void arena_free(struct arena *arena) {
    while (arena->last) {
        struct block own;
        memcpy(&own, arena->last, sizeof own);
        arena->last = own.before;
        free(own.start);
    }
}
