// Passes for callers that keep the rows and decide what is decoded: the encoding of sources, the decoder over some positions of each row,
// and the output projection. The caller's thread works, with the model's helpers where no session has them.

#include <string.h>

#include "judge.h"
#include "sizes.h"

// Memory and threads of a call: those that the model lends, where no session has them.
struct borrowed {
    const struct specdec_model *model;
    struct team *team;
    struct lent_arena *lender;
    struct arena arena;
    struct workspace workspace;
};

static void borrow(struct borrowed *borrowed, const struct specdec_model *model, int32_t threads) {
    *borrowed = (struct borrowed){.model = model};
    borrowed->lender = borrow_arena(model, &borrowed->arena);
    if (threads > 1 && team_borrow(model->team, threads)) borrowed->team = model->team;
    if (borrowed->team) team_start(borrowed->team);
}

static void give_back(struct borrowed *borrowed) {
    if (borrowed->team) team_give_back(borrowed->team);
    give_back_arena(borrowed->lender, &borrowed->arena);
}

static void *allocate(struct borrowed *borrowed, int64_t count, size_t size) {
    return arena_allocate_unset(&borrowed->arena, count, (int64_t)size);
}

// Returns 0 without memory. `longest`: positions that a query sees at most.
static int open_workspace_of(struct borrowed *borrowed, const struct stack *stack, int64_t positions, int64_t longest, int32_t threads) {
    const struct workspace_sizes sizes = {
        .threads = borrowed->team ? threads : 1,
        .positions = positions,
        .projected = projected_of(stack),
        .attended = larger(stack->width, stack->attention),
        .quantized = widest_input_of(stack),
        .scratch = scratch_size_of(stack, longest),
    };
    return open_workspace(&borrowed->workspace, &borrowed->arena, &sizes);
}

// What specdec_verify() lays out: the rows of its pass; and of all their positions, one right after the other, what is judged there.
struct verified {
    int64_t *ids, *lengths, *indices, *ends;
    struct slot *slots;
    int32_t *tokens, *sources, *predicted;
    float *scores, *logits, *tops;
    const struct specdec_constraints *constraints;
    atomic_int status;
};

// Some rows of a call, which go through the layers together. Their positions stand one right after the other in all arrays.
struct part {
    struct judgement judgement; // without slots, its pass alone
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
    int32_t *ids;
    int64_t *starts, *indices, *ends, *capacities, *lengths;
};

static int open_buffers(struct borrowed *borrowed, struct buffers *buffers, int64_t rows, int64_t positions, int64_t width) {
    buffers->x = allocate(borrowed, product_of(positions, width), sizeof(float));
    buffers->caches = allocate(borrowed, rows, sizeof *buffers->caches);
    buffers->memories = allocate(borrowed, rows, sizeof *buffers->memories);
    buffers->ids = allocate(borrowed, positions, sizeof *buffers->ids);
    buffers->starts = allocate(borrowed, rows + 1, sizeof *buffers->starts);
    buffers->indices = allocate(borrowed, positions, sizeof *buffers->indices);
    buffers->ends = allocate(borrowed, positions, sizeof *buffers->ends);
    buffers->capacities = allocate(borrowed, rows, sizeof *buffers->capacities);
    buffers->lengths = allocate(borrowed, rows, sizeof *buffers->lengths);
    return buffers->x && buffers->caches && buffers->memories && buffers->ids && buffers->starts && buffers->indices && buffers->ends &&
           buffers->capacities && buffers->lengths;
}

static void lay_out(const struct specdec_rows *rows, int64_t first, int64_t count, const struct buffers *buffers) {
    buffers->starts[0] = 0;
    for (int64_t i = 0; i < count; i++) {
        const int64_t row = first + i, start = buffers->starts[i], at = row * rows->width;
        buffers->starts[i + 1] = start + rows->lengths[row];
        for (int64_t k = 0; k < rows->lengths[row]; k++) {
            buffers->ids[start + k] = (int32_t)rows->ids[at + k];
            buffers->indices[start + k] = rows->indices ? rows->indices[at + k] : k;
            if (rows->ends) buffers->ends[start + k] = rows->ends[at + k];
        }
        if (rows->memories) buffers->memories[i] = rows->memories + row * rows->memory_size;
        if (!rows->caches) continue;
        buffers->caches[i] = rows->caches + row * rows->cache_size;
        buffers->capacities[i] = rows->capacity;
        buffers->lengths[i] = rows->source_lengths[row];
    }
}

static struct pass pass_of(struct borrowed *borrowed, const struct stack *stack, const struct buffers *buffers) {
    const int decodes = stack == &borrowed->model->decoder;
    return (struct pass){
        .kernels = borrowed->model->kernels,
        .stack = stack,
        .embedding = decodes ? &borrowed->model->target : &borrowed->model->source,
        .ids = buffers->ids,
        .token_positions = buffers->indices,
        .starts = buffers->starts,
        .x = buffers->x,
        .caches = decodes ? buffers->caches : 0,
        .cache_capacities = buffers->capacities,
        .indices = buffers->indices,
        .ends = buffers->ends,
        .memories = buffers->memories,
        .memory_capacities = buffers->lengths,
        .workspace = &borrowed->workspace,
    };
}

static void run(struct member *member, const void *argument) {
    const struct part *part = argument;
    const struct pass *pass = &part->judgement.pass;
    const struct specdec_rows *rows = part->rows;
    if (part->judgement.slots) judge(member, &part->judgement);
    else run_pass(member, pass);
    if (!pass->caches && rows->memories) project_sources(member, pass, &part->judgement.model->decoder, pass->memories);
    SHARED_FOR (member, i, pass->rows) {
        const int64_t width = pass->stack->width, row = part->first + i, length = rows->lengths[row] * width, all = rows->width * width;
        memcpy(rows->states + row * all, pass->x + pass->starts[i] * width, (size_t)length * sizeof(float));
        memset(rows->states + row * all + length, 0, (size_t)(all - length) * sizeof(float));
    }
}

// What judges the positions from number `done` of all on.
static void prepare_judgement(struct judgement *judgement, struct verified *verified, int64_t done) {
    static const struct specdec_acceptance exact;
    const struct pass *pass = &judgement->pass;
    for (int64_t row = 0; row < pass->rows; row++)
        for (int64_t i = pass->starts[row]; i < pass->starts[row + 1]; i++) verified->slots[done + i].first = pass->starts[row];
    judgement->constraints = verified->constraints;
    judgement->rule = &exact;
    judgement->slots = verified->slots + done;
    judgement->logits = verified->logits;
    judgement->tops = verified->tops;
    judgement->predicted = verified->predicted + done;
    judgement->scores = verified->scores ? verified->scores + done : 0;
    judgement->status = &verified->status;
}

// All parts of a call that is checked; `verified` if their positions are judged. Returns a status.
static int32_t run_parts(struct borrowed *borrowed, const struct specdec_rows *rows, const struct stack *stack, struct verified *verified) {
    const struct specdec_model *model = borrowed->model;
    int64_t most = 0, positions, longest = larger(rows->capacity, rows->width);
    for (int64_t first = 0; first < rows->count; first = end_of_part(rows, first, &positions), most = larger(most, positions)) continue;
    for (int64_t row = 0; rows->source_lengths && row < rows->count; row++) longest = larger(longest, rows->source_lengths[row]);
    struct buffers buffers;
    if (!open_workspace_of(borrowed, stack, most, longest, rows->threads) ||
        !open_buffers(borrowed, &buffers, rows->count, most, stack->width))
        return SPECDEC_NO_MEMORY;
    for (int64_t first = 0, end, done = 0; first < rows->count; first = end, done += positions) {
        end = end_of_part(rows, first, &positions);
        struct part part = {{.pass = pass_of(borrowed, stack, &buffers), .model = model}, rows, first};
        struct pass *pass = &part.judgement.pass;
        pass->rows = end - first;
        pass->positions = positions;
        lay_out(rows, first, pass->rows, &buffers);
        int64_t work = verified ? multiplications_to_judge(pass, model) : multiplications_of(stack, positions);
        if (!pass->caches && rows->memories) work += model->decoder.count * 2 * model->decoder.attention * stack->width * positions;
        if (verified) prepare_judgement(&part.judgement, verified, done);
        team_run(borrowed->team, work, run, &part, sizeof part);
    }
    return verified ? atomic_load(&verified->status) : SPECDEC_OK;
}

static int32_t run_rows(const struct specdec_model *model, const struct specdec_rows *rows, const struct stack *stack) {
    struct borrowed borrowed;
    borrow(&borrowed, model, rows->threads);
    const int32_t status = run_parts(&borrowed, rows, stack, 0);
    give_back(&borrowed);
    return status;
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
    return *fault ? SPECDEC_BAD_PASS : run_rows(model, rows, &model->encoder);
}

static const char *fault_of_pass(const struct specdec_model *model, const struct specdec_rows *rows) {
    if (!between(rows->capacity, 1, model->shape.max_positions)) return "capacity";
    const char *fault = fault_of(rows, model->shape.vocabulary, rows->capacity);
    if (!fault && rows->cache_size < specdec_keys_size(model, rows->capacity)) return "cache_size";
    for (int64_t row = 0; !fault && row < rows->count; row++) {
        const int64_t length = rows->source_lengths[row];
        if (!between(length, 1, model->shape.max_positions) || rows->memory_size < specdec_keys_size(model, length)) return "source_lengths";
    }
    return fault;
}

int32_t specdec_pass(const struct specdec_model *model, const struct specdec_rows *rows, const char **fault) {
    *fault = fault_of_pass(model, rows);
    return *fault ? SPECDEC_BAD_PASS : run_rows(model, rows, &model->decoder);
}

static void project(struct member *member, const void *argument) { run_linear(member, argument); }

int32_t specdec_project(const struct specdec_model *model, int32_t threads, int64_t count, const float *states, float *logits,
                        const char **fault) {
    *fault = !between(threads, 1, MOST_THREADS) ? "threads" : !between(count, 0, INT32_MAX) ? "count" : 0;
    if (*fault) return SPECDEC_BAD_PASS;
    const struct linear *output = &model->output;
    const int64_t at_once = smaller(count, LOGITS_AT_ONCE);
    struct borrowed borrowed;
    borrow(&borrowed, model, threads);
    const int opened = open_workspace_of(&borrowed, &model->decoder, at_once, 1, threads);
    for (int64_t first = 0; opened && first < count; first += at_once) {
        const struct linear_call some = {
            .kernels = model->kernels,
            .linear = output,
            .x = states + first * output->inputs,
            .rows = smaller(count - first, at_once),
            .to = logits + first * output->outputs,
            .workspace = &borrowed.workspace,
        };
        team_run(borrowed.team, output->inputs * output->outputs * some.rows, project, &some, sizeof some);
    }
    give_back(&borrowed);
    return opened ? SPECDEC_OK : SPECDEC_NO_MEMORY;
}

static int open_verified(struct borrowed *borrowed, struct verified *to, const struct specdec_verification *rows) {
    const struct linear *output = &borrowed->model->output;
    const int64_t all = product_of(rows->count, rows->width + 1);
    to->ids = allocate(borrowed, all, sizeof *to->ids);
    to->indices = allocate(borrowed, all, sizeof *to->indices);
    to->ends = allocate(borrowed, all, sizeof *to->ends);
    to->lengths = allocate(borrowed, rows->count, sizeof *to->lengths);
    to->slots = allocate(borrowed, all, sizeof *to->slots);
    to->predicted = allocate(borrowed, all, sizeof *to->predicted);
    to->scores = rows->scores ? arena_allocate(&borrowed->arena, all, sizeof(float)) : 0;
    to->logits = allocate(borrowed, product_of(smaller(all, LOGITS_AT_ONCE), output->outputs), sizeof(float));
    to->tops = allocate(borrowed, product_of(smaller(all, LOGITS_AT_ONCE), output->tiles), sizeof(float));
    to->tokens = allocate(borrowed, product_of(rows->count, rows->capacity + rows->width), sizeof *to->tokens);
    to->sources = allocate(borrowed, product_of(rows->count, rows->source_width), sizeof *to->sources);
    return to->ids && to->indices && to->ends && to->lengths && to->slots && to->predicted && (to->scores || !rows->scores) && to->logits &&
           to->tops && to->tokens && to->sources;
}

// The positions of a row, of which the first is number `next` of all: its last token, and its draft. Returns the number after them.
static int64_t lay_out_draft(const struct verified *to, const struct specdec_verification *rows, int64_t row, int64_t next) {
    const int64_t length = rows->lengths[row], drafted = rows->drafted[row];
    int32_t *tokens = to->tokens + row * (rows->capacity + rows->width), *source = to->sources + row * rows->source_width;
    for (int64_t k = 0; k < length; k++) tokens[k] = (int32_t)rows->tokens[row * rows->capacity + k];
    for (int64_t k = 0; k < drafted; k++) tokens[length + k] = (int32_t)rows->drafts[row * rows->width + k];
    for (int64_t k = 0; k < rows->source_lengths[row]; k++) source[k] = (int32_t)rows->sources[row * rows->source_width + k];
    to->lengths[row] = drafted + 1;
    for (int64_t k = 0; k <= drafted; k++) {
        const int64_t at = row * (rows->width + 1) + k, index = smaller(length - 1 + k, rows->capacity - 1);
        to->ids[at] = tokens[length - 1 + k];
        to->indices[at] = index;
        to->ends[at] = index + 1;
        to->slots[next + k] = (struct slot){
            .context = {tokens, source, length + k, rows->source_lengths[row]},
            .limit = rows->limits[row],
            .drafted = k < drafted ? tokens[length + k] : -1,
            .is_prefix = rows->prefix && k < smaller(rows->prefix[row], drafted),
        };
    }
    return next + drafted + 1;
}

static void hand_over_verdicts(const struct verified *from, const struct specdec_verification *rows) {
    const int64_t wide = rows->width + 1;
    for (int64_t row = 0, first = 0; row < rows->count; first += from->lengths[row++]) {
        for (int64_t k = 0; k < wide; k++) {
            const int exists = k < from->lengths[row];
            rows->chosen[row * wide + k] = exists ? from->predicted[first + k] : 0;
            if (rows->scores) rows->scores[row * wide + k] = exists ? from->scores[first + k] : 0.0f;
        }
    }
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
    struct borrowed borrowed;
    borrow(&borrowed, model, rows->threads);
    struct verified verified = {.constraints = rows->constraints};
    int32_t status = open_verified(&borrowed, &verified, rows) ? SPECDEC_OK : SPECDEC_NO_MEMORY;
    for (int64_t row = 0, next = 0; !status && row < rows->count; row++) next = lay_out_draft(&verified, rows, row, next);
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
    if (!status) *fault = fault_of_pass(model, &pass);
    if (!status) status = *fault ? SPECDEC_BAD_PASS : run_parts(&borrowed, &pass, &model->decoder, &verified);
    if (!status) hand_over_verdicts(&verified, rows);
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
