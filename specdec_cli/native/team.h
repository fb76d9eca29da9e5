// Threads that share the loops of one piece of work.
//
// All threads run the same function; what they share are its loops (SHARED_FOR). A loop has as many parts as there are
// threads. Each thread takes its own part, then those that nobody has taken yet, and goes on when all parts are done. So it
// waits only for threads that have begun a part: a helper that has no processor between two loops delays nobody. One that
// loses its processor during a part delays all. Waiting spins for a bounded time, then sleeps. After a delay threads sleep
// much sooner for a while: the processor of a thread that sleeps is free for the one that it waits for. Until that time is
// over, the caller works alone where this is faster than with the helpers; both are tried in turn.
//
// Loops are numbered, and numbers only grow while a team lives: a helper that is late finds every part of its loop taken.
// What it reads of a piece of work outside of its parts is its own copy, and what that points to must live until
// team_give_back().
//
// A team belongs to a model and is lent to one session at a time. Its helpers are started when they are first needed, and
// again in a child process after fork(). Between sessions they sleep.

#pragma once

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#define ARGUMENT_SIZE 256 // bytes of an argument, at most

struct team;
struct member;
typedef void (*team_work)(struct member *member, const void *argument);

// A thread at a piece of work: its place among the threads, and the number of the loop that it is at.
struct member {
    struct team *team; // NULL: it works alone
    int64_t loop;
    int index, threads, patience; // looks at what it waits for before it sleeps
};

// A part of a loop: the turns from `index` to before `end`. `tried`: how many parts the thread has looked at.
struct turns {
    int64_t total, index, end;
    int tried, part;
};

// Returns NULL if there is no memory.
struct team *team_open(void);
void team_close(struct team *team);

// Lends the team to a session that uses up to `threads` threads, the caller's included. Returns 0 if another session has it.
int team_borrow(struct team *team, int threads);
// Starts the helpers that are missing.
void team_start(struct team *team);
// Returns when no helper is at work any more.
void team_give_back(struct team *team);

// Starts a thread to which the system delivers no signals: they are for the caller's threads. Returns 0 if it cannot.
int start_thread(pthread_t *thread, void *(*run)(void *), void *argument);

// Runs `work` and waits for it. `multiplications` is the number of its products of bytes: the more there are, the more threads of
// the borrowed team take part. Without a team (NULL) the caller works alone. The argument is copied.
void team_run(struct team *team, int64_t multiplications, team_work work, const void *argument, size_t size);

static inline struct turns first_turns(int64_t total) { return (struct turns){total, 0, 0, 0, -1}; }

// Takes the next free part of the loop. Returns 0 when no part is free, after all parts are done.
int take_turns(struct member *member, struct turns *turns);

// A loop over 0 .. total - 1 whose turns all threads share. It has no break.
#define SHARED_FOR(member, i, total)                                                           \
    for (struct turns turns_##i = first_turns(total); take_turns(member, &turns_##i);) \
        for (int64_t i = turns_##i.index; i < turns_##i.end; i++)
