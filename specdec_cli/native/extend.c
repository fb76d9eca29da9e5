// Greedy decoding of a few more tokens of each row, for drafts by another model: passes of specdec_verify() without a return to the caller.

#include <string.h>

#include "model.h"
#include "sizes.h"

// Arrays of a call: the outputs with what is written, and the results of a pass.
struct texts {
    int64_t *tokens, *lengths, *drafted, *chosen;
    float *states;
};

static int open_texts(struct arena *arena, struct texts *to, const struct specdec_verification *rows, int64_t width) {
    const int64_t wide = product_of(rows->count, rows->width + 1), all = product_of(rows->count, rows->capacity);
    to->tokens = arena_allocate_unset(arena, all, sizeof *to->tokens);
    to->lengths = arena_allocate_unset(arena, rows->count, sizeof *to->lengths);
    to->drafted = arena_allocate_unset(arena, rows->count, sizeof *to->drafted);
    to->chosen = arena_allocate_unset(arena, wide, sizeof *to->chosen);
    to->states = arena_allocate_unset(arena, product_of(wide, width), sizeof *to->states);
    if (!to->tokens || !to->lengths || !to->drafted || !to->chosen || !to->states) return 0;
    memcpy(to->tokens, rows->tokens, (size_t)all * sizeof *to->tokens);
    memcpy(to->lengths, rows->lengths, (size_t)rows->count * sizeof *to->lengths);
    memcpy(to->drafted, rows->drafted, (size_t)rows->count * sizeof *to->drafted);
    return 1;
}

// Appends to each row what it read in this step and the token that it chose after that. Returns whether a row has no `eos` yet.
static int append(const struct texts *texts, const struct specdec_verification *rows, int64_t eos, int64_t step, int64_t steps, int64_t *written) {
    int goes_on = 0;
    for (int64_t row = 0; row < rows->count; row++) {
        int64_t *tokens = texts->tokens + row * rows->capacity + texts->lengths[row], *of_row = written + row * steps;
        const int64_t read = texts->drafted[row], token = texts->chosen[row * (rows->width + 1) + read];
        for (int64_t i = 0; i < read; i++) tokens[i] = rows->drafts[row * rows->width + i];
        tokens[read] = of_row[step] = step && of_row[step - 1] == eos ? eos : token;
        texts->lengths[row] += read + 1;
        texts->drafted[row] = 0;
        goes_on |= of_row[step] != eos;
    }
    return goes_on;
}

static const char *fault_of_lengths(const struct specdec_verification *rows, int64_t steps) {
    if (!between(rows->count, 0, INT32_MAX)) return "count";
    if (!between(rows->width, 0, INT32_MAX - 1)) return "width";
    if (!between(rows->capacity, 1, INT32_MAX)) return "capacity";
    if (!between(steps, 1, rows->capacity)) return "steps";
    for (int64_t row = 0; row < rows->count; row++) {
        if (!between(rows->drafted[row], 0, rows->width)) return "drafted";
        if (!between(rows->lengths[row], 1, rows->capacity - rows->drafted[row] - steps)) return "lengths";
    }
    return 0;
}

int32_t specdec_extend(const struct specdec_model *model, const struct specdec_verification *rows, int64_t steps, int64_t *written,
                       const char **fault) {
    *fault = fault_of_lengths(rows, steps);
    if (*fault) return SPECDEC_BAD_PASS;
    const int64_t eos = model->shape.eos;
    struct arena arena = {0};
    struct texts texts;
    int32_t status = open_texts(&arena, &texts, rows, model->output.inputs) ? SPECDEC_OK : SPECDEC_NO_MEMORY;
    for (int64_t i = 0; i < rows->count * steps; i++) written[i] = eos;
    for (int64_t step = 0, goes_on = 1; status == SPECDEC_OK && goes_on && step < steps; step++) {
        struct specdec_verification pass = *rows;
        pass.tokens = texts.tokens;
        pass.lengths = texts.lengths;
        pass.drafted = texts.drafted;
        pass.chosen = texts.chosen;
        pass.states = texts.states;
        status = specdec_verify(model, &pass, fault);
        if (status == SPECDEC_OK) goes_on = append(&texts, rows, eos, step, steps, written);
    }
    arena_free(&arena);
    return status;
}
