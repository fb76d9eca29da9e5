// The link between neighbouring slots of a draft: see model/int8/slot_link.py, which chooses the same.

#include <math.h>

#include "session.h"

// One row through a layer without a norm.
static void apply(const struct kernels *kernels, const struct linear *linear, const float *x, const float *residual, uint8_t *bytes,
                  float *to) {
    struct range range;
    kernels->quantize(linear, x, 0, bytes, &range);
    const struct product product = {linear, bytes, &range, 1, residual, to, 0};
    for (int64_t tile = 0; tile < linear->tiles; tile++) kernels->multiply(&product, tile);
}

// An embedding or a row of the output projection, a state, a linked state, and the bytes of one of them.
int64_t link_room(const struct specdec_model *model) {
    const int64_t width = model->target.width, rank = model->drafter.link.width;
    return 2 * width + rank + (width > rank ? width : rank) / (int64_t)sizeof(float);
}

// Returns the candidate of a slot with the highest score; `before` is the token chosen in the slot before. `walk->hidden` has the hidden
// units of the slot before when this is called, and those of this slot when it returns.
static int32_t choose_after(const struct walk *walk, int64_t slot, int32_t before) {
    const struct specdec_model *model = walk->model;
    const struct kernels *kernels = model->kernels;
    const struct link *link = &model->drafter.link;
    const int64_t width = model->target.width, rank = link->width;
    float *hidden = walk->hidden, *row = walk->room, *state = row + width, *units = state + width, best = -INFINITY;
    uint8_t *bytes = (uint8_t *)(units + rank);
    widen_row(kernels, &model->target.tokens, before, row);
    for (int64_t i = 0; i < width; i++) row[i] *= model->target.scale;
    apply(kernels, &link->from_token, row, 0, bytes, units);
    for (int64_t i = 0; i < rank; i++) units[i] += walk->narrow[slot * rank + i];
    if (link->recurrent.outputs) apply(kernels, &link->recurrent, hidden, units, bytes, units);
    for (int64_t i = 0; i < rank; i++) hidden[i] = units[i] > 0.0f ? units[i] : 0.0f;
    apply(kernels, &link->output, hidden, walk->states + slot * width, bytes, state);
    const int32_t *candidates = walk->best + slot * link->candidates;
    int32_t chosen = candidates[0];
    for (int64_t i = 0; i < link->candidates; i++) {
        widen_row(kernels, &model->output_rows, candidates[i], row);
        const float score = kernels->dot(state, row, width) + model->output.bias[candidates[i]];
        if (!(score > best)) continue;
        best = score;
        chosen = candidates[i];
    }
    return chosen;
}

void walk_slots(const struct walk *walk, int32_t *ids) {
    const struct link *link = &walk->model->drafter.link;
    for (int64_t slot = 0; slot < walk->block; slot++) {
        if (slot && link->width) ids[slot] = choose_after(walk, slot, ids[slot - 1]);
        else ids[slot] = walk->best[slot * (link->width ? link->candidates : 1)];
    }
}
