// Loops of a piece of work, and how its threads wait for each other.

#include "team.h"

#include <string.h>

#include "clock.h"
#include "helpers.h"
#include "sizes.h"

#ifndef WORTHWHILE
#define WORTHWHILE (1 << 20) // multiplications for which one thread more is worth while
#endif
#define IMPATIENT 64         // after a delay, threads that wait sleep sooner, for 64 times the delay
#define CAUTION 32           // and up to 32 times longer where one delay follows the other,
#define LONGEST 2000000000LL // but never for more nanoseconds
#ifndef TURN
#define TURN 20000000LL // nanoseconds of a turn in which a mode is tried, after a delay; see note_pace()
#endif
#define LONG_TURN 32 // a turn of the faster mode is 32 times as long
enum { TOGETHER, ALONE, FASTER, TURNS };

// Whether the thread is the first to take this part of its loop.
static int is_taken_by(const struct member *member, struct part *part) {
    long long before = atomic_load_explicit(&part->taken, memory_order_relaxed);
    return before < member->loop && atomic_compare_exchange_strong(&part->taken, &before, member->loop);
}

static void report_done(const struct member *member, int part) {
    atomic_store(&member->team->parts[part].done, member->loop);
    if (atomic_load(&member->team->waiting)) wake_waiting(member->team);
}

static void wait_for_parts(const struct member *member) {
    for (int i = 0; i < member->threads; i++) {
        atomic_llong *done = &member->team->parts[i].done;
        int looks = 0;
        for (; looks < member->patience && atomic_load_explicit(done, memory_order_acquire) < member->loop; looks++) PAUSE();
        if (looks == member->patience) sleep_until(member->team, done, member->loop);
    }
}

// The first turn of a part. A loop of fewer turns than threads has them in its first parts, the caller's before all.
static int64_t begin_of(int64_t total, int64_t part, int64_t threads) { return (total * part + threads - 1) / threads; }

int take_turns(struct member *member, struct turns *turns) {
    if (!member->team) {
        const int first = turns->end == 0 && turns->total > 0;
        turns->end = turns->total;
        return first;
    }
    if (turns->tried == 0) member->loop++;
    if (turns->part >= 0) report_done(member, turns->part);
    while (turns->tried < member->threads) {
        const int part = (member->index + turns->tried++) % member->threads;
        if (!is_taken_by(member, member->team->parts + part)) continue;
        turns->part = part;
        turns->index = begin_of(turns->total, part, member->threads);
        turns->end = begin_of(turns->total, part + 1, member->threads);
        return 1;
    }
    wait_for_parts(member);
    return 0;
}

// A helper that copies it meanwhile notices: it reads the number last.
static void publish(struct team *team, const struct work *work) {
    int64_t words[WORDS];
    memcpy(words, work, sizeof words);
    const long long number = atomic_load(&team->number) | 1;
    atomic_store(&team->number, number);
    for (size_t i = 0; i < WORDS; i++) atomic_store_explicit(&team->words[i], words[i], memory_order_release);
    atomic_store(&team->number, number + 1);
}

static void begin_turn(struct team *team, int turn) {
    team->turn = turn;
    team->spent = 0;
    if (turn == TOGETHER) memset(team->paces, 0, sizeof team->paces);
}

// After a delay threads have little patience: for the longer, the less time they worked with patience since the delay before.
static void note_delay(struct team *team, int64_t end, int64_t lost) {
    const int rare = team->together > IMPATIENT * lost;
    team->caution = rare || !team->caution ? 1 : smaller(2 * team->caution, CAUTION);
    team->impatient_until = end + smaller(IMPATIENT * team->caution * lost, LONGEST);
    team->together = 0;
    begin_turn(team, TOGETHER);
}

// Whether the caller alone needed less time for a multiplication than all threads together, in the turns that tried both modes.
static int is_alone_faster(const struct team *team) {
    const struct pace *together = team->paces + TOGETHER, *alone = team->paces + ALONE;
    return (double)alone->time * (double)together->multiplications < (double)together->time * (double)alone->multiplications;
}

// Adds a piece of work to the present turn, and begins the next turn when this one has lasted long enough. While other programs use
// the processors, one thread may be faster than several, which wait for each other. So a turn in which all threads work is followed by
// one in which the caller works alone, and then by a longer one in the faster of these two modes.
static void note_pace(struct team *team, int64_t time, int64_t multiplications) {
    if (team->turn < FASTER) {
        team->paces[team->turn].time += time;
        team->paces[team->turn].multiplications += multiplications;
    }
    team->spent += time;
    if (team->spent >= (team->turn == FASTER ? LONG_TURN * TURN : TURN)) begin_turn(team, (team->turn + 1) % TURNS);
}

static void run_alone(team_work run, const void *argument) {
    struct member member = {0, 0, 0, 1, 0};
    run(&member, argument);
}

// Runs `work` on the caller's thread and the helpers.
static void run_together(struct team *team, struct work *work) {
    struct member member = {team, work->loops, 0, (int)work->threads, (int)work->patience};
    publish(team, work);
    wake_helpers(team, work->threads);
    work->run(&member, work->argument);
    team->loops = member.loop;
}

static void run_with_patience(struct team *team, struct work *work) {
    const int64_t start = nanoseconds_of(CLOCK_MONOTONIC), busy = nanoseconds_of(CLOCK_THREAD_CPUTIME_ID);
    run_together(team, work);
    const int64_t end = nanoseconds_of(CLOCK_MONOTONIC), lost = end - start - (nanoseconds_of(CLOCK_THREAD_CPUTIME_ID) - busy);
    team->together += end - start;
    // Much time without a processor: the caller, or a helper that had begun a part, shares one with other programs.
    if (4 * lost > end - start) note_delay(team, end, lost);
}

void team_run(struct team *team, int64_t multiplications, team_work run, const void *argument, size_t size) {
    const int64_t most = team ? smaller(team->threads, team->hired + 1) : 1, threads = smaller(1 + multiplications / WORTHWHILE, most);
    if (threads < 2) {
        run_alone(run, argument);
        return;
    }
    struct work work = {run, team->loops, threads, PATIENCE, {0}};
    memcpy(work.argument, argument, size);
    const int64_t start = nanoseconds_of(CLOCK_MONOTONIC);
    if (start >= team->impatient_until) {
        run_with_patience(team, &work);
        return;
    }
    work.patience = LITTLE_PATIENCE;
    if (team->turn == ALONE || (team->turn == FASTER && is_alone_faster(team)))
        run_alone(run, argument);
    else
        run_together(team, &work);
    note_pace(team, nanoseconds_of(CLOCK_MONOTONIC) - start, multiplications);
}
