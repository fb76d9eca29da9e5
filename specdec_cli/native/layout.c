// What a binding must agree on.

#include <stddef.h>

#include "specdec.h"

int32_t specdec_layout(int32_t *values, int32_t room) {
    const int32_t own[] = {
        SPECDEC_VERSION,
        sizeof(struct specdec_shape),
        sizeof(struct specdec_tensor),
        sizeof(struct specdec_options),
        sizeof(struct specdec_output),
        sizeof(struct specdec_hypothesis),
        sizeof(struct specdec_costs),
        offsetof(struct specdec_shape, mask),
        offsetof(struct specdec_tensor, type),
        offsetof(struct specdec_options, recorded),
        offsetof(struct specdec_options, length_penalty),
        offsetof(struct specdec_options, word_starts),
        offsetof(struct specdec_options, adaptive),
        offsetof(struct specdec_options, prefix_lengths),
        offsetof(struct specdec_options, memory),
        offsetof(struct specdec_output, log_probabilities),
        offsetof(struct specdec_hypothesis, log_probability),
        SPECDEC_INT8,
        SPECDEC_SILU,
        SPECDEC_NGRAM_MEMORY,
        SPECDEC_NEAREST,
        SPECDEC_STOP_FAIRSEQ,
        SPECDEC_UNKNOWN_ISA,
    };
    const int32_t count = sizeof own / sizeof *own;
    for (int32_t i = 0; i < count && i < room; i++) values[i] = own[i];
    return count;
}
