#include "sampling.h"

#include <math.h>

#define ROUNDS 10
#define TERMS 11
#define LOG_2 0.69314718055994530942
#define MORE_THAN_LOG_2 0.6931471806
#define WORDS 4 // random words of a block, one for each of as many tokens

static uint32_t high_of(uint64_t product) { return (uint32_t)(product >> 32); }

// Philox4x32-10 (Salmon et al. 2011): random words for the tokens from WORDS * block on.
static void random_words(const struct noise *noise, uint32_t block, uint32_t words[WORDS]) {
    uint32_t a = block, b = (uint32_t)noise->position, c = (uint32_t)noise->stream[0], d = (uint32_t)noise->stream[1];
    uint32_t key_0 = (uint32_t)noise->seed, key_1 = high_of((uint64_t)noise->seed);
    for (int round = 0; round < ROUNDS; round++) {
        const uint64_t product_0 = (uint64_t)a * 0xD2511F53u, product_1 = (uint64_t)c * 0xCD9E8D57u;
        a = high_of(product_1) ^ b ^ key_0;
        c = high_of(product_0) ^ d ^ key_1;
        b = (uint32_t)product_1;
        d = (uint32_t)product_0;
        key_0 += 0x9E3779B9u;
        key_1 += 0xBB67AE85u;
    }
    words[0] = a;
    words[1] = b;
    words[2] = c;
    words[3] = d;
}

static double logarithm(double x) {
    int exponent;
    double mantissa = frexp(x, &exponent);
    if (mantissa < sqrt(0.5)) {
        mantissa *= 2.0;
        exponent--;
    }
    const double ratio = (mantissa - 1.0) / (mantissa + 1.0), square = ratio * ratio;
    double series = 1.0 / (2 * TERMS - 1);
    for (int term = TERMS - 2; term >= 0; term--) series = series * square + 1.0 / (2 * term + 1);
    return (double)exponent * LOG_2 + (ratio * 2.0) * series;
}

static double noise_of(uint32_t word) { return -logarithm(-logarithm(((double)word + 0.5) * 0x1p-32)); }

// An upper bound of `noise_of`: -log(u) is at least 1 - u, and 1 - u at least half the power of two above it.
static double most_noise(uint32_t word) {
    const int bits = ~word ? 32 - __builtin_clz(~word) : 0;
    return (33 - bits) * MORE_THAN_LOG_2;
}

double gumbel_noise(const struct noise *noise, int32_t token) {
    uint32_t words[WORDS];
    random_words(noise, (uint32_t)token / WORDS, words);
    return noise_of(words[token % WORDS]);
}

// The best token so far.
struct sample {
    double score;
    int64_t token;
};

// Draws the noise of tokens that may still win; that of most tokens is known to be too small without its logarithms.
static void draw_block(const struct logits *logits, int64_t i, int64_t first, float least, double scale, const struct noise *noise,
                       struct sample *best) {
    const float *values = logits->values + i * logits->size;
    const int64_t end = first + WORDS < logits->size ? first + WORDS : logits->size;
    float top = values[first];
    for (int64_t token = first + 1; token < end; token++) top = values[token] > top ? values[token] : top;
    if (!(top >= least) || (double)top * scale + most_noise(UINT32_MAX) < best->score) return;
    uint32_t words[WORDS];
    random_words(noise, (uint32_t)(first / WORDS), words);
    for (int64_t token = first; token < end; token++) {
        const double scaled = (double)values[token] * scale;
        if (!(values[token] >= least) || scaled + most_noise(words[token - first]) < best->score) continue;
        const double score = scaled + noise_of(words[token - first]);
        if (score > best->score || (score == best->score && token < best->token)) *best = (struct sample){score, token};
    }
}

int32_t sampled_choice(const struct logits *logits, int64_t i, const struct specdec_acceptance *rule, const struct noise *noise) {
    const double scale = 1.0 / rule->temperature;
    const int32_t likely = first_choice(logits, i);
    const float least = rule->top_k ? kth_best(logits, i, rule->top_k) : -INFINITY;
    struct sample best = {-INFINITY, likely};
    draw_block(logits, i, likely / WORDS * WORDS, least, scale, noise, &best); // a high score to begin with
    for (int64_t first = 0; first < logits->size; first += WORDS) {
        const float top = logits->tops[first / TILE * logits->count + i];
        if (first % TILE == 0 && (!(top >= least) || (double)top * scale + most_noise(UINT32_MAX) < best.score)) first += TILE - WORDS;
        else draw_block(logits, i, first, least, scale, noise, &best);
    }
    return (int32_t)best.token;
}
