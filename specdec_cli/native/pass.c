// Passes for callers that keep the rows and decide what is decoded: the encoding of sources, the decoder over some positions of each row,
// and the output projection. The caller's thread works, with the model's helpers where no session has them.

#include <stdatomic.h>
#include <string.h>

#include "choices.h"
#include "constraints.h"
#include "layers.h"
#include "sizes.h"

// Memory and threads of a call: those that the model lends, where no session has them.
struct borrowed {
    const struct specdec_model *model;
    struct team *team;
    int has_arena;
    struct arena arena;
    struct workspace workspace;
};

static void borrow(struct borrowed *borrowed, const struct specdec_model *model, int32_t threads) {
    *borrowed = (struct borrowed){.model = model, .has_arena = !atomic_exchange(&model->lent_arena->lent, 1)};
    if (borrowed->has_arena) borrowed->arena = model->lent_arena->arena;
    if (threads > 1 && team_borrow(model->team, threads)) borrowed->team = model->team;
    if (borrowed->team) team_start(borrowed->team);
}

static void give_back(struct borrowed *borrowed) {
    if (borrowed->team) team_give_back(borrowed->team);
    if (!borrowed->has_arena) {
        arena_free(&borrowed->arena);
        return;
    }
    arena_rewind(&borrowed->arena);
    borrowed->model->lent_arena->arena = borrowed->arena;
    atomic_store(&borrowed->model->lent_arena->lent, 0);
}

static void *allocate(struct borrowed *borrowed, int64_t count, size_t size) {
    return arena_allocate_unset(&borrowed->arena, count, (int64_t)size);
}

// Returns 0 without memory. `longest`: positions that a query sees at most.
static int open_workspace(struct borrowed *borrowed, const struct stack *stack, int64_t positions, int64_t longest, int32_t threads) {
    struct workspace *workspace = &borrowed->workspace;
    const int64_t width = stack->width, inner = stack->inner;
    workspace->scratch_size = scratch_size_of(stack, longest);
    workspace->projected = allocate(borrowed, product_of(positions, larger(inner, 3 * width)), sizeof(float));
    workspace->attended = allocate(borrowed, product_of(positions, width), sizeof(float));
    workspace->bytes = allocate(borrowed, product_of(positions, larger(inner, width)), 1);
    workspace->ranges = allocate(borrowed, positions, sizeof *workspace->ranges);
    workspace->scratch = allocate(borrowed, product_of(borrowed->team ? threads : 1, workspace->scratch_size), sizeof(float));
    return workspace->projected && workspace->attended && workspace->bytes && workspace->ranges && workspace->scratch;
}

// Some rows of a call, which go through the layers together. Their positions stand one right after the other in all arrays.
struct part {
    struct pass pass;
    const struct specdec_model *model;
    const struct specdec_rows *rows;
    int64_t first; // the first row
};
_Static_assert(sizeof(struct part) <= ARGUMENT_SIZE, "the team copies it");

// The row after those of a part that begins at `first`, and the number of their positions.
static int64_t end_of_part(const struct specdec_rows *rows, int64_t first, int64_t *positions) {
    int64_t end = first;
    for (*positions = 0; end < rows->count && (end == first || *positions + rows->lengths[end] <= CHUNK); end++)
        *positions += rows->lengths[end];
    return end;
}

// Arrays of all parts, of the sizes that the largest one needs.
struct buffers {
    float *x, **caches, **memories;
    int64_t *starts, *indices, *ends, *capacities, *lengths;
};

static int open_buffers(struct borrowed *borrowed, struct buffers *buffers, int64_t rows, int64_t positions, int64_t width) {
    buffers->x = allocate(borrowed, product_of(positions, width), sizeof(float));
    buffers->caches = allocate(borrowed, rows, sizeof *buffers->caches);
    buffers->memories = allocate(borrowed, rows, sizeof *buffers->memories);
    buffers->starts = allocate(borrowed, rows + 1, sizeof *buffers->starts);
    buffers->indices = allocate(borrowed, positions, sizeof *buffers->indices);
    buffers->ends = allocate(borrowed, positions, sizeof *buffers->ends);
    buffers->capacities = allocate(borrowed, rows, sizeof *buffers->capacities);
    buffers->lengths = allocate(borrowed, rows, sizeof *buffers->lengths);
    return buffers->x && buffers->caches && buffers->memories && buffers->starts && buffers->indices && buffers->ends &&
           buffers->capacities && buffers->lengths;
}

static int is_decoder(const struct part *part) { return part->pass.stack == &part->model->decoder; }

static void lay_out(const struct part *part, const struct buffers *buffers) {
    const struct specdec_rows *rows = part->rows;
    buffers->starts[0] = 0;
    for (int64_t i = 0; i < part->pass.rows; i++) {
        const int64_t row = part->first + i, start = buffers->starts[i], length = rows->lengths[row];
        buffers->starts[i + 1] = start + length;
        if (!is_decoder(part)) continue;
        memcpy(buffers->indices + start, rows->indices + row * rows->width, (size_t)length * sizeof(int64_t));
        memcpy(buffers->ends + start, rows->ends + row * rows->width, (size_t)length * sizeof(int64_t));
        buffers->caches[i] = rows->caches + row * rows->cache_size;
        buffers->memories[i] = rows->memories + row * rows->memory_size;
        buffers->capacities[i] = rows->capacity;
        buffers->lengths[i] = rows->source_lengths[row];
    }
}

// Keys and values of the encoded sources for every layer of the decoder.
static void project_sources(struct member *member, const struct part *part) {
    const struct specdec_rows *rows = part->rows;
    const struct stack *stack = &part->model->decoder;
    float *projected = part->pass.workspace->projected;
    for (int64_t layer = 0; rows->memories && layer < stack->count; layer++) {
        const struct linear *linear = &stack->layers[layer].memory;
        const struct linear_call call = {
            .kernels = part->pass.kernels,
            .linear = linear,
            .x = part->pass.x,
            .rows = part->pass.positions,
            .to = projected,
            .workspace = part->pass.workspace,
        };
        run_linear(member, &call);
        SHARED_FOR (member, i, part->pass.rows) {
            const int64_t row = part->first + i, start = part->pass.starts[i], length = rows->lengths[row];
            for (int64_t k = 0; k < length; k++)
                store_keys(stack, projected + (start + k) * linear->outputs, rows->memories + row * rows->memory_size, layer, k, length);
        }
    }
}

static void run(struct member *member, const void *argument) {
    const struct part *part = argument;
    const struct specdec_rows *rows = part->rows;
    const int64_t width = part->pass.stack->width;
    const struct embedding *embedding = is_decoder(part) ? &part->model->target : &part->model->source;
    SHARED_FOR (member, i, part->pass.rows) {
        const int64_t *ids = rows->ids + (part->first + i) * rows->width, start = part->pass.starts[i];
        for (int64_t k = start; k < part->pass.starts[i + 1]; k++)
            embed_token(part->pass.kernels, embedding, ids[k - start], is_decoder(part) ? part->pass.indices[k] : k - start,
                        part->pass.x + k * width);
    }
    run_pass(member, &part->pass);
    if (!is_decoder(part)) project_sources(member, part);
    SHARED_FOR (member, i, part->pass.rows) {
        const int64_t row = part->first + i, length = rows->lengths[row] * width, all = rows->width * width;
        memcpy(rows->states + row * all, part->pass.x + part->pass.starts[i] * width, (size_t)length * sizeof(float));
        memset(rows->states + row * all + length, 0, (size_t)(all - length) * sizeof(float));
    }
}

// All parts of a call that is checked.
static int32_t run_parts(const struct specdec_model *model, const struct specdec_rows *rows, const struct stack *stack) {
    int64_t most = 0, positions, longest = larger(rows->capacity, rows->width);
    for (int64_t first = 0; first < rows->count; first = end_of_part(rows, first, &positions), most = larger(most, positions)) continue;
    for (int64_t row = 0; rows->source_lengths && row < rows->count; row++) longest = larger(longest, rows->source_lengths[row]);
    struct borrowed borrowed;
    struct buffers buffers;
    borrow(&borrowed, model, rows->threads);
    const int opened = open_workspace(&borrowed, stack, most, longest, rows->threads) &&
                       open_buffers(&borrowed, &buffers, rows->count, most, stack->width);
    for (int64_t first = 0, end; opened && first < rows->count; first = end) {
        end = end_of_part(rows, first, &positions);
        const int decodes = stack == &model->decoder;
        struct part part = {.model = model, .rows = rows, .first = first};
        part.pass = (struct pass){
            .kernels = model->kernels,
            .stack = stack,
            .rows = end - first,
            .positions = positions,
            .starts = buffers.starts,
            .x = buffers.x,
            .caches = decodes ? buffers.caches : 0,
            .cache_capacities = buffers.capacities,
            .indices = buffers.indices,
            .ends = buffers.ends,
            .memories = buffers.memories,
            .memory_capacities = buffers.lengths,
            .workspace = &borrowed.workspace,
        };
        lay_out(&part, &buffers);
        const int64_t projected = decodes || !rows->memories ? 0 : model->decoder.count * 2 * stack->width * stack->width * positions;
        team_run(borrowed.team, multiplications_of(stack, positions) + projected, run, &part, sizeof part);
    }
    give_back(&borrowed);
    return opened ? SPECDEC_OK : SPECDEC_NO_MEMORY;
}

int64_t specdec_keys_size(const struct specdec_model *model, int64_t positions) {
    return keys_size_of(&model->decoder, positions);
}

// The name of what is out of its range in a row; NULL if nothing is. `vocabulary`, `most`: ids, and positions, are below.
static const char *fault_of_row(const struct specdec_rows *rows, int64_t row, int64_t vocabulary, int64_t most) {
    if (!between(rows->lengths[row], 1, rows->width)) return "lengths";
    for (int64_t k = row * rows->width; k < row * rows->width + rows->lengths[row]; k++) {
        if (!between(rows->ids[k], 0, vocabulary - 1)) return "ids";
        if (rows->indices && !between(rows->indices[k], 0, most - 1)) return "indices";
        if (rows->ends && !between(rows->ends[k], 1, most)) return "ends";
    }
    return 0;
}

static const char *fault_of(const struct specdec_rows *rows, int64_t vocabulary, int64_t most) {
    if (!between(rows->threads, 1, MOST_THREADS)) return "threads";
    if (!between(rows->count, 0, INT32_MAX)) return "count";
    if (!between(rows->width, 1, INT32_MAX)) return "width";
    for (int64_t row = 0; row < rows->count; row++) {
        const char *fault = fault_of_row(rows, row, vocabulary, most);
        if (fault) return fault;
    }
    return 0;
}

int32_t specdec_encode(const struct specdec_model *model, const struct specdec_rows *rows, const char **fault) {
    *fault = fault_of(rows, model->shape.source_vocabulary, model->shape.max_positions);
    if (!*fault && rows->width > model->shape.max_positions) *fault = "width";
    if (!*fault && rows->memories && rows->memory_size < specdec_keys_size(model, rows->width)) *fault = "memory_size";
    return *fault ? SPECDEC_BAD_PASS : run_parts(model, rows, &model->encoder);
}

int32_t specdec_pass(const struct specdec_model *model, const struct specdec_rows *rows, const char **fault) {
    *fault = between(rows->capacity, 1, model->shape.max_positions) ? 0 : "capacity";
    if (!*fault) *fault = fault_of(rows, model->shape.vocabulary, rows->capacity);
    if (!*fault && rows->cache_size < specdec_keys_size(model, rows->capacity)) *fault = "cache_size";
    for (int64_t row = 0; !*fault && row < rows->count; row++) {
        const int64_t length = rows->source_lengths[row];
        if (!between(length, 1, model->shape.max_positions) || rows->memory_size < specdec_keys_size(model, length)) *fault = "source_lengths";
    }
    return *fault ? SPECDEC_BAD_PASS : run_parts(model, rows, &model->decoder);
}

// A position of a draft: what stands before it, and the tokens that the output has at most. `taken`: the token that is taken without being
// verified, or -1. The choice goes to `chosen`, its log probability to `score`, if asked for.
struct slot {
    struct context context;
    int64_t limit, taken;
    int64_t *chosen;
    float *score;
};

// What projects some states: copied to each thread. With `rows`, `slots` say which positions these are, and what they choose is found.
struct projection {
    struct linear_call call;
    const struct specdec_model *model;
    const struct specdec_verification *rows;
    const struct slot *slots;
};
_Static_assert(sizeof(struct projection) <= ARGUMENT_SIZE, "the team copies it");

static void choose(const struct projection *projection, int64_t i) {
    const struct linear_call *call = &projection->call;
    const struct slot *slot = projection->slots + i;
    const struct specdec_constraints *rules = projection->rows->constraints;
    const struct specdec_shape *shape = &projection->model->shape;
    const struct logits logits = {call->to, call->tops, call->linear->outputs, call->rows};
    const int32_t forced = forced_token(rules, shape->eos, slot->context.length, slot->limit);
    if (forced < 0 && has_constraints(rules)) constrain(rules, shape, &slot->context, call->to, call->tops, &logits, i);
    *slot->chosen = forced >= 0 ? forced : slot->taken >= 0 ? slot->taken : first_choice(&logits, i);
    if (!slot->score) return;
    const float top = top_logit(&logits, i), *values = logits.values + i * logits.size;
    *slot->score = forced >= 0 ? 0.0f : call->kernels->log_probability(values, logits.size, top, *slot->chosen);
}

static void project(struct member *member, const void *argument) {
    const struct projection *projection = argument;
    run_linear(member, &projection->call);
    if (!projection->rows) return;
    SHARED_FOR (member, i, projection->call.rows) choose(projection, i);
}

// Projects `count` states, some at a time; or, with `rows`, chooses tokens by their logits, which are not kept. Returns 0 without memory.
static int project_all(struct borrowed *borrowed, const struct projection *all, int64_t count, int32_t threads) {
    const struct linear *output = all->call.linear;
    const int64_t at_once = smaller(count, LOGITS_AT_ONCE);
    float *tops = allocate(borrowed, product_of(at_once, output->tiles), sizeof(float));
    float *logits = all->rows ? allocate(borrowed, product_of(at_once, output->outputs), sizeof(float)) : all->call.to;
    if (!open_workspace(borrowed, &borrowed->model->decoder, at_once, 1, threads) || !tops || !logits) return 0;
    for (int64_t first = 0; first < count; first += LOGITS_AT_ONCE) {
        struct projection some = *all;
        some.call.rows = smaller(count - first, LOGITS_AT_ONCE);
        some.call.x += first * output->inputs;
        some.call.tops = tops;
        some.call.workspace = &borrowed->workspace;
        some.call.to = some.rows ? logits : logits + first * output->outputs;
        if (some.rows) some.slots += first;
        team_run(borrowed->team, output->inputs * output->outputs * some.call.rows, project, &some, sizeof some);
    }
    return 1;
}

int32_t specdec_project(const struct specdec_model *model, int32_t threads, int64_t count, const float *states, float *logits,
                        const char **fault) {
    *fault = !between(threads, 1, MOST_THREADS) ? "threads" : !between(count, 0, INT32_MAX) ? "count" : 0;
    if (*fault) return SPECDEC_BAD_PASS;
    const struct projection all = {.call = {.kernels = model->kernels, .linear = &model->output, .x = states, .to = logits}, .model = model};
    struct borrowed borrowed;
    borrow(&borrowed, model, threads);
    const int opened = project_all(&borrowed, &all, count, threads);
    give_back(&borrowed);
    return opened ? SPECDEC_OK : SPECDEC_NO_MEMORY;
}

// Arrays of a verification, in one block of memory: the rows of its pass, and the texts before its positions.
struct verified {
    int64_t *ids, *lengths, *indices, *ends;
    struct slot *slots;
    float *packed; // the states of all positions without gaps
    int32_t *tokens, *sources;
};

static int open_verified(struct borrowed *borrowed, struct verified *to, const struct specdec_verification *rows) {
    const struct linear *output = &borrowed->model->output;
    const int64_t wide = rows->width + 1, all = product_of(rows->count, wide);
    to->ids = allocate(borrowed, all, sizeof *to->ids);
    to->indices = allocate(borrowed, all, sizeof *to->indices);
    to->ends = allocate(borrowed, all, sizeof *to->ends);
    to->lengths = allocate(borrowed, rows->count, sizeof *to->lengths);
    to->slots = allocate(borrowed, all, sizeof *to->slots);
    to->packed = allocate(borrowed, product_of(all, output->inputs), sizeof(float));
    to->tokens = allocate(borrowed, product_of(rows->count, rows->capacity + rows->width), sizeof *to->tokens);
    to->sources = allocate(borrowed, product_of(rows->count, rows->source_width), sizeof *to->sources);
    return to->ids && to->indices && to->ends && to->lengths && to->slots && to->packed && to->tokens && to->sources;
}

// The positions of a row, from the slot `next` on: its last token, and its draft. Returns the slot after them.
static int64_t lay_out_draft(const struct verified *to, const struct specdec_verification *rows, int64_t row, int64_t next) {
    const int64_t wide = rows->width + 1, length = rows->lengths[row];
    int32_t *tokens = to->tokens + row * (rows->capacity + rows->width), *source = to->sources + row * rows->source_width;
    for (int64_t k = 0; k < length; k++) tokens[k] = (int32_t)rows->tokens[row * rows->capacity + k];
    for (int64_t k = 0; k < rows->drafted[row]; k++) tokens[length + k] = (int32_t)rows->drafts[row * rows->width + k];
    for (int64_t k = 0; k < rows->source_lengths[row]; k++) source[k] = (int32_t)rows->sources[row * rows->source_width + k];
    to->lengths[row] = rows->drafted[row] + 1;
    for (int64_t k = 0; k < to->lengths[row]; k++, next++) {
        const int64_t at = row * wide + k, index = smaller(length - 1 + k, rows->capacity - 1);
        to->ids[at] = tokens[length - 1 + k];
        to->indices[at] = index;
        to->ends[at] = index + 1;
        to->slots[next] = (struct slot){
            .context = {tokens, source, length + k, rows->source_lengths[row]},
            .limit = rows->limits[row],
            .taken = rows->prefix && k < rows->prefix[row] && k < rows->drafted[row] ? tokens[length + k] : -1,
            .chosen = rows->chosen + at,
            .score = rows->scores ? rows->scores + at : 0,
        };
    }
    for (int64_t k = to->lengths[row]; k < wide; k++) {
        rows->chosen[row * wide + k] = 0;
        if (rows->scores) rows->scores[row * wide + k] = 0.0f;
    }
    return next;
}

static const char *fault_of_verification(const struct specdec_model *model, const struct specdec_verification *rows) {
    if (!between(rows->threads, 1, MOST_THREADS)) return "threads";
    if (!between(rows->count, 0, INT32_MAX)) return "count";
    if (!between(rows->width, 0, INT32_MAX - 1)) return "width";
    if (!between(rows->capacity, 1, model->shape.max_positions)) return "capacity";
    if (!between(rows->source_width, 1, model->shape.max_positions)) return "source_width";
    for (int64_t row = 0; row < rows->count; row++) {
        if (!between(rows->lengths[row], 1, rows->capacity)) return "lengths";
        if (!between(rows->drafted[row], 0, rows->width)) return "drafted";
        if (!between(rows->source_lengths[row], 1, rows->source_width)) return "source_lengths";
        for (int64_t k = 0; k < rows->lengths[row]; k++)
            if (!between(rows->tokens[row * rows->capacity + k], 0, model->shape.vocabulary - 1)) return "tokens";
        for (int64_t k = 0; k < rows->drafted[row]; k++)
            if (!between(rows->drafts[row * rows->width + k], 0, model->shape.vocabulary - 1)) return "drafts";
        for (int64_t k = 0; k < rows->source_lengths[row]; k++)
            if (!between(rows->sources[row * rows->source_width + k], 0, model->shape.source_vocabulary - 1)) return "sources";
    }
    return 0;
}

int32_t specdec_verify(const struct specdec_model *model, const struct specdec_verification *rows, const char **fault) {
    *fault = fault_of_verification(model, rows);
    if (*fault) return SPECDEC_BAD_PASS;
    struct borrowed borrowed = {.model = model}; // the pass borrows the model's memory
    struct verified verified;
    int32_t status = open_verified(&borrowed, &verified, rows) ? SPECDEC_OK : SPECDEC_NO_MEMORY;
    int64_t positions = 0;
    for (int64_t row = 0; status == SPECDEC_OK && row < rows->count; row++) positions = lay_out_draft(&verified, rows, row, positions);
    const struct specdec_rows pass = {
        .threads = rows->threads,
        .count = rows->count,
        .width = rows->width + 1,
        .ids = verified.ids,
        .lengths = verified.lengths,
        .states = rows->states,
        .memories = rows->memories,
        .memory_size = rows->memory_size,
        .source_lengths = rows->source_lengths,
        .indices = verified.indices,
        .ends = verified.ends,
        .caches = rows->caches,
        .cache_size = rows->cache_size,
        .capacity = rows->capacity,
    };
    if (status == SPECDEC_OK) status = specdec_pass(model, &pass, fault);
    const int64_t width = model->output.inputs;
    for (int64_t row = 0, next = 0; status == SPECDEC_OK && row < rows->count; next += verified.lengths[row++])
        memcpy(verified.packed + next * width, rows->states + row * pass.width * width, (size_t)(verified.lengths[row] * width) * sizeof(float));
    const struct projection all = {
        .call = {.kernels = model->kernels, .linear = &model->output, .x = verified.packed},
        .model = model,
        .rows = rows,
        .slots = verified.slots,
    };
    if (status == SPECDEC_OK) {
        struct borrowed helpers;
        borrow(&helpers, model, rows->threads);
        if (!project_all(&helpers, &all, positions, rows->threads)) status = SPECDEC_NO_MEMORY;
        give_back(&helpers);
    }
    give_back(&borrowed);
    return status;
}

void specdec_normalizers(const struct specdec_model *model, int64_t count, int64_t size, const float *logits, float *tops,
                         float *log_totals) {
    for (int64_t i = 0; i < count; i++) model->kernels->log_softmax(logits + i * size, size, tops + i, log_totals + i);
}

int32_t specdec_log_probabilities(const struct specdec_model *model, int64_t count, int64_t size, const float *logits, const int64_t *ids,
                                  float *to) {
    for (int64_t i = 0; i < count; i++) {
        const float *values = logits + i * size;
        if (!between(ids[i], 0, size - 1)) return SPECDEC_BAD_ID;
        float top = values[0];
        for (int64_t k = 1; k < size; k++) top = values[k] > top ? values[k] : top;
        to[i] = model->kernels->log_probability(values, size, top, ids[i]);
    }
    return SPECDEC_OK;
}
