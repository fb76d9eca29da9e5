// Threads that share loops. Whoever has nothing to do takes the next turn, so a thread that the system lets sleep holds up
// nobody: on a busy machine, waiting for all of them after each of some dozen loops takes a hundred times what the loops take.

#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#define MOST_LOOPS 8192 // in one piece of work
#define HANDFULS 4 // for each thread

#if defined(__x86_64__)
#define PAUSE() __builtin_ia32_pause()
#else
#define PAUSE() ((void)0)
#endif

// The one piece of work that is shared at a time. `open` is its number while helpers may join, else 0.
extern struct team {
    atomic_long open, inside, sleeping, next[MOST_LOOPS], done[MOST_LOOPS];
    long number, wanted, helpers;
    void (*work)(void *);
    void *argument;
    pthread_mutex_t lock, claim;
    pthread_cond_t wake;
} team;

extern __thread int64_t loops; // of this piece of work that this thread has come to; -1: it works alone

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

// Do `work` on so many threads, or alone while another thread's work is shared.
void together(void (*work)(void *), void *argument, int threads);
