// The threads of a team: how they start, sleep, wake and end.

#include "helpers.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void sleep_until(struct team *team, atomic_llong *counter, int64_t least) {
    pthread_mutex_lock(&team->lock);
    atomic_fetch_add(&team->waiting, 1);
    while (atomic_load(counter) < least) pthread_cond_wait(&team->progress, &team->lock);
    atomic_fetch_sub(&team->waiting, 1);
    pthread_mutex_unlock(&team->lock);
}

void wake_waiting(struct team *team) {
    pthread_mutex_lock(&team->lock);
    pthread_cond_broadcast(&team->progress);
    pthread_mutex_unlock(&team->lock);
}

void wake_helpers(struct team *team, int64_t threads) {
    for (int i = 0; i < threads - 1; i++) {
        struct helper *helper = team->helpers[i];
        if (!atomic_load(&helper->asleep)) continue;
        pthread_mutex_lock(&team->lock);
        pthread_cond_signal(&helper->wake);
        pthread_mutex_unlock(&team->lock);
    }
}

static int is_there_work(struct team *team, int64_t last) {
    const int64_t number = atomic_load(&team->number);
    return atomic_load(&team->closing) || (number != last && number % 2 == 0);
}

static void wait_for_work(struct helper *helper, int64_t last, int64_t patience) {
    struct team *team = helper->team;
    for (int64_t looks = 0; looks < patience; looks++) {
        if (is_there_work(team, last)) return;
        PAUSE();
    }
    pthread_mutex_lock(&team->lock);
    atomic_store(&helper->asleep, 1);
    while (!is_there_work(team, last)) pthread_cond_wait(&helper->wake, &team->lock);
    atomic_store(&helper->asleep, 0);
    pthread_mutex_unlock(&team->lock);
}

// Copies the work of this number. Returns 0 if it changed meanwhile.
static int copy_work(struct team *team, int64_t number, struct work *work) {
    int64_t words[WORDS];
    for (size_t i = 0; i < WORDS; i++) words[i] = atomic_load_explicit(&team->words[i], memory_order_acquire);
    memcpy(work, words, sizeof words);
    return atomic_load(&team->number) == number;
}

static void leave(struct team *team) {
    if (atomic_fetch_add(&team->resting, 1) == -1 && atomic_load(&team->waiting)) wake_waiting(team);
}

static void *help(void *given) {
    struct helper *helper = given;
    struct team *team = helper->team;
    int64_t last = helper->joined, patience = PATIENCE;
    for (;;) {
        wait_for_work(helper, last, patience);
        if (atomic_load(&team->closing)) return 0;
        atomic_fetch_sub(&team->resting, 1); // before the number is read again: see team_give_back()
        struct work work;
        const int64_t number = atomic_load(&team->number);
        if (number % 2 == 0 && number != last && copy_work(team, number, &work)) {
            last = number;
            patience = work.patience;
            struct member member = {team, work.loops, helper->index, (int)work.threads, (int)work.patience};
            if (helper->index < work.threads) work.run(&member, work.argument);
        }
        leave(team);
    }
}

int start_thread(pthread_t *thread, void *(*run)(void *), void *argument) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int failed = pthread_create(thread, 0, run, argument);
    pthread_sigmask(SIG_SETMASK, &before, 0);
    return !failed;
}

static int make_locks(struct team *team) {
    return !pthread_mutex_init(&team->lock, 0) && !pthread_cond_init(&team->progress, 0);
}

struct team *team_open(void) {
    void *address = 0;
    if (posix_memalign(&address, CACHE_LINE, sizeof(struct team))) return 0;
    struct team *team = memset(address, 0, sizeof *team);
    team->owner = getpid();
    if (make_locks(team)) return team;
    free(team);
    return 0;
}

// In a child process: none of the parent's threads is there, and its locks may be held for ever.
static void begin_anew(struct team *team) {
    team->owner = getpid();
    team->hired = 0;
    team->impatient_until = team->together = team->caution = 0;
    // The parent may have been in the middle of a loop, which moved the parts on.
    team->loops = 0;
    if (team->parts) memset(team->parts, 0, ((size_t)team->most + 1) * sizeof *team->parts);
    atomic_store(&team->waiting, 0);
    atomic_store(&team->resting, 0);
    atomic_store(&team->lent, 0);
    make_locks(team);
}

int team_borrow(struct team *team, int threads) {
    if (team->owner != getpid()) begin_anew(team);
    if (atomic_exchange(&team->lent, 1)) return 0;
    team->threads = threads;
    return 1;
}

// Room for as many helpers as are asked for, while all rest.
static int allocate_parts(struct team *team) {
    const size_t most = (size_t)team->threads - 1;
    if ((size_t)team->most >= most) return 1;
    void *parts = 0;
    struct helper **helpers = realloc(team->helpers, most * sizeof *helpers);
    if (!helpers) return 0;
    team->helpers = helpers;
    if (posix_memalign(&parts, CACHE_LINE, (most + 1) * sizeof *team->parts)) return 0;
    memset(helpers + team->most, 0, (most - (size_t)team->most) * sizeof *helpers);
    free(team->parts);
    team->parts = memset(parts, 0, (most + 1) * sizeof *team->parts);
    team->most = (int)most;
    return 1;
}

void team_start(struct team *team) {
    if (!allocate_parts(team)) return;
    for (; team->hired < team->threads - 1; team->hired++) {
        struct helper **address = team->helpers + team->hired, *helper = *address ? *address : malloc(sizeof *helper);
        if (!helper) return;
        *address = helper;
        memset(helper, 0, sizeof *helper);
        helper->team = team;
        helper->index = team->hired + 1;
        helper->joined = atomic_load(&team->number);
        if (pthread_cond_init(&helper->wake, 0) || !start_thread(&helper->thread, help, helper)) return;
    }
}

void team_give_back(struct team *team) {
    atomic_fetch_or(&team->number, 1); // nobody joins from here on
    for (int looks = 0; looks < PATIENCE && atomic_load(&team->resting) < 0; looks++) PAUSE();
    if (atomic_load(&team->resting) < 0) sleep_until(team, &team->resting, 0);
    atomic_store(&team->lent, 0);
}

void team_close(struct team *team) {
    if (!team) return;
    if (team->owner == getpid()) {
        atomic_store(&team->closing, 1);
        wake_helpers(team, team->hired + 1);
        for (int i = 0; i < team->hired; i++) pthread_join(team->helpers[i]->thread, 0);
    }
    for (int i = 0; i < team->most; i++) free(team->helpers[i]);
    free(team->helpers);
    free(team->parts);
    free(team);
}
