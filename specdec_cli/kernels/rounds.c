// The steps of a round: what the verifier says of a draft, and what of it is taken.

#include "choices.h"
#include "layers.h"

#define AT_ONCE 48 // positions whose logits are computed together

struct decoder {
    struct embedding embedding;
    struct stack stack;
    const struct linear *output;
    int64_t eos, forced; // forced: the token that every output begins with, or -1
};

// Sentences on their way: tokens (rows, capacity), of which those before `lengths` count, up to `limits`. The keys and values
// of the first layer, `own`, are followed by those of the others; `memory` has one a layer.
struct batch {
    int64_t rows, capacity;
    int64_t *tokens, *lengths, *limits, *rounds;
    uint8_t *finished;
    float *log_probabilities;
    struct keys own;
    const struct keys *memory;
};

// ids (rows, longest), of which the first `counts` of a row are meant.
struct draft {
    const int64_t *ids, *counts;
    int64_t longest;
};

// What a round finds, for the token after the prefix and those after each drafted one: states (rows, longest + 1, W),
// predictions (rows, longest + 1), the log probabilities of those that are reached, if wanted; how many pass, and how many are
// taken, that is one more unless an end or a limit comes before; which rows that ends.
struct verdict {
    float *states, *log_probabilities;
    int64_t *predictions, *bifurcations, *counts;
    uint8_t *ended;
};

// Positions of all rows stand one right after the other, those of a row from `starts` on: whose they are, their places in the
// cache, what is predicted there. How many keys they see is by row and slot: ends (rows, longest + 1).
struct positions {
    int64_t total, *starts, *owners, *places, *predicted, *ends;
};

struct choose_call {
    const struct decoder *decoder;
    const struct batch *batch;
    const struct draft *draft;
    const struct positions *positions;
    const float *x;
    int64_t first, count;
    float *logits, *tops, *log_probabilities;
    uint8_t *room;
};

static int64_t slot_of(const struct positions *positions, int64_t index) { return index - positions->starts[positions->owners[index]]; }

// Whether a position is the first of a sentence whose first token is given.
static int is_forced(const struct choose_call *call, int64_t index) {
    return call->decoder->forced >= 0 && slot_of(call->positions, index) == 0 && call->batch->lengths[call->positions->owners[index]] == 1;
}

// Whether all drafted tokens before a position passed.
static int reached(const struct positions *positions, const struct draft *draft, int64_t index) {
    const int64_t row = positions->owners[index], *drafted = draft->ids + row * draft->longest, *predicted = positions->predicted + positions->starts[row];
    for (int64_t slot = 0; slot < slot_of(positions, index); slot++)
        if (predicted[slot] != drafted[slot]) return 0;
    return 1;
}

// The best token of a position, by its logits and the largest of them in each tile.
static int64_t first_choice(const struct choose_call *call, int64_t i) {
    const int64_t size = call->decoder->output->outputs, tiles = (size + TILE - 1) / TILE;
    int64_t best = 0;
    for (int64_t tile = 1; tile < tiles; tile++)
        if (call->tops[tile * call->count + i] > call->tops[best * call->count + i]) best = tile;
    return best * TILE + place_of(call->tops[best * call->count + i], call->logits + i * size + best * TILE, size - best * TILE);
}

static void choose_tokens(void *argument) {
    const struct choose_call *call = argument;
    const struct linear *output = call->decoder->output;
    const struct positions *positions = call->positions;
    linear(output, call->x + call->first * output->inputs, call->count, 0, call->logits, call->tops, call->room);
    SHARED_FOR (i, call->count)
        positions->predicted[call->first + i] = is_forced(call, call->first + i) ? call->decoder->forced : first_choice(call, i);
    if (!call->log_probabilities) return;
    SHARED_FOR (j, call->count) {
        const int64_t index = call->first + j, token = positions->predicted[index];
        if (!reached(positions, call->draft, index)) continue;
        const float *logits = call->logits + j * output->outputs;
        const int64_t place = positions->owners[index] * (call->draft->longest + 1) + slot_of(positions, index);
        call->log_probabilities[place] = is_forced(call, index) ? 0.0f : log_probability(logits, output->outputs, logits[token], token);
    }
}

static struct positions embed_positions(const struct decoder *decoder, const struct batch *batch, const struct draft *draft, float *x, int64_t *room) {
    const int64_t rows = batch->rows, slots = draft->longest + 1, most = rows * slots, width = decoder->embedding.width;
    struct positions all = {0, room, room + rows + 1, room + rows + 1 + most, room + rows + 1 + 2 * most, room + rows + 1 + 3 * most};
    for (int64_t row = 0; row < rows; row++) {
        const int64_t count = batch->finished[row] ? 0 : 1 + draft->counts[row], last = batch->lengths[row] - 1;
        all.starts[row] = all.total;
        for (int64_t slot = 0; slot < count; slot++, all.total++) {
            const int64_t position = last + slot < batch->capacity ? last + slot : batch->capacity - 1;
            const int64_t id = slot ? draft->ids[row * draft->longest + slot - 1] : batch->tokens[row * batch->capacity + last];
            all.owners[all.total] = row;
            all.ends[row * slots + slot] = position + 1;
            all.places[all.total] = row * batch->capacity + position;
            embed(&decoder->embedding, id, position, x + all.total * width);
        }
    }
    all.starts[rows] = all.total;
    return all;
}

// What is taken of a row's draft, and whether that ends the row.
static void accept(const struct batch *batch, const struct draft *draft, const struct verdict *verdict, int64_t eos, int64_t row) {
    const int64_t *predicted = verdict->predictions + row * (draft->longest + 1), *drafted = draft->ids + row * draft->longest;
    const int64_t room = batch->finished[row] ? 0 : batch->limits[row] - batch->lengths[row], meant = draft->counts[row];
    int64_t passing = 0, before_end = 0;
    while (passing < meant && predicted[passing] == drafted[passing]) passing++;
    while (before_end <= draft->longest && predicted[before_end] != eos) before_end++;
    int64_t count = passing < before_end ? passing + 1 : before_end + 1;
    count = count < room ? count : room;
    verdict->bifurcations[row] = passing;
    verdict->counts[row] = count;
    verdict->ended[row] = count > before_end || count == room;
}

// One pass over the last token of each row and its draft. `scratch` has room for 1 + rows + 4 * positions numbers, and then
// for what the layers need, or AT_ONCE times V + V / 64 + 1 floats and W + 8 bytes if that is more.
EXPORT void specdec_verify(const struct decoder *decoder, const struct batch *batch, const struct draft *draft, const struct verdict *verdict,
                    int64_t *scratch, int threads) {
    const int64_t rows = batch->rows, slots = draft->longest + 1, width = decoder->embedding.width, size = decoder->output->outputs;
    const struct positions all = embed_positions(decoder, batch, draft, verdict->states, scratch);
    float *room = (float *)(scratch + rows + 1 + 4 * rows * slots);
    struct keys own[decoder->stack.number];
    for (int64_t i = 0; i < decoder->stack.number; i++) {
        own[i] = batch->own;
        own[i].keys += i * 2 * width;
        own[i].values += i * 2 * width;
        own[i].ends = all.ends;
        own[i].end_stride = 1;
        own[i].end_row_stride = slots;
    }
    struct rows those = {rows, all.starts};
    specdec_layers(&decoder->stack, verdict->states, &those, own, all.places, batch->memory, room, threads);
    struct choose_call call = {.decoder = decoder, .batch = batch, .draft = draft, .positions = &all, .x = verdict->states, .logits = room,
                               .log_probabilities = verdict->log_probabilities};
    for (call.first = 0; call.first < all.total; call.first += AT_ONCE) {
        call.count = all.total - call.first < AT_ONCE ? all.total - call.first : AT_ONCE;
        call.tops = room + call.count * size;
        call.room = (uint8_t *)(call.tops + call.count * ((size + TILE - 1) / TILE));
        together(choose_tokens, &call, threads);
    }
    for (int64_t row = 0; row < rows; row++) {
        int64_t *predictions = verdict->predictions + row * slots;
        const int64_t count = all.starts[row + 1] - all.starts[row];
        memcpy(predictions, all.predicted + all.starts[row], count * sizeof(int64_t));
        memset(predictions + count, 0, (slots - count) * sizeof(int64_t));
        accept(batch, draft, verdict, decoder->eos, row);
    }
    spread(verdict->states, rows, all.starts, slots, width);
}

// Take what a round found into the batch; how many rows are finished then.
EXPORT int64_t specdec_advance(const struct batch *batch, const struct verdict *verdict, int64_t slots) {
    int64_t finished = 0;
    for (int64_t row = 0; row < batch->rows; row++) {
        const int64_t count = verdict->counts[row], place = row * batch->capacity + batch->lengths[row];
        memcpy(batch->tokens + place, verdict->predictions + row * slots, count * sizeof(int64_t));
        if (verdict->log_probabilities) memcpy(batch->log_probabilities + place, verdict->log_probabilities + row * slots, count * sizeof(float));
        batch->rounds[row] += !batch->finished[row];
        batch->lengths[row] += count;
        batch->finished[row] |= verdict->ended[row];
        finished += batch->finished[row];
    }
    return finished;
}
