// The kernels of one instruction set, for the tests to call.

#include <sched.h>
#include <stdatomic.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "adaptive.h"
#include "memory.h"
#include "model.h"
#include "sampling.h"
#include "sizes.h"
#include "team.h"

#define API __attribute__((visibility("default")))

API int probe_has(const char *isa) { return find_kernels(isa) != 0; }

API void probe_exponential(const char *isa, const float *x, int64_t size, float *to) { find_kernels(isa)->exponential(x, size, to); }

API float probe_dot(const char *isa, const float *x, const float *y, int64_t size) { return find_kernels(isa)->dot(x, y, size); }

API float probe_log_probability(const char *isa, const float *logits, int64_t size, float top, int64_t id) {
    return find_kernels(isa)->log_probability(logits, size, top, id);
}

API void probe_log_softmax(const char *isa, const float *logits, int64_t size, float *top, float *log_total) {
    find_kernels(isa)->log_softmax(logits, size, top, log_total);
}

// Without `beta`, an RMS norm.
API void probe_normalize(const char *isa, const float *gamma, const float *beta, const float *row, int64_t width, float *to) {
    find_kernels(isa)->normalize(gamma, beta, 1e-5f, row, width, to);
}

API void probe_widen(const char *isa, int32_t type, const void *from, float scale, int64_t size, float *to) {
    find_kernels(isa)->widen(type, from, scale, size, to);
}

API int probe_quantize_weights(const char *isa, const float *row, int64_t size, float *scale, int8_t *to) {
    return find_kernels(isa)->quantize_weights(row, size, scale, to);
}

// Query i of `count` sees the keys before ends[i]; `end`: the largest of these. Query i is at ends[i] - 1; with `bias`, what is added to scores
// for distances from -reach to 0.
API void probe_attend(const char *isa, const float *queries, const float *keys, const float *values, const int32_t *order,
                      const int64_t *ends, int64_t count, int64_t end, int64_t width, int64_t used, const float *bias, int64_t reach,
                      float *to) {
    const int64_t room = (end + LANES - 1) / LANES * LANES;
    float *scores = malloc((size_t)(MOST_QUERIES * room) * sizeof(float));
    int64_t *positions = malloc((size_t)count * sizeof *positions);
    for (int64_t i = 0; i < count; i++) positions[i] = ends[i] - 1;
    const float scale = 1.0f / sqrtf((float)used);
    const struct attention attention = {queries, keys, values, order, ends,  count, end,   width, used,     width,
                                        width,   room, scores, to,    scale, bias,  reach, reach, positions};
    find_kernels(isa)->attend(&attention);
    free(scores);
    free(positions);
}

// Blocks of these sizes from an arena with large pages, filled one after the other. Returns how many are aligned, zeroed at first, and
// keep what was written to them.
API int probe_large_pages(const int64_t *sizes, int64_t count) {
    struct arena arena = {.large_pages = 1};
    uint8_t **blocks = calloc((size_t)count, sizeof *blocks);
    int right = 0;
    for (int64_t i = 0; i < count; i++) {
        blocks[i] = arena_allocate(&arena, sizes[i], 1);
        right += blocks[i] && (uintptr_t)blocks[i] % 64 == 0;
        for (int64_t k = 0; blocks[i] && k < sizes[i]; k++) {
            if (blocks[i][k]) right = -100;
            blocks[i][k] = (uint8_t)(i + 1);
        }
    }
    for (int64_t i = 0; i < count; i++)
        for (int64_t k = 0; blocks[i] && k < sizes[i]; k++)
            if (blocks[i][k] != (uint8_t)(i + 1)) right = -100;
    arena_free(&arena);
    free(blocks);
    return right;
}

// Whether an arena takes the block of `first` bytes again for `second` bytes, after a rewind.
API int probe_taken_again(int64_t first, int64_t second) {
    struct arena arena = {0};
    const void *before = arena_allocate(&arena, first, 1);
    arena_rewind(&arena);
    const void *after = arena_allocate(&arena, second, 1);
    arena_free(&arena);
    return before && before == after;
}

// A linear layer from float32 weights (outputs, inputs), a bias, and a norm before it if `gamma` is given; the first `activated` outputs have
// the activation; `gated`: rows of x have factors of their numbers behind them; `sparse`: inputs that are 0 are left out. Returns a status.
API int32_t probe_linear(const char *isa, const float *weights, int64_t outputs, int64_t inputs, const float *bias, const float *gamma,
                         const float *beta, int32_t activation, int64_t activated, int32_t gated, int32_t sparse, const float *x,
                         int64_t rows, const float *residual, float *to, float *tops) {
    struct arena arena = {0};
    const struct specdec_tensor tensor = {weights, 0, outputs, inputs, SPECDEC_TYPE_F32, 0};
    struct reader reader = {&tensor, 1, 1, &arena, find_kernels(isa), SPECDEC_OK, -1};
    struct linear linear = {0};
    pack_linear(&reader, &linear, &tensor, bias, (struct norm){gamma, beta, 1e-5f});
    uint8_t *bytes = arena_allocate(&arena, rows, inputs);
    struct range *ranges = arena_allocate(&arena, rows, sizeof *ranges);
    float *normed = arena_allocate(&arena, inputs, sizeof *normed);
    if (!reader.status) {
        linear.activation = activation;
        linear.activated = activated;
        linear.gated = gated;
        linear.sparse = sparse;
        for (int64_t row = 0; row < rows; row++) reader.kernels->quantize(&linear, x + row * (gated ? 2 : 1) * inputs, normed, bytes + row * inputs, ranges + row);
        for (int64_t tile = 0; tile < linear.tiles; tile++) {
            const struct product product = {&linear, bytes, ranges, rows, residual, to, tops + tile * rows};
            reader.kernels->multiply(&product, tile);
        }
    }
    arena_free(&arena);
    return reader.status;
}

API int64_t probe_product(int64_t a, int64_t b) { return product_of(a, b); }
API int64_t probe_sum(int64_t a, int64_t b) { return sum_of(a, b); }

// Of the first worker.
API int probe_adaptive_begin(struct specdec_adaptive *all, int64_t rows) { return adaptive_begin(all->of_worker, rows, 0.0); }
API int64_t probe_adaptive_size(struct specdec_adaptive *all, int64_t rows) { return adaptive_size(all->of_worker, rows); }
API void probe_adaptive_count(struct specdec_adaptive *all, int64_t passed) { adaptive_count(all->of_worker, passed); }
API void probe_adaptive_finish(struct specdec_adaptive *all, int64_t size) { adaptive_finish(all->of_worker, size); }

// Work of two parts. The helper sleeps in its part, for which the caller waits in its own.
struct nap {
    atomic_int begun, threads, patience;
};

static void nap(struct member *member, const void *argument) {
    struct nap *own = *(struct nap *const *)argument;
    const struct timespec pause = {0, 20000000};
    if (!member->index) {
        atomic_store(&own->threads, member->threads);
        atomic_store(&own->patience, member->patience);
    }
    SHARED_FOR (member, i, 2) {
        if (member->index) {
            atomic_store(&own->begun, 1);
            nanosleep(&pause, 0);
        }
        for (long looks = 0; member->threads > 1 && !atomic_load(&own->begun) && looks < 1000000; looks++) sched_yield();
    }
}

// The patience in a piece of work in which the helper is delayed, and in the next one, and the threads of the latter.
API void probe_delay(int *threads, int *before, int *after) {
    struct nap own = {0};
    struct nap *const argument = &own;
    struct team *team = team_open();
    team_borrow(team, 2);
    team_start(team);
    team_run(team, 1 << 30, nap, &argument, sizeof argument);
    *before = atomic_load(&own.patience);
    team_run(team, 1 << 30, nap, &argument, sizeof argument);
    team_give_back(team);
    team_close(team);
    *after = atomic_load(&own.patience);
    *threads = atomic_load(&own.threads);
}

// Work that takes long with one thread (`alone` is 1) or with several (0), and how many threads it had.
struct slow {
    int alone, threads;
};

static void work_slowly(struct member *member, const void *argument) {
    struct slow *own = *(struct slow *const *)argument;
    const struct timespec pause = {0, 50000000};
    if (member->index) return;
    own->threads = member->threads;
    if (own->alone == (member->threads == 1)) nanosleep(&pause, 0);
}

// Runs `count` pieces of work after a delay, and stores in `threads` how many threads each had. The work takes long if it is done by one
// thread (`alone` is 1) or by two (`alone` is 0).
API void probe_turns(int alone, int count, int *threads) {
    struct nap delay = {0};
    struct slow own = {alone, 0};
    struct nap *const delayed = &delay;
    struct slow *const argument = &own;
    struct team *team = team_open();
    team_borrow(team, 2);
    team_start(team);
    team_run(team, 1 << 30, nap, &delayed, sizeof delayed);
    for (int i = 0; i < count; i++) {
        team_run(team, 1 << 30, work_slowly, &argument, sizeof argument);
        threads[i] = own.threads;
    }
    team_give_back(team);
    team_close(team);
}

static void count_threads(struct member *member, const void *argument) {
    if (!member->index) **(int *const *)argument = member->threads;
}

// Threads of a piece of work for a session with `fewer` threads, after one with `more`.
API int probe_fewer(int more, int fewer) {
    int found = 0;
    int *const argument = &found;
    struct team *team = team_open();
    team_borrow(team, more);
    team_start(team);
    team_give_back(team);
    team_borrow(team, fewer);
    team_start(team);
    team_run(team, 1 << 30, count_threads, &argument, sizeof argument);
    team_give_back(team);
    team_close(team);
    return found;
}

API void probe_gumbel_noise(int64_t seed, const uint32_t *stream, int64_t position, int32_t count, double *to) {
    const struct noise noise = {seed, stream, position};
    for (int32_t token = 0; token < count; token++) to[token] = gumbel_noise(&noise, token);
}
