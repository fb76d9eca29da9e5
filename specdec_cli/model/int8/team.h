// Threads that share loops. Whoever has nothing to do takes the next turn, so a thread that the system lets sleep holds up
// nobody: on a busy machine, waiting for all of them after each of some dozen loops takes a hundred times what the loops take.

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#define MOST_LOOPS 8192 // in one piece of work
#define MOST_HELPERS 255
#define HANDFULS 4 // for each thread
#define PATIENCE 20000 // looks for work before a helper goes to sleep

#if defined(__x86_64__)
#define PAUSE() __builtin_ia32_pause()
#else
#define PAUSE() ((void)0)
#endif

// The one piece of work that is shared at a time. `open` is its number while helpers may join, else 0.
static struct {
    atomic_long open, inside, sleeping, next[MOST_LOOPS], done[MOST_LOOPS];
    long number, wanted, helpers;
    void (*work)(void *);
    void *argument;
    pthread_mutex_t lock, claim;
    pthread_cond_t wake;
} team = {.lock = PTHREAD_MUTEX_INITIALIZER, .claim = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};

static __thread int64_t loops = -1; // of this piece of work that this thread has come to; -1: it works alone

// Turns come in handfuls of `step`, from `index` to before `end`.
struct turn {
    int64_t total, step, index, end, loop;
};

static inline struct turn first_turn(int64_t total) {
    if (loops < 0) return (struct turn){total, total, -total, 0, -1};
    return (struct turn){total, total / (HANDFULS * (team.wanted + 1)) + 1, 0, 0, loops++};
}

// The next handful; in the end, when nobody is at a turn of this loop any more, none.
static inline int next_turn(struct turn *turn) {
    if (turn->loop < 0) {
        turn->index += turn->step;
        turn->end = turn->total;
        return turn->index < turn->total;
    }
    if (turn->end > turn->index) atomic_fetch_add_explicit(&team.done[turn->loop], turn->end - turn->index, memory_order_release);
    turn->index = atomic_fetch_add_explicit(&team.next[turn->loop], turn->step, memory_order_relaxed);
    if (turn->index < turn->total) {
        turn->end = turn->index + turn->step < turn->total ? turn->index + turn->step : turn->total;
        return 1;
    }
    while (atomic_load_explicit(&team.done[turn->loop], memory_order_acquire) < turn->total) PAUSE();
    return 0;
}

// A loop over 0 .. total - 1 whose turns all threads of the work share. It has no break.
#define SHARED_FOR(i, total)                                               \
    for (struct turn turn_##i = first_turn(total); next_turn(&turn_##i);) \
        for (int64_t i = turn_##i.index; i < turn_##i.end; i++)

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

// Do `work` on so many threads, or alone while another thread's work is shared.
static void together(void (*work)(void *), void *argument, int threads) {
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
