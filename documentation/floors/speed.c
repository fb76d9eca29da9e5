// How fast threads together read weights, and multiply bytes: prints bytes per second and multiplications per second.
//
// Usage: speed THREADS BYTES
// The weights have so many bytes, of which each thread reads a part of its own, over and over. Products are those of the engine
// (products.h) with a tile of weights that stays in the first cache.

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(__AVX512VNNI__)
#define ISA_AVX512
#elif defined(__AVX2__)
#define ISA_AVX2
#if defined(__AVXVNNI__)
#define ISA_AVX_VNNI
#endif
#elif defined(__ARM_FEATURE_DOTPROD)
#define ISA_NEON
#endif
#include "products.h"

#define ROUNDS 400
#define INPUTS 512
#define TIMES 64 // products of a round

typedef int64_t words __attribute__((vector_size(64)));

static struct {
    int threads;
    int64_t size; // bytes of a thread's part
    int8_t *weights;
    pthread_barrier_t barrier;
    double reading, multiplying; // the least seconds of a round
} shared;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int64_t read_part(const int8_t *from) {
    words sums[4] = {{0}};
    const words *part = (const words *)from, *end = (const words *)(from + shared.size);
    for (; part < end; part += 4)
        for (int i = 0; i < 4; i++) sums[i] += part[i];
    const words sum = sums[0] + sums[1] + sums[2] + sums[3];
    return sum[0] + sum[1] + sum[2] + sum[3] + sum[4] + sum[5] + sum[6] + sum[7];
}

static int64_t multiply_tile(const uint8_t *x, const int8_t *weights, const int32_t *sums) {
    int32_t to[ROWS * TILE];
    for (int i = 0; i < TIMES; i++) {
        multiply_rows(x, INPUTS, weights, sums, ROWS, to);
        __asm__ volatile("" : : "r"(to) : "memory"); // all sums are computed, each time
    }
    return to[0];
}

// A round ends when all threads have done their part; the first thread has the time.
#define LEAST_SECONDS(least, first, work)                                  \
    for (int round = 0; round < ROUNDS; round++) {                         \
        pthread_barrier_wait(&shared.barrier);                                \
        const double started = now();                                      \
        sink += work;                                                      \
        pthread_barrier_wait(&shared.barrier);                                \
        if ((first) && now() - started < (least)) least = now() - started; \
    }

static void *run(void *number) {
    const int64_t index = (int64_t)(intptr_t)number;
    const int8_t *part = shared.weights + index * shared.size;
    static const int32_t sums[TILE];
    uint8_t x[ROWS * INPUTS];
    _Alignas(64) int8_t tile[INPUTS * TILE];
    memset(x, 1, sizeof x);
    memset(tile, 1, sizeof tile);
    volatile int64_t sink = 0;
    LEAST_SECONDS(shared.reading, index == 0, read_part(part))
    LEAST_SECONDS(shared.multiplying, index == 0, multiply_tile(x, tile, sums))
    return 0;
}

int main(int count, char **arguments) {
    if (count != 3) return 2;
    shared.threads = atoi(arguments[1]);
    shared.size = atoll(arguments[2]) / shared.threads / 256 * 256;
    shared.reading = shared.multiplying = 1e9;
    pthread_t threads[64];
    if (shared.threads < 1 || shared.threads > 64 || shared.size < 256) return 2;
    if (posix_memalign((void **)&shared.weights, 64, (size_t)(shared.threads * shared.size))) return 1;
    memset(shared.weights, 1, (size_t)(shared.threads * shared.size));
    pthread_barrier_init(&shared.barrier, 0, (unsigned)shared.threads);
    for (int i = 1; i < shared.threads; i++)
        if (pthread_create(threads + i, 0, run, (void *)(intptr_t)i)) return 1;
    run(0);
    for (int i = 1; i < shared.threads; i++) pthread_join(threads[i], 0);
    const double products = (double)shared.threads * TIMES * ROWS * INPUTS * TILE;
    printf("%.6g %.6g\n", (double)(shared.threads * shared.size) / shared.reading, products / shared.multiplying);
    return 0;
}
