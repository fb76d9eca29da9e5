// Sizes that several files share, and comparisons of sizes.

#pragma once

#include <stdint.h>

#include "specdec.h"

#define LANES SPECDEC_LANES // floats of a vector
#define TILE 64             // outputs of a tile of packed weights
#define CACHE_LINE 64       // bytes that the processor fetches, and processors exchange, together
#define LOGITS_AT_ONCE 48   // positions whose logits are computed together
#define CHUNK 256           // positions that go through layers together, unless a single row has more
#define MOST_THREADS 1024

static inline int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int between(int64_t value, int64_t low, int64_t high) { return low <= value && value <= high; }
