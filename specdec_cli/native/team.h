// Threads that share the loops of one piece of work.
//
// All threads run the same function; what they share are its loops (SHARED_FOR), whose turns they take in handfuls from one
// counter. A thread goes on when all turns of a loop are done. It never waits for a thread that has taken none, so a helper
// that the system lets sleep between two handfuls holds up nobody. Waiting spins for a bounded time, then sleeps.
//
// Counters only grow while a team lives: a helper that is late finds nothing left of the work that it comes for. What it reads
// of it outside of a turn is its own copy.

#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

#define HANDFULS 4        // for each thread
#define ARGUMENT_SIZE 256 // bytes of an argument, at most

struct member;
typedef void (*team_work)(struct member *member, const void *argument);

struct team {
    atomic_long generation; // counts pieces of work
    atomic_llong next, done; // turns taken and turns done, of all loops so far
    atomic_long waiting;     // threads that sleep until turns are done
    pthread_mutex_t lock;
    pthread_cond_t wake, progress;
    // Under the lock:
    team_work work;
    int64_t base; // turns before this piece of work
    char argument[ARGUMENT_SIZE];
    int closing, sleeping, threads, helpers;
    pthread_t *members;
    pid_t owner; // the process that the helpers live in
};

// A thread at a piece of work: its place among the threads, and the turns before the loop that it is at.
struct member {
    struct team *team; // NULL: it works alone
    int64_t base;
    int index;
};

// A handful of turns, from `index` to before `end`; `total` in this loop.
struct turns {
    int64_t total, index, end;
};

// A team of so many threads, this one included. Returns 0 without memory.
int team_open(struct team *team, int threads);
void team_close(struct team *team);

// Do `work` on all threads of the team. The argument is copied.
void team_run(struct team *team, team_work work, const void *argument, size_t size);

static inline struct turns first_turns(int64_t total) { return (struct turns){total, 0, 0}; }

// The next handful; in the end, when all turns of the loop are done, none.
int take_turns(struct member *member, struct turns *turns);

// A loop over 0 .. total - 1 whose turns all threads share. It has no break.
#define SHARED_FOR(member, i, total)                                                           \
    for (struct turns turns_##i = first_turns(total); take_turns(member, &turns_##i);) \
        for (int64_t i = turns_##i.index; i < turns_##i.end; i++)
