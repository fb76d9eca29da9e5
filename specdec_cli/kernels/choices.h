#pragma once

#include <stdint.h>

// Where the number `top` stands first in a row that has it.
int64_t place_of(float top, const float *x, int64_t size);

// Of one id by a row's logits, of which `top` is the largest.
float log_probability(const float *logits, int64_t size, float top, int64_t id);
