// How fast threads together read weights, and multiply bytes: prints bytes per second and multiplications per second.
//
// Usage: speed THREADS BYTES
// The weights have BYTES bytes, of which each of THREADS threads reads a part of its own, over and over. Products are of numbers in
// registers, by the instruction that the engine uses.

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
#include "vectors.h"

#define ROUNDS 400
#define TIMES 20000 // instructions for each sum of a round

typedef int64_t words __attribute__((vector_size(32)));

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
    words first = {0}, second = {0}, third = {0}, fourth = {0};
    const words *part = (const words *)from, *end = (const words *)(from + shared.size);
    for (; part < end; part += 4) {
        first += part[0];
        second += part[1];
        third += part[2];
        fourth += part[3];
    }
    const words sum = first + second + third + fourth;
    return sum[0] + sum[1] + sum[2] + sum[3];
}

#if defined(ISA_AVX512)
#define PRODUCTS 64 // of an instruction
typedef __m512i sums;
INLINE sums add_products(sums to, sums x) { return _mm512_dpbusd_epi32(to, x, x); }
#elif defined(ISA_AVX_VNNI)
#define PRODUCTS 32
typedef __m256i sums;
INLINE sums add_products(sums to, sums x) { return _mm256_dpbusd_avx_epi32(to, x, x); }
#elif defined(ISA_AVX2)
#define PRODUCTS 32
typedef __m256i sums;
// The products depend on the sum, or the compiler would compute them once.
INLINE sums add_products(sums to, sums x) { return _mm256_add_epi32(to, _mm256_madd_epi16(_mm256_maddubs_epi16(to, x), x)); }
#elif defined(ISA_NEON)
#define PRODUCTS 16
typedef int32x4_t sums;
INLINE sums add_products(sums to, sums x) { return vdotq_s32(to, vreinterpretq_s8_s32(x), vreinterpretq_s8_s32(x)); }
#else
#error "no products of bytes are known for this processor"
#endif

#define CHAINS 12 // sums in separate registers: a multiplication need not wait for the result of the one before it

// Products of numbers in registers, which the compiler does not know.
static void multiply_numbers(const int8_t *from) {
    sums all_sums[CHAINS], x;
    memcpy(all_sums, from, sizeof all_sums);
    memcpy(&x, from, sizeof x);
    for (int i = 0; i < TIMES; i++) {
#pragma GCC unroll 12
        for (int chain = 0; chain < CHAINS; chain++) all_sums[chain] = add_products(all_sums[chain], x);
    }
    __asm__ volatile("" : : "r"(all_sums) : "memory"); // all of them are needed
}

// A round ends when all threads have done their part; the first thread has the time.
#define LEAST_SECONDS(least, first, work)                                  \
    for (int round = 0; round < ROUNDS; round++) {                         \
        pthread_barrier_wait(&shared.barrier);                                \
        const double started = now();                                      \
        work;                                                              \
        pthread_barrier_wait(&shared.barrier);                                \
        if ((first) && now() - started < (least)) least = now() - started; \
    }

static void *run(void *number) {
    const int64_t index = (int64_t)(intptr_t)number;
    const int8_t *part = shared.weights + index * shared.size;
    volatile int64_t sink = 0;
    LEAST_SECONDS(shared.reading, index == 0, sink += read_part(part))
    LEAST_SECONDS(shared.multiplying, index == 0, multiply_numbers(part))
    return 0;
}

int main(int count, char **arguments) {
    if (count != 3) return 2;
    shared.threads = atoi(arguments[1]);
    shared.size = atoll(arguments[2]) / shared.threads / 256 * 256;
    shared.reading = shared.multiplying = 1e9;
    pthread_t threads[64];
    if (shared.threads < 1 || shared.threads > 64 || shared.size < CHAINS * 64) return 2;
    if (posix_memalign((void **)&shared.weights, 64, (size_t)(shared.threads * shared.size))) return 1;
    memset(shared.weights, 1, (size_t)(shared.threads * shared.size));
    pthread_barrier_init(&shared.barrier, 0, (unsigned)shared.threads);
    for (int i = 1; i < shared.threads; i++)
        if (pthread_create(threads + i, 0, run, (void *)(intptr_t)i)) return 1;
    run(0);
    for (int i = 1; i < shared.threads; i++) pthread_join(threads[i], 0);
    const double products = (double)shared.threads * TIMES * CHAINS * PRODUCTS;
    printf("%.6g %.6g\n", (double)(shared.threads * shared.size) / shared.reading, products / shared.multiplying);
    return 0;
}
