#include "memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define ALIGNMENT 64
#define MOST ((int64_t)1 << 62)
#define PAGE ((int64_t)1 << 21)
#define PAGES ((int64_t)4) // of a block that others are parts of
#define SLACK ((int64_t)4096) // room that a kept block may have beyond twice the size that is taken
#if defined(__SANITIZE_ADDRESS__)
#define PARTS 0 // the sanitizer checks the bounds of blocks, not of their parts, nor of pages
#else
#define PARTS 1
#endif

struct block {
    struct block *before;
    void *start; // what free() takes
    int64_t room;
};

int64_t product_of(int64_t a, int64_t b) {
    if (a < 0 || b < 0 || (b && a > MOST / b)) return -1;
    return a * b;
}

int64_t sum_of(int64_t a, int64_t b) {
    if (a < 0 || b < 0 || a > MOST - b) return -1;
    return a + b;
}

// The smallest kept block that has this room. One of more than about twice the size is not taken, so that the next arena_rewind() frees
// the blocks of a long sentence if short ones follow.
static struct block *take_kept(struct arena *arena, int64_t bytes) {
    struct block **best = 0;
    for (struct block **place = &arena->kept; *place; place = &(*place)->before)
        if ((*place)->room >= bytes && ((*place)->room - SLACK) / 2 <= bytes && (!best || (*place)->room < (*best)->room)) best = place;
    struct block *block = best ? *best : 0;
    if (block) *best = block->before;
    return block;
}

// A new block; its header stands before its aligned place.
static struct block *make_block(int64_t bytes, int zeroed) {
    const int64_t whole = sum_of(bytes, ALIGNMENT + (int64_t)sizeof(struct block));
    if (whole < 0 || (uint64_t)whole > SIZE_MAX) return 0;
    char *start = zeroed ? calloc(1, (size_t)whole) : malloc((size_t)whole);
    if (!start) return 0;
    char *place = start + sizeof(struct block);
    place += (ALIGNMENT - (uintptr_t)place % ALIGNMENT) % ALIGNMENT;
    struct block *block = (struct block *)(void *)place - 1;
    *block = (struct block){0, start, bytes};
    return block;
}

static void *take(struct arena *arena, int64_t count, int64_t size, int zeroed) {
    const int64_t bytes = product_of(count, size);
    struct block *block = bytes < 0 ? 0 : take_kept(arena, bytes);
    if (block && zeroed) memset(block + 1, 0, (size_t)bytes);
    if (!block) block = make_block(bytes, zeroed);
    if (!block) return 0;
    block->before = arena->last;
    arena->last = block;
    return block + 1;
}

// Begins a larger block, with room for at least `bytes` bytes. Returns 0 if there is no memory for it.
static int take_pages(struct arena *arena, int64_t bytes) {
    const int64_t pages = (bytes + PAGE - 1) / PAGE, whole = (pages > PAGES ? pages : PAGES) * PAGE;
    struct arena own = {.last = arena->last};
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
    if ((!arena->place || aligned > arena->left) && !take_pages(arena, aligned)) return 0;
    void *place = arena->place;
    arena->place += aligned;
    arena->left -= aligned;
    return memset(place, 0, (size_t)bytes);
}

void *arena_take(struct arena *arena, int64_t count, int64_t size) {
    return arena->large_pages && PARTS ? take_part(arena, count, size) : take(arena, count, size, 1);
}

void *arena_take_unset(struct arena *arena, int64_t count, int64_t size) { return take(arena, count, size, 0); }

static void free_blocks(struct block *block) {
    while (block) {
        struct block *before = block->before;
        free(block->start);
        block = before;
    }
}

void arena_rewind(struct arena *arena) {
    free_blocks(arena->kept);
    *arena = (struct arena){.kept = arena->last};
}

void arena_free(struct arena *arena) {
    free_blocks(arena->last);
    free_blocks(arena->kept);
    arena->last = arena->kept = 0;
}

int pages_reserve(struct pages *pages, int64_t count, int64_t size) {
    const int64_t bytes = product_of(count, size);
    if (bytes <= 0 || (uint64_t)bytes > SIZE_MAX) return 0;
#if PARTS
    void *start = mmap(0, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED) return 0;
#else
    void *start = malloc((size_t)bytes);
    if (!start) return 0;
#endif
    *pages = (struct pages){start, (size_t)bytes};
    return 1;
}

void pages_free(struct pages *pages) {
#if PARTS
    if (pages->bytes) munmap(pages->start, pages->bytes);
#else
    if (pages->bytes) free(pages->start);
#endif
    *pages = (struct pages){0, 0};
}
