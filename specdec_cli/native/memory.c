#include "memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define ALIGNMENT 64
#define MOST ((int64_t)1 << 62)
#define PAGE ((int64_t)1 << 21)
#define PAGES ((int64_t)4) // of a block that others are parts of
#define SLACK ((int64_t)4096) // bytes that a kept block may have beyond twice the size that is needed
#if defined(__SANITIZE_ADDRESS__)
#define PARTS 0 // the sanitizer checks the bounds of blocks, not of their parts, nor of pages
#else
#define PARTS 1
#endif

struct block {
    struct block *previous;
    void *start; // what free() takes
    int64_t bytes;
};

int64_t product_of(int64_t a, int64_t b) {
    if (a < 0 || b < 0 || (b && a > MOST / b)) return -1;
    return a * b;
}

int64_t sum_of(int64_t a, int64_t b) {
    if (a < 0 || b < 0 || a > MOST - b) return -1;
    return a + b;
}

// The smallest kept block that is large enough. One of more than about twice the size is not taken, so that the next arena_rewind() frees
// the blocks of a long sentence if short ones follow.
static struct block *reuse_kept(struct arena *arena, int64_t bytes) {
    struct block **best = 0;
    for (struct block **at = &arena->kept; *at; at = &(*at)->previous)
        if ((*at)->bytes >= bytes && ((*at)->bytes - SLACK) / 2 <= bytes && (!best || (*at)->bytes < (*best)->bytes)) best = at;
    struct block *block = best ? *best : 0;
    if (block) *best = block->previous;
    return block;
}

// A new block; its header stands before its aligned place.
static struct block *make_block(int64_t bytes, int zeroed) {
    const int64_t whole = sum_of(bytes, ALIGNMENT + (int64_t)sizeof(struct block));
    if (whole < 0 || (uint64_t)whole > SIZE_MAX) return 0;
    char *start = zeroed ? calloc(1, (size_t)whole) : malloc((size_t)whole);
    if (!start) return 0;
    char *address = start + sizeof(struct block);
    address += (ALIGNMENT - (uintptr_t)address % ALIGNMENT) % ALIGNMENT;
    struct block *block = (struct block *)(void *)address - 1;
    *block = (struct block){0, start, bytes};
    return block;
}

static void *allocate(struct arena *arena, int64_t count, int64_t size, int zeroed) {
    const int64_t bytes = product_of(count, size);
    struct block *block = bytes < 0 ? 0 : reuse_kept(arena, bytes);
    if (block && zeroed) memset(block + 1, 0, (size_t)bytes);
    if (!block) block = make_block(bytes, zeroed);
    if (!block) return 0;
    block->previous = arena->last;
    arena->last = block;
    return block + 1;
}

// Begins a larger block, of at least `bytes` bytes. Returns 0 if there is no memory for it.
static int allocate_pages(struct arena *arena, int64_t bytes) {
    const int64_t pages = (bytes + PAGE - 1) / PAGE, whole = (pages > PAGES ? pages : PAGES) * PAGE;
    struct arena pages_arena = {.last = arena->last};
    char *address = allocate(&pages_arena, whole + PAGE, 1, 0);
    if (!address) return 0;
    arena->last = pages_arena.last;
    arena->address = address + (PAGE - (uintptr_t)address % PAGE) % PAGE;
    arena->left = whole;
#if defined(MADV_HUGEPAGE)
    madvise(arena->address, (size_t)whole, MADV_HUGEPAGE);
#endif
    return 1;
}

static void *allocate_part(struct arena *arena, int64_t count, int64_t size) {
    const int64_t bytes = product_of(count, size);
    if (bytes < 0 || bytes > MOST / 2) return 0;
    const int64_t aligned = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if ((!arena->address || aligned > arena->left) && !allocate_pages(arena, aligned)) return 0;
    void *address = arena->address;
    arena->address += aligned;
    arena->left -= aligned;
    return memset(address, 0, (size_t)bytes);
}

void *arena_allocate(struct arena *arena, int64_t count, int64_t size) {
    return arena->large_pages && PARTS ? allocate_part(arena, count, size) : allocate(arena, count, size, 1);
}

void *arena_allocate_unset(struct arena *arena, int64_t count, int64_t size) { return allocate(arena, count, size, 0); }

static void free_blocks(struct block *block) {
    while (block) {
        struct block *previous = block->previous;
        free(block->start);
        block = previous;
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
