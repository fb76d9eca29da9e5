// What the files of a team share: team.c (loops and pieces of work) and helpers.c (the threads).

#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "sizes.h"
#include "team.h"

#define PATIENCE 4000      // looks before a thread goes to sleep
#define LITTLE_PATIENCE 60 // the same where other programs use the processors

#if defined(__x86_64__)
#define PAUSE() __builtin_ia32_pause()
#elif defined(__aarch64__)
#define PAUSE() __asm__ volatile("yield")
#else
#define PAUSE() ((void)0)
#endif

// A piece of work for the members with an index below `threads`. `loops`: those before it; `patience`: looks before a member sleeps.
struct work {
    team_work run;
    int64_t loops, threads, patience;
    char argument[ARGUMENT_SIZE];
};

#define WORDS (sizeof(struct work) / sizeof(int64_t))

struct helper {
    struct team *team;
    int index;       // from 1 on
    int64_t joined;  // the number of the latest work when it was started
    pthread_t thread;
    pthread_cond_t wake;
    atomic_int asleep;
};

// A part of each loop: the latest loop of which it was taken, and of which it was done.
struct part {
    _Alignas(CACHE_LINE) atomic_llong taken;
    atomic_llong done;
};

// The work of the turns of one mode, together or alone: how many nanoseconds it took, and how many multiplications it had. Their
// ratio says which mode is faster; see note_pace().
struct pace {
    int64_t time, multiplications;
};

struct team {
    // The number of the latest work, and its words. The number is odd while there is none to join.
    _Alignas(CACHE_LINE) atomic_llong number;
    atomic_llong words[WORDS];
    // Threads that sleep until a part is done, or all helpers rest; minus the number of helpers at work.
    _Alignas(CACHE_LINE) atomic_llong resting;
    atomic_int waiting, closing, lent;
    struct part *parts; // as many as threads were ever asked for
    _Alignas(CACHE_LINE) pthread_mutex_t lock;
    pthread_cond_t progress;
    // Used by the borrower alone:
    struct helper **helpers; // `hired` of them, room for `most`
    int threads, hired, most;
    int64_t loops; // begun so far
    int64_t impatient_until;   // in nanoseconds
    int64_t together, caution; // nanoseconds of work with patience since the last delay; see note_delay()
    struct pace paces[2];      // of the modes TOGETHER and ALONE in team.c
    int64_t spent;             // nanoseconds of work in the present turn
    int turn;                  // TOGETHER, ALONE or FASTER
    pid_t owner;   // the process that the helpers live in
};

// Wakes the helpers that sleep among the first `threads` threads, of which the caller's is one.
void wake_helpers(struct team *team, int64_t threads);

// Sleeps until `counter` is at least `least`; whoever changes it calls wake_waiting().
void sleep_until(struct team *team, atomic_llong *counter, int64_t least);
void wake_waiting(struct team *team);
