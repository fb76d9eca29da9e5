// Drafts by a network: one pass over a block for each row. The block attends to the prefix by way of the verifier's states, or of the
// drafter's own states.

#include <math.h>
#include <string.h>

#include "state.h"

// The drafts of a row from its states (block, W) and those projected to the link (block, R). `hidden` (R) has the hidden units of the
// first slot; walk_slots() overwrites them with those of later slots.
struct walk {
    const struct specdec_model *model;
    const float *states, *link_inputs;
    const int32_t *best;
    int64_t block;
    float *hidden, *scratch; // link_scratch_size() floats
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
int64_t link_scratch_size(const struct specdec_model *model) {
    const int64_t width = model->target.width, rank = model->drafter.link.width;
    return 2 * width + rank + (width > rank ? width : rank) / (int64_t)sizeof(float);
}

// Returns the candidate of a slot with the highest score; `previous` is the token chosen in the slot before. `walk->hidden` has the hidden
// units of the slot before when this is called, and those of this slot when it returns.
static int32_t choose_after(const struct walk *walk, int64_t slot, int32_t previous) {
    const struct specdec_model *model = walk->model;
    const struct kernels *kernels = model->kernels;
    const struct link *link = &model->drafter.link;
    const int64_t width = model->target.width, rank = link->width;
    float *hidden = walk->hidden, *row = walk->scratch, *state = row + width, *units = state + width, best = -INFINITY;
    uint8_t *bytes = (uint8_t *)(units + rank);
    widen_row(kernels, &model->target.tokens, previous, row);
    for (int64_t i = 0; i < width; i++) row[i] *= model->target.scale;
    apply(kernels, &link->from_token, row, 0, bytes, units);
    for (int64_t i = 0; i < rank; i++) units[i] += walk->link_inputs[slot * rank + i];
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

static void apply_rows(struct member *member, const struct call *call, const struct linear *linear, const float *x, const float *residual,
                       int64_t rows, float *to) {
    const struct linear_call product = {call->model->kernels, linear, x, residual, rows, to, 0, call->pass.workspace};
    run_linear(member, &product);
}

// Keys and values of the verifier's states that are new, and what the last state of each row adds to its block, in `attended`.
static void read_states(struct member *member, const struct call *call) {
    const struct drafter *drafter = &call->model->drafter;
    const struct drafting_workspace *drafting = &call->worker->drafting;
    const struct workspace *workspace = call->pass.workspace;
    if (call->fresh) {
        apply_rows(member, call, &drafter->prefix, call->pass.x, 0, call->fresh, workspace->projected);
        SHARED_FOR (member, i, call->pass.rows) {
            const struct row *row = call->worker->chosen[i];
            for (int64_t k = 0; k < row->fresh; k++) {
                const float *from = workspace->projected + (drafting->fresh[i] + k) * drafter->prefix.outputs;
                const int64_t index = row->length - 1 - row->fresh + k;
                for (int64_t layer = 0; layer < drafter->stack.count; layer++)
                    store_keys(&drafter->stack, from + layer * 2 * drafter->stack.attention, row->draft_cache.start, layer, index, row->allocated);
            }
        }
    }
    apply_rows(member, call, &drafter->previous, drafting->previous, 0, call->pass.rows, workspace->attended);
}

// Embeds the positions of a row: the new tokens of its prefix, if the drafter reads these itself, and its block.
static void embed_row(const struct call *call, int64_t number) {
    const struct specdec_model *model = call->model;
    const struct drafter *drafter = &model->drafter;
    const struct row *row = call->worker->chosen[number];
    const int64_t width = model->target.width, block = call->pass.starts[number + 1] - call->block;
    for (int64_t i = call->pass.starts[number]; i < call->pass.starts[number + 1]; i++) {
        const int64_t index = call->pass.indices[i], slot = i - block;
        float *to = call->pass.x + i * width;
        embed_token(model->kernels, &model->target, slot > 0 ? model->shape.mask : row->tokens[slot ? index : row->length - 1], index, to);
        model->kernels->add_rows(to, slot < 0 ? drafter->mark : drafter->slots + slot * width, width);
        if (!drafter->mark) model->kernels->add_rows(to, call->pass.workspace->attended + number * width, width);
    }
}

// Copies the states of one row's block into `states`, which holds the blocks of all rows one after the other.
static void gather_states(const struct call *call, int64_t number) {
    const int64_t size = call->block * call->model->target.width, block = call->pass.starts[number + 1] - call->block;
    memcpy(call->states + number * size, call->pass.x + block * call->model->target.width, (size_t)size * sizeof(float));
}

// Embeddings (rows, W) of the last tokens, without positions, in `previous`; then what the link makes of them, in `token_inputs`.
static void read_last_tokens(struct member *member, const struct call *call) {
    const struct specdec_model *model = call->model;
    const struct drafting_workspace *drafting = &call->worker->drafting;
    const int64_t width = model->target.width;
    SHARED_FOR (member, i, call->pass.rows) {
        const struct row *row = call->worker->chosen[i];
        float *to = drafting->previous + i * width;
        widen_row(model->kernels, &model->target.tokens, row->tokens[row->length - 1], to);
        for (int64_t k = 0; k < width; k++) to[k] *= model->target.scale;
    }
    const struct linear *projection = &model->drafter.link.from_token;
    apply_rows(member, call, projection, drafting->previous, 0, call->pass.rows, drafting->token_inputs);
}

// States of slots, in place, that know the token before the first slot and none before the others.
static void link_states(struct member *member, const struct call *call) {
    const struct link *link = &call->model->drafter.link;
    const struct drafting_workspace *drafting = &call->worker->drafting;
    read_last_tokens(member, call);
    apply_rows(member, call, &link->from_state, call->states, 0, call->slots, drafting->link_inputs);
    SHARED_FOR (member, i, call->slots) {
        const float *known = drafting->token_inputs + i / call->block * link->width, *token = i % call->block ? link->unknown : known;
        const float *state = drafting->link_inputs + i * link->width;
        float *to = drafting->hidden + i * link->width;
        for (int64_t k = 0; k < link->width; k++) to[k] = state[k] + token[k] > 0.0f ? state[k] + token[k] : 0.0f;
    }
    apply_rows(member, call, &link->output, drafting->hidden, call->states, call->slots, call->pass.workspace->attended);
}

// The best tokens of all slots by `states` (slots, W): as many as the link chooses from, or one.
static void find_candidates(struct member *member, const struct call *call, const float *states) {
    const struct worker *worker = call->worker;
    const struct linear *output = &call->model->drafter.output;
    const int64_t wanted = call->model->drafter.link.width ? call->model->drafter.link.candidates : 1;
    for (int64_t first = 0; first < call->slots; first += LOGITS_AT_ONCE) {
        const int64_t left = call->slots - first, count = left < LOGITS_AT_ONCE ? left : LOGITS_AT_ONCE;
        const struct linear_call product = {call->model->kernels, output, states + first * output->inputs, 0, count,
                                            worker->logits, worker->tops, call->pass.workspace};
        run_linear(member, &product);
        const struct logits logits = {worker->logits, worker->tops, output->outputs, count};
        SHARED_FOR (member, i, count) best_choices(&logits, i, wanted, worker->drafting.best + (first + i) * wanted);
    }
}

static void choose(struct member *member, const struct call *call) {
    const struct link *link = &call->model->drafter.link;
    const struct worker *worker = call->worker;
    const struct drafting_workspace *drafting = &worker->drafting;
    if (link->width) link_states(member, call);
    find_candidates(member, call, link->width ? call->pass.workspace->attended : call->states);
    SHARED_FOR (member, i, call->pass.rows) {
        const int64_t first = i * call->block;
        const struct walk walk = {
            .model = call->model,
            .states = call->states + first * call->model->target.width,
            .link_inputs = drafting->link_inputs + first * link->width,
            .best = drafting->best + first * (link->width ? link->candidates : 1),
            .block = call->block,
            .hidden = drafting->hidden + first * link->width,
            .scratch = call->pass.workspace->scratch + member->index * call->pass.workspace->scratch_size,
        };
        walk_slots(&walk, worker->chosen[i]->draft);
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
static void lay_out_row(struct worker *worker, struct row *row, int64_t number, int64_t first, int64_t fresh) {
    const struct specdec_model *model = worker->session->model;
    const int64_t width = model->target.width, last = row->capacity - 1, added = model->drafter.mark ? row->fresh : 0;
    float *previous = worker->drafting.previous + number * width;
    worker->chosen[number] = row;
    worker->caches[number] = row->draft_cache.start;
    worker->memories[number] = row->draft_memory.start;
    worker->cache_capacities[number] = row->allocated;
    worker->memory_capacities[number] = row->source_length;
    worker->drafting.fresh[number] = fresh;
    worker->starts[number + 1] = first + added + worker->block_size;
    if (!model->drafter.mark) memcpy(worker->x + fresh * width, row->states, (size_t)(row->fresh * width) * sizeof(float));
    if (row->fresh) memcpy(previous, row->states + (row->fresh - 1) * width, (size_t)width * sizeof(float));
    else memset(previous, 0, (size_t)width * sizeof(float));
    for (int64_t slot = -added; slot < worker->block_size; slot++) {
        const int64_t index = row->length - 1 + slot, end = slot < 0 ? index + 1 : row->length - 1 + worker->block_size;
        // Slots beyond the row's capacity share its last position: none of their tokens is used.
        worker->indices[first + added + slot] = index < last ? index : last;
        worker->ends[first + added + slot] = end < row->capacity ? end : row->capacity;
    }
}

static void draft_chosen(struct worker *worker, int64_t rows, int64_t fresh) {
    const struct specdec_model *model = worker->session->model;
    const struct pass pass = pass_of(worker, &model->drafter.stack, rows, worker->starts[rows]);
    const int64_t slots = rows * worker->block_size;
    float *states = model->drafter.mark ? worker->drafting.blocks : worker->x;
    const struct call call = {pass, worker, model, worker->block_size, fresh, slots, states};
    const struct drafter *drafter = &model->drafter;
    const int64_t width = model->decoder.width, per_slot = width * (drafter->output.outputs + 2 * drafter->link.width);
    const int64_t work = call.slots * per_slot + fresh * width * drafter->prefix.outputs + rows * width * drafter->previous.outputs;
    team_run(worker->team, multiplications_of(&drafter->stack, call.pass.positions) + work, run, &call, sizeof call);
    for (int64_t i = 0; i < rows; i++) {
        struct row *row = worker->chosen[i];
        const int64_t remaining = row->limit - row->length;
        row->drafted = worker->block_size < remaining ? worker->block_size : remaining;
        row->fresh = 0;
    }
}

int64_t positions_of_row(const struct specdec_session *session) {
    const int reads_prefix = session->options.method == SPECDEC_METHOD_SPECDEC && session->model->drafter.mark;
    return session->longest_draft + 1 + (reads_prefix ? session->longest_draft : 0);
}

void draft_rows(struct worker *worker) {
    const int64_t most = positions_of_row(worker->session);
    int64_t rows = 0, fresh = 0;
    worker->starts[0] = 0;
    for (int64_t i = 0; i < worker->session->options.batch_size; i++) {
        struct row *row = worker->rows + i;
        if (row->number == VACANT || !row->has_drafter) continue;
        if (rows && (rows + 1) * most > CHUNK) {
            draft_chosen(worker, rows, fresh);
            rows = fresh = 0;
        }
        lay_out_row(worker, row, rows, worker->starts[rows], fresh);
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
