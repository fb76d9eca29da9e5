#pragma once

#include <stdint.h>

// Where the largest number of a row stands, the first of them.
int64_t place_of_largest(const float *x, int64_t size);

// Of one id by a row's logits.
float log_probability(const float *logits, int64_t size, int64_t id);
