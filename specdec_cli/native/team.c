#include "team.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATIENCE 4000 // looks before a thread goes to sleep

#if defined(__x86_64__)
#define PAUSE() __builtin_ia32_pause()
#else
#define PAUSE() ((void)0)
#endif

static void wait_for(struct team *team, int64_t turns) {
    for (int looks = 0; looks < PATIENCE; looks++) {
        if (atomic_load_explicit(&team->done, memory_order_acquire) >= turns) return;
        PAUSE();
    }
    pthread_mutex_lock(&team->lock);
    atomic_fetch_add(&team->waiting, 1);
    while (atomic_load(&team->done) < turns) pthread_cond_wait(&team->progress, &team->lock);
    atomic_fetch_sub(&team->waiting, 1);
    pthread_mutex_unlock(&team->lock);
}

static void report_done(struct team *team, int64_t turns) {
    atomic_fetch_add(&team->done, turns);
    if (!atomic_load(&team->waiting)) return;
    pthread_mutex_lock(&team->lock);
    pthread_cond_broadcast(&team->progress);
    pthread_mutex_unlock(&team->lock);
}

int take_turns(struct member *member, struct turns *turns) {
    struct team *team = member->team;
    if (!team) {
        const int first = turns->end == 0 && turns->total > 0;
        turns->end = turns->total;
        return first;
    }
    if (turns->end > turns->index) report_done(team, turns->end - turns->index);
    const int64_t end = member->base + turns->total, step = turns->total / (HANDFULS * team->threads) + 1;
    long long next = atomic_load_explicit(&team->next, memory_order_relaxed);
    while (next < end) {
        const int64_t after = next + step < end ? next + step : end;
        if (!atomic_compare_exchange_weak_explicit(&team->next, &next, after, memory_order_acq_rel, memory_order_relaxed)) continue;
        turns->index = next - member->base;
        turns->end = after - member->base;
        return 1;
    }
    wait_for(team, end);
    member->base = end;
    return 0;
}

// The piece of work after number `last`, copied; 0: the team is closing.
static long join(struct team *team, long last, team_work *work, struct member *member, void *argument) {
    for (int looks = 0; looks < PATIENCE && atomic_load_explicit(&team->generation, memory_order_acquire) == last; looks++) PAUSE();
    pthread_mutex_lock(&team->lock);
    team->sleeping++;
    while (!team->closing && atomic_load(&team->generation) == last) pthread_cond_wait(&team->wake, &team->lock);
    team->sleeping--;
    const long now = team->closing ? 0 : atomic_load(&team->generation);
    *work = team->work;
    member->base = team->base;
    memcpy(argument, team->argument, ARGUMENT_SIZE);
    pthread_mutex_unlock(&team->lock);
    return now;
}

struct start {
    struct team *team;
    int index;
    long generation;
};

static void *help(void *given) {
    const struct start start = *(struct start *)given;
    free(given);
    struct member member = {start.team, 0, start.index};
    _Alignas(16) char argument[ARGUMENT_SIZE];
    team_work work;
    for (long last = start.generation; (last = join(start.team, last, &work, &member, argument));) work(&member, argument);
    return 0;
}

// Starts helpers that are missing; with fewer the team is smaller. A child process has none of its parent's.
static void hire(struct team *team) {
    if (team->owner != getpid()) {
        team->owner = getpid();
        team->helpers = team->sleeping = 0;
        atomic_store(&team->waiting, 0);
        pthread_mutex_init(&team->lock, 0);
        pthread_cond_init(&team->wake, 0);
        pthread_cond_init(&team->progress, 0);
    }
    for (; team->helpers < team->threads - 1; team->helpers++) {
        struct start *start = malloc(sizeof *start);
        if (!start) return;
        *start = (struct start){team, team->helpers + 1, atomic_load(&team->generation)};
        if (pthread_create(&team->members[team->helpers], 0, help, start)) {
            free(start);
            return;
        }
    }
}

void team_run(struct team *team, team_work work, const void *argument, size_t size) {
    struct member member = {team->threads > 1 ? team : 0, 0, 0};
    if (!member.team) {
        work(&member, argument);
        return;
    }
    hire(team);
    pthread_mutex_lock(&team->lock);
    // All turns so far are done: nobody takes one before the next work is open.
    member.base = team->base = atomic_load(&team->next);
    team->work = work;
    memcpy(team->argument, argument, size);
    atomic_fetch_add(&team->generation, 1);
    const int asleep = team->sleeping;
    pthread_mutex_unlock(&team->lock);
    if (asleep) pthread_cond_broadcast(&team->wake);
    work(&member, argument);
}

int team_open(struct team *team, int threads) {
    memset(team, 0, sizeof *team);
    team->threads = threads;
    atomic_store(&team->generation, 1);
    team->members = calloc((size_t)threads, sizeof *team->members);
    return team->members != 0;
}

void team_close(struct team *team) {
    if (team->helpers && team->owner == getpid()) {
        pthread_mutex_lock(&team->lock);
        team->closing = 1;
        pthread_cond_broadcast(&team->wake);
        pthread_mutex_unlock(&team->lock);
        for (int i = 0; i < team->helpers; i++) pthread_join(team->members[i], 0);
        pthread_mutex_destroy(&team->lock);
        pthread_cond_destroy(&team->wake);
        pthread_cond_destroy(&team->progress);
    }
    free(team->members);
    team->members = 0;
}
