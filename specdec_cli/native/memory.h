// Memory whose size is a product of numbers from outside: no product overflows, and all of an owner's blocks end together.

#pragma once

#include <stddef.h>
#include <stdint.h>

struct block;

// Blocks that are freed together. With `large_pages`, blocks are parts of larger ones in pages of 2 MiB, where the system has them, so
// that the processor finds the addresses of many in its own tables: for what stays, and is read again and again. `place` and `left`: what
// is left of the last larger block. `kept`: blocks from before arena_rewind(), which is for arenas without large pages.
struct arena {
    struct block *last, *kept;
    int large_pages;
    char *address;
    int64_t left;
};

// `count` times `size` bytes, zeroed, aligned to 64; NULL where that overflows or there is no memory.
void *arena_allocate(struct arena *arena, int64_t count, int64_t size);
// The same, but not zeroed: for what is written before it is read.
void *arena_allocate_unset(struct arena *arena, int64_t count, int64_t size);
// Keeps all blocks that are taken, to be taken again for sizes from about half of theirs, and frees those that were kept before and not
// taken. The pages of kept blocks stay mapped. To map them anew takes a sixth of the time of a short sentence.
void arena_rewind(struct arena *arena);
void arena_free(struct arena *arena);

// Memory of whole pages from the system: pages that were never written take none. `bytes`: 0 where others own the memory.
struct pages {
    void *start;
    size_t bytes;
};

// Reserves `count` times `size` bytes; their values are not defined. Returns 0 where that overflows or there is no memory.
int pages_reserve(struct pages *pages, int64_t count, int64_t size);
void pages_free(struct pages *pages);

// a * b and a + b, or -1 where an operand is negative or the result is beyond 2^62.
int64_t product_of(int64_t a, int64_t b);
int64_t sum_of(int64_t a, int64_t b);
