#include "adaptive.h"

#include <math.h>
#include <stdlib.h>

#define MOST_ROWS 8 // of the measured batch
// See decoding/pace.py.
#define PRIOR 0.8
#define WEIGHT 8.0
#define MARGIN 1.1
#define MEMORY 0.99
#define NEGLIGIBLE 1e-3
#define LARGE 1e6
#define MOST_ROUNDS 8
#define RENEWAL 8
#define FIRST_PAUSE 32
#define LONGEST_PAUSE 1024
#define SHORT_PAUSE 4
// Of a trial. Fewer sentences of each kind than FEW say nothing. After fewer than MANY, only a clear difference ends it.
#define FEW 8
#define SOME 24
#define MANY 96
#define LEAST_GAIN 1.05 // tokens per millisecond with drafts, over those without, from which on drafts pay
#define CLEAR_GAIN 1.15
#define CLEAR_LOSS 0.95
#define LARGE_LOSS 0.85 // after FEW sentences
#define MOSTLY 3        // sentences of the kind that seems faster, for one of the other kind

static double at_least_0(double value) { return value > 0.0 ? value : 0.0; }

_Static_assert(sizeof(((struct specdec_costs *)0)->sizes) == SPECDEC_MOST_SIZES * sizeof(int32_t), "as many sizes as are declared");

// The value for some rows on the line through those for 1 row and for MOST_ROWS; it does not fall.
static double value_at(int64_t rows, double one, double most) {
    const double slope = at_least_0(most - one) / (MOST_ROWS - 1);
    return at_least_0(one + slope * (double)(rows - 1));
}

// Milliseconds for drafts of `size` tokens: on lines between the measured sizes, which do not fall; the last one goes on.
static double cost_of(const struct specdec_costs *costs, const double (*times)[SPECDEC_MOST_SIZES], int64_t rows, int64_t size) {
    const int32_t *sizes = costs->sizes;
    double last = value_at(rows, times[0][0], times[1][0]), slope = 0.0;
    for (int32_t i = 1; i < costs->count; i++) {
        const double following = fmax(last, value_at(rows, times[0][i], times[1][i]));
        slope = (following - last) / (double)(sizes[i] - sizes[i - 1]);
        if (size <= sizes[i]) return last + slope * at_least_0((double)(size - sizes[i - 1]));
        last = following;
    }
    return last + slope * at_least_0((double)(size - sizes[costs->count - 1]));
}

static double gain_of(const struct specdec_trial *trial) {
    return (double)trial->tokens[1] * trial->milliseconds[0] / ((double)trial->tokens[0] * trial->milliseconds[1]);
}

int32_t specdec_trial_verdict(const struct specdec_trial *trial) {
    const int64_t *sentences = trial->sentences, count = sentences[0] < sentences[1] ? sentences[0] : sentences[1];
    const double *milliseconds = trial->milliseconds;
    if (count < FEW || !(milliseconds[0] > 0.0 && milliseconds[1] > 0.0)) return 0;
    const double gain = gain_of(trial);
    if (count >= MANY) return gain > LEAST_GAIN ? 1 : -1;
    if (gain < (count < SOME ? LARGE_LOSS : CLEAR_LOSS)) return -1;
    return count >= SOME && gain > CLEAR_GAIN;
}

static int has_trial(const struct adaptive *adaptive, int64_t rows) { return adaptive->all->tries && adaptive->all->may_skip && rows == 1; }

// Whether so many tokens in a round with drafts pay: by the times of the trial, or else by the costs.
static int pays(const struct adaptive *adaptive, int64_t rows, double tokens, double rate) {
    const struct specdec_trial *trial = &adaptive->trial;
    if (!has_trial(adaptive, rows)) return rate > MARGIN / value_at(rows, adaptive->all->costs.plain[0], adaptive->all->costs.plain[1]);
    const double round = trial->milliseconds[1] / (double)trial->rounds, token = trial->milliseconds[0] / (double)trial->tokens[0];
    return tokens * token > LEAST_GAIN * round;
}

static struct size_choice best_size(const struct adaptive *adaptive, int64_t rows) {
    const struct specdec_costs *costs = &adaptive->all->costs;
    const double weight = WEIGHT * adaptive->present;
    double passes = PRIOR, all_pass = 1.0, tokens = 1.0, best = 0.0, best_tokens = 1.0;
    int64_t chosen = 1;
    for (int64_t size = 1; size <= adaptive->all->longest; size++) {
        passes = (adaptive->passed[size - 1] + weight * passes) / (adaptive->asked[size - 1] + weight);
        all_pass *= passes;
        tokens += all_pass;
        const double rate = tokens / (cost_of(costs, costs->verifying, rows, size) + cost_of(costs, costs->drafting, rows, size));
        if (rate > best) {
            chosen = size;
            best = rate;
            best_tokens = tokens;
        }
        if (all_pass < NEGLIGIBLE) break;
    }
    return (struct size_choice){chosen, pays(adaptive, rows, best_tokens, best)};
}

// Computed anew every RENEWAL rounds.
static struct size_choice choice_for(struct adaptive *adaptive, int64_t rows) {
    if (adaptive->rounds_since >= RENEWAL) {
        adaptive->choices++;
        adaptive->rounds_since = 0;
    }
    if (adaptive->round_of_choice[rows] != adaptive->choices) {
        adaptive->chosen[rows] = best_size(adaptive, rows);
        adaptive->round_of_choice[rows] = adaptive->choices;
    }
    return adaptive->chosen[rows];
}

// Whether the next sentence of a trial is drafted: alternately one is and one is not, then most are of the kind that was faster so far.
static int is_tried_with_draft(const struct specdec_trial *trial) {
    const int64_t *sentences = trial->sentences;
    if (sentences[0] < FEW || sentences[1] < FEW) return sentences[1] < sentences[0];
    return gain_of(trial) > 1.0 ? sentences[1] < MOSTLY * sentences[0] : MOSTLY * sentences[1] < sentences[0];
}

static int is_drafted(struct adaptive *adaptive, int64_t rows) {
    if (!adaptive->all->may_skip) return 1;
    if (has_trial(adaptive, rows)) {
        const int32_t verdict = specdec_trial_verdict(&adaptive->trial);
        if (verdict < 0) return 0;
        if (!verdict) return is_tried_with_draft(&adaptive->trial);
    }
    if (choice_for(adaptive, rows).pays) {
        adaptive->pause = SHORT_PAUSE;
        adaptive->skipped = 0;
        return 1;
    }
    if (adaptive->pause > LONGEST_PAUSE || ++adaptive->skipped < adaptive->pause) return 0;
    adaptive->pause *= 2;
    adaptive->skipped = 0;
    return 1;
}

// Caps the weight of what was counted since the last call.
static void cap(const struct adaptive *adaptive, double share, double *sums, double *earlier) {
    for (int64_t slot = 0; slot < adaptive->all->longest; slot++)
        earlier[slot] = sums[slot] = earlier[slot] + share * (sums[slot] - earlier[slot]);
}

int adaptive_begin(struct adaptive *adaptive, int64_t rows, double now) {
    adaptive->began = now;
    adaptive->drafts = is_drafted(adaptive, rows);
    if (!adaptive->drafts) return 0;
    const double lasted = (double)(adaptive->lasted > 1 ? adaptive->lasted : 1);
    const double share = MOST_ROUNDS / lasted < 1.0 ? MOST_ROUNDS / lasted : 1.0;
    cap(adaptive, share, adaptive->asked, adaptive->earlier_asked);
    cap(adaptive, share, adaptive->passed, adaptive->earlier_passed);
    adaptive->lasted = 0;
    adaptive->choices++;
    return 1;
}

void adaptive_end(struct adaptive *adaptive, int64_t rows, int64_t tokens, int64_t rounds, double now) {
    struct specdec_trial *trial = &adaptive->trial;
    if (!has_trial(adaptive, rows) || specdec_trial_verdict(trial) || !(now > adaptive->began)) return;
    trial->sentences[adaptive->drafts]++;
    trial->tokens[adaptive->drafts] += tokens;
    trial->milliseconds[adaptive->drafts] += now - adaptive->began;
    if (adaptive->drafts) trial->rounds += rounds;
    adaptive->choices++; // what pays is computed anew
}

int64_t adaptive_size(struct adaptive *adaptive, int64_t rows) {
    const int64_t size = choice_for(adaptive, rows).size;
    adaptive->rounds_since++;
    return size;
}

static void forget_scale(struct adaptive *adaptive) {
    for (int64_t slot = 0; slot < adaptive->all->longest; slot++) {
        adaptive->earlier_asked[slot] = adaptive->asked[slot] /= adaptive->present;
        adaptive->earlier_passed[slot] = adaptive->passed[slot] /= adaptive->present;
    }
    adaptive->present = 1.0;
}

void adaptive_count(struct adaptive *adaptive, int64_t passed) { adaptive->stopped[passed]++; }

void adaptive_finish(struct adaptive *adaptive, int64_t size) {
    // Instead of scaling all earlier counts by MEMORY, scale the weight of later ones by its inverse.
    adaptive->present /= MEMORY;
    if (adaptive->present > LARGE) forget_scale(adaptive);
    int64_t rows = 0;
    for (int64_t passed = 0; passed <= size; passed++) rows += adaptive->stopped[passed];
    adaptive->lasted++;
    adaptive->drafted_rounds += rows;
    adaptive->drafted_tokens += size * rows;
    for (int64_t slot = 0; slot < size; slot++) {
        adaptive->asked[slot] += adaptive->present * (double)rows;
        rows -= adaptive->stopped[slot];
        adaptive->passed[slot] += adaptive->present * (double)rows;
    }
    for (int64_t passed = 0; passed <= size; passed++) adaptive->stopped[passed] = 0;
}

static int is_time(double milliseconds) { return milliseconds > 0.0 && isfinite(milliseconds); }

static int costs_fit(const struct specdec_costs *costs) {
    if (costs->count < 1 || costs->count > SPECDEC_MOST_SIZES) return 0;
    for (int rows = 0; rows < 2; rows++) {
        if (!is_time(costs->plain[rows])) return 0;
        for (int32_t i = 0; i < costs->count; i++)
            if (!is_time(costs->verifying[rows][i]) || !is_time(costs->drafting[rows][i])) return 0;
    }
    for (int32_t i = 0; i < costs->count; i++)
        if (costs->sizes[i] < (i ? costs->sizes[i - 1] + 1 : 1)) return 0;
    return 1;
}

static int open_each(struct specdec_adaptive *all, struct adaptive *adaptive) {
    double **const sums[] = {&adaptive->asked, &adaptive->passed, &adaptive->earlier_asked, &adaptive->earlier_passed};
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
        *sums[i] = arena_allocate(&all->arena, all->longest, sizeof(double));
        if (!*sums[i]) return 0;
    }
    adaptive->all = all;
    adaptive->present = 1.0;
    adaptive->choices = 1;
    adaptive->pause = FIRST_PAUSE;
    adaptive->stopped = arena_allocate(&all->arena, all->longest + 2, sizeof(int64_t));
    adaptive->round_of_choice = arena_allocate(&all->arena, all->rows + 1, sizeof(int64_t));
    adaptive->chosen = arena_allocate(&all->arena, all->rows + 1, sizeof *adaptive->chosen);
    return adaptive->stopped && adaptive->round_of_choice && adaptive->chosen;
}

int32_t specdec_adaptive_create(const struct specdec_costs *costs, const struct specdec_trial *trial, int32_t longest, int32_t rows,
                                int32_t workers, int32_t may_skip, struct specdec_adaptive **created) {
    *created = 0;
    if (!costs_fit(costs) || longest < 1 || longest > 4096 || rows < 1 || rows > 1 << 16 || workers < 1 || workers > 1024)
        return SPECDEC_BAD_OPTION;
    struct specdec_adaptive *all = calloc(1, sizeof *all);
    if (!all) return SPECDEC_NO_MEMORY;
    *all = (struct specdec_adaptive){*costs, longest, workers, rows, may_skip, trial != 0, 0, {0}};
    all->of_worker = arena_allocate(&all->arena, workers, sizeof *all->of_worker);
    int fits = all->of_worker != 0;
    for (int32_t i = 0; fits && i < workers; i++) fits = open_each(all, all->of_worker + i);
    if (fits && trial) all->of_worker->trial = *trial;
    if (fits) *created = all;
    else specdec_adaptive_destroy(all);
    return fits ? SPECDEC_OK : SPECDEC_NO_MEMORY;
}

void specdec_adaptive_destroy(struct specdec_adaptive *all) {
    if (!all) return;
    arena_free(&all->arena);
    free(all);
}

void specdec_adaptive_trial(const struct specdec_adaptive *all, struct specdec_trial *trial) { *trial = all->of_worker->trial; }

void specdec_adaptive_drafts(const struct specdec_adaptive *all, int64_t *rounds, int64_t *tokens) {
    *rounds = *tokens = 0;
    for (int64_t i = 0; i < all->workers; i++) {
        *rounds += all->of_worker[i].drafted_rounds;
        *tokens += all->of_worker[i].drafted_tokens;
    }
}
