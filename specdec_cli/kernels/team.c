#include "team.h"

#define MOST_HELPERS 255
#define PATIENCE 20000 // looks for work before a helper goes to sleep

struct team team = {.lock = PTHREAD_MUTEX_INITIALIZER, .claim = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};
__thread int64_t loops = -1;

static void *help(void *own_number) {
    const long own = (long)(intptr_t)own_number;
    long last = 0;
    for (;;) {
        long open = 0;
        for (int looks = 0; looks < PATIENCE && (!(open = atomic_load(&team.open)) || open == last); looks++) PAUSE();
        if (!open || open == last) {
            pthread_mutex_lock(&team.lock);
            atomic_fetch_add(&team.sleeping, 1);
            while (!(open = atomic_load(&team.open)) || open == last) pthread_cond_wait(&team.wake, &team.lock);
            atomic_fetch_sub(&team.sleeping, 1);
            pthread_mutex_unlock(&team.lock);
        }
        last = open;
        atomic_fetch_add(&team.inside, 1);
        // Once inside, an open piece of work stays until this thread has left.
        if (atomic_load(&team.open) == open && own < team.wanted) {
            loops = 0;
            team.work(team.argument);
        }
        atomic_fetch_sub(&team.inside, 1);
    }
    return 0;
}

static void hire(long wanted) {
    for (; team.helpers < wanted && team.helpers < MOST_HELPERS; team.helpers++) {
        pthread_t thread;
        if (pthread_create(&thread, 0, help, (void *)(intptr_t)team.helpers)) return;
        pthread_detach(thread);
    }
}

void together(void (*work)(void *), void *argument, int threads) {
    loops = -1;
    if (threads < 2 || pthread_mutex_trylock(&team.claim)) {
        work(argument);
        return;
    }
    hire(threads - 1);
    team.work = work;
    team.argument = argument;
    team.wanted = threads - 1;
    atomic_store(&team.open, ++team.number);
    if (atomic_load(&team.sleeping)) {
        pthread_mutex_lock(&team.lock);
        pthread_cond_broadcast(&team.wake);
        pthread_mutex_unlock(&team.lock);
    }
    loops = 0;
    work(argument);
    atomic_store(&team.open, 0);
    while (atomic_load(&team.inside)) PAUSE();
    for (int64_t i = 0; i < loops; i++) {
        atomic_store_explicit(&team.next[i], 0, memory_order_relaxed);
        atomic_store_explicit(&team.done[i], 0, memory_order_relaxed);
    }
    loops = -1;
    pthread_mutex_unlock(&team.claim);
}
