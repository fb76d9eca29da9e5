// Drafts by a network: one pass over a block for each row. The block attends to the prefix by way of the verifier's states, or of the
// drafter's own states.

#include <math.h>
#include <string.h>

#include "session.h"

// The drafts of a row from its states (block, W) and those projected to the link (block, R). `hidden` (R) has the hidden units of the
// first slot; walk_slots() overwrites them with those of later slots.
struct walk {
    const struct specdec_model *model;
    const float *states, *narrow;
    const int32_t *best;
    int64_t block;
    float *hidden, *room; // link_room() floats of room
};

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

// The drafts of a row, one slot after the other.
static void walk_slots(const struct walk *walk, int32_t *ids) {
    const struct link *link = &walk->model->drafter.link;
    for (int64_t slot = 0; slot < walk->block; slot++) {
        if (slot && link->width) ids[slot] = choose_after(walk, slot, ids[slot - 1]);
        else ids[slot] = walk->best[slot * (link->width ? link->candidates : 1)];
    }
}

// What all threads of a pass read; copied to each.
struct call {
    struct pass pass;
    struct worker *worker;
    const struct specdec_model *model;
    int64_t block, fresh, slots; // positions of a block; fresh states of all rows; slots of all blocks
    float *states;               // (slots, W)
};
_Static_assert(sizeof(struct call) <= ARGUMENT_SIZE, "the team copies it");

// Keys and values of the verifier's states that are new, and what the last state of each row adds to its block, in `mixed`.
static void read_states(struct member *member, const struct call *call) {
    const struct drafter *drafter = &call->model->drafter;
    const struct kernels *kernels = call->model->kernels;
    const struct drafting_room *own = &call->worker->drafting;
    const struct room *room = call->pass.room;
    if (call->fresh) {
        const struct linear_call prefix = {kernels, &drafter->prefix, call->pass.x, 0, call->fresh, room->wide, 0, room};
        run_linear(member, &prefix);
        SHARED_FOR (member, i, call->pass.rows) {
            const struct row *row = call->worker->chosen[i];
            for (int64_t k = 0; k < row->fresh; k++) {
                const float *from = room->wide + (own->fresh[i] + k) * drafter->prefix.outputs;
                const int64_t place = row->length - 1 - row->fresh + k;
                for (int64_t layer = 0; layer < drafter->stack.count; layer++)
                    store_keys(&drafter->stack, from + layer * 2 * drafter->stack.width, row->draft_own.start, layer, place, row->room);
            }
        }
    }
    const struct linear_call previous = {kernels, &drafter->previous, own->previous, 0, call->pass.rows, room->mixed, 0, room};
    run_linear(member, &previous);
}

// Embeds the positions of a row: the new tokens of its prefix, if the drafter reads these itself, and its block.
static void embed_row(const struct call *call, int64_t number) {
    const struct specdec_model *model = call->model;
    const struct drafter *drafter = &model->drafter;
    const struct row *row = call->worker->chosen[number];
    const int64_t width = model->target.width, block = call->pass.starts[number + 1] - call->block;
    for (int64_t i = call->pass.starts[number]; i < call->pass.starts[number + 1]; i++) {
        const int64_t place = call->pass.places[i], slot = i - block;
        float *to = call->pass.x + i * width;
        embed_token(model->kernels, &model->target, slot > 0 ? model->shape.mask : row->tokens[slot ? place : row->length - 1], place, to);
        model->kernels->add_rows(to, slot < 0 ? drafter->mark : drafter->slots + slot * width, width);
        if (!drafter->mark) model->kernels->add_rows(to, call->pass.room->mixed + number * width, width);
    }
}

// Copies the states of one row's block into `states`, which holds the blocks of all rows one after the other.
static void gather_states(const struct call *call, int64_t number) {
    const int64_t size = call->block * call->model->target.width, block = call->pass.starts[number + 1] - call->block;
    memcpy(call->states + number * size, call->pass.x + block * call->model->target.width, (size_t)size * sizeof(float));
}

// Embeddings (rows, W) of the last tokens, without positions, in `previous`; then what the link makes of them, in `before`.
static void read_last_tokens(struct member *member, const struct call *call) {
    const struct specdec_model *model = call->model;
    const struct drafting_room *own = &call->worker->drafting;
    const int64_t width = model->target.width;
    SHARED_FOR (member, i, call->pass.rows) {
        const struct row *row = call->worker->chosen[i];
        float *to = own->previous + i * width;
        widen_row(model->kernels, &model->target.tokens, row->tokens[row->length - 1], to);
        for (int64_t k = 0; k < width; k++) to[k] *= model->target.scale;
    }
    const struct linear *projection = &model->drafter.link.from_token;
    const struct linear_call product = {model->kernels, projection, own->previous, 0, call->pass.rows, own->before, 0, call->pass.room};
    run_linear(member, &product);
}

// States of slots, in place, that know the token before the first slot and none before the others.
static void link_states(struct member *member, const struct call *call) {
    const struct link *link = &call->model->drafter.link;
    const struct kernels *kernels = call->model->kernels;
    const struct drafting_room *own = &call->worker->drafting;
    read_last_tokens(member, call);
    const struct linear_call narrow = {kernels, &link->from_state, call->states, 0, call->slots, own->narrow, 0, call->pass.room};
    run_linear(member, &narrow);
    SHARED_FOR (member, i, call->slots) {
        const float *known = own->before + i / call->block * link->width, *token = i % call->block ? link->unknown : known;
        const float *state = own->narrow + i * link->width;
        float *to = own->linked + i * link->width;
        for (int64_t k = 0; k < link->width; k++) to[k] = state[k] + token[k] > 0.0f ? state[k] + token[k] : 0.0f;
    }
    const struct room *room = call->pass.room;
    const struct linear_call output = {kernels, &link->output, own->linked, call->states, call->slots, room->mixed, 0, room};
    run_linear(member, &output);
}

// The best tokens of all slots by `states` (slots, W): as many as the link chooses from, or one.
static void find_candidates(struct member *member, const struct call *call, const float *states) {
    const struct worker *worker = call->worker;
    const struct linear *output = &call->model->drafter.output;
    const int64_t wanted = call->model->drafter.link.width ? call->model->drafter.link.candidates : 1;
    for (int64_t first = 0; first < call->slots; first += LOGITS_AT_ONCE) {
        const int64_t left = call->slots - first, count = left < LOGITS_AT_ONCE ? left : LOGITS_AT_ONCE;
        const struct linear_call product = {call->model->kernels, output, states + first * output->inputs, 0, count,
                                            worker->logits, worker->tops, call->pass.room};
        run_linear(member, &product);
        const struct logits logits = {worker->logits, worker->tops, output->outputs, count};
        SHARED_FOR (member, i, count) best_choices(&logits, i, wanted, worker->drafting.best + (first + i) * wanted);
    }
}

static void choose(struct member *member, const struct call *call) {
    const struct link *link = &call->model->drafter.link;
    const struct worker *worker = call->worker;
    const struct drafting_room *own = &worker->drafting;
    if (link->width) link_states(member, call);
    find_candidates(member, call, link->width ? call->pass.room->mixed : call->states);
    SHARED_FOR (member, i, call->pass.rows) {
        const int64_t first = i * call->block;
        const struct walk walk = {call->model, call->states + first * call->model->target.width, own->narrow + first * link->width,
                                  own->best + first * (link->width ? link->candidates : 1), call->block,
                                  own->linked + first * link->width, call->pass.room->own + member->index * call->pass.room->own_size};
        walk_slots(&walk, worker->chosen[i]->ids);
    }
}

static void run(struct member *member, const void *argument) {
    const struct call *call = argument;
    const int reads_prefix = call->model->drafter.mark != 0;
    if (!reads_prefix) read_states(member, call);
    SHARED_FOR (member, i, call->pass.rows) embed_row(call, i);
    run_pass(member, &call->pass);
    if (reads_prefix) {
        SHARED_FOR (member, i, call->pass.rows) gather_states(call, i);
    }
    choose(member, call);
}

// Chooses a row, its states from number `fresh` on, and its positions from `first` on: its block, after what its prefix has new if the
// drafter reads that itself.
static void place_row(struct worker *worker, struct row *row, int64_t number, int64_t first, int64_t fresh) {
    const struct specdec_model *model = worker->session->model;
    const int64_t width = model->target.width, last = row->capacity - 1, before = model->drafter.mark ? row->fresh : 0;
    float *previous = worker->drafting.previous + number * width;
    worker->chosen[number] = row;
    worker->own[number] = row->draft_own.start;
    worker->memory[number] = row->draft_memory.start;
    worker->own_room[number] = row->room;
    worker->memory_room[number] = row->source_length;
    worker->drafting.fresh[number] = fresh;
    worker->starts[number + 1] = first + before + worker->block_size;
    if (!model->drafter.mark) memcpy(worker->x + fresh * width, row->states, (size_t)(row->fresh * width) * sizeof(float));
    if (row->fresh) memcpy(previous, row->states + (row->fresh - 1) * width, (size_t)width * sizeof(float));
    else memset(previous, 0, (size_t)width * sizeof(float));
    for (int64_t slot = -before; slot < worker->block_size; slot++) {
        const int64_t place = row->length - 1 + slot, end = slot < 0 ? place + 1 : row->length - 1 + worker->block_size;
        // Slots beyond the row's room share its last place: none of their tokens is used.
        worker->places[first + before + slot] = place < last ? place : last;
        worker->ends[first + before + slot] = end < row->capacity ? end : row->capacity;
    }
}

static void draft_chosen(struct worker *worker, int64_t rows, int64_t fresh) {
    const struct specdec_model *model = worker->session->model;
    const struct call call = {
        {model->kernels, &model->drafter.stack, rows, worker->starts[rows], worker->starts, worker->x, worker->own, worker->own_room,
         worker->places, worker->ends, 0, worker->memory, worker->memory_room, &worker->room, 0},
        worker, model, worker->block_size, fresh, rows * worker->block_size, model->drafter.mark ? worker->drafting.blocks : worker->x};
    const struct drafter *drafter = &model->drafter;
    const int64_t width = model->decoder.width, each = width * (drafter->output.outputs + 2 * drafter->link.width);
    const int64_t work = call.slots * each + fresh * width * drafter->prefix.outputs + rows * width * drafter->previous.outputs;
    team_run(worker->team, multiplications_of(&drafter->stack, call.pass.positions) + work, run, &call, sizeof call);
    for (int64_t i = 0; i < rows; i++) {
        struct row *row = worker->chosen[i];
        const int64_t room = row->limit - row->length;
        row->drafted = worker->block_size < room ? worker->block_size : room;
        row->fresh = 0;
    }
}

int64_t positions_of_row(const struct specdec_session *session) {
    const int reads_prefix = session->options.decoding == SPECDEC_DRAFTER && session->model->drafter.mark;
    return session->longest_draft + 1 + (reads_prefix ? session->longest_draft : 0);
}

void draft_rows(struct worker *worker) {
    const int64_t most = positions_of_row(worker->session);
    int64_t rows = 0, fresh = 0;
    worker->starts[0] = 0;
    for (int64_t i = 0; i < worker->session->options.batch; i++) {
        struct row *row = worker->rows + i;
        if (row->number == VACANT || !row->has_drafter) continue;
        if (rows && (rows + 1) * most > CHUNK) {
            draft_chosen(worker, rows, fresh);
            rows = fresh = 0;
        }
        place_row(worker, row, rows, worker->starts[rows], fresh);
        fresh += row->fresh;
        rows++;
    }
    if (rows) draft_chosen(worker, rows, fresh);
}

void keep_states(struct worker *worker, const struct verdict *verdict, int64_t count) {
    const int64_t width = worker->session->model->decoder.width;
    memcpy(verdict->row->states, verdict->states, (size_t)(count * width) * sizeof(float));
    verdict->row->fresh = count;
}
