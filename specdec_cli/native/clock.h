// Clocks of the system.

#ifndef SPECDEC_CLOCK_H
#define SPECDEC_CLOCK_H

#include <stdint.h>
#include <time.h>

#define NANOSECONDS 1000000000LL // of a second

static inline int64_t nanoseconds_of(clockid_t id) {
    struct timespec time;
    clock_gettime(id, &time);
    return time.tv_sec * NANOSECONDS + time.tv_nsec;
}

#endif
