// A model from its shape and its tensors.

#include "model.h"
#include "choices.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sizes.h"

#if !defined(SPECDEC_HEADER)
#define SPECDEC_HEADER 0 // setup.py gives the CRC-32 of specdec.h
#endif

uint32_t specdec_interface(void) { return SPECDEC_HEADER; }

struct lent_arena *borrow_arena(const struct specdec_model *model, struct arena *arena) {
    *arena = (struct arena){0};
    if (atomic_exchange(&model->lent_arena->lent, 1)) return 0;
    *arena = model->lent_arena->arena;
    return model->lent_arena;
}

void give_back_arena(struct lent_arena *lender, struct arena *arena) {
    if (!lender) {
        arena_free(arena);
        return;
    }
    arena_rewind(arena);
    lender->arena = *arena;
    atomic_store(&lender->lent, 0);
}

static int is_flag(int32_t value) { return value == 0 || value == 1; }

static int drafter_fits(const struct specdec_shape *shape) {
    if (!shape->drafter_layers) return 1;
    const int32_t drafted = shape->shortlist ? shape->shortlist : shape->vocabulary;
    return between(shape->drafter_layers, 1, 1024) && between(shape->drafter_feed_forward, LANES, 1 << 18) &&
           shape->drafter_feed_forward % LANES == 0 && between(shape->max_block, 1, 4096) && between(shape->link_width, 0, 1 << 14) &&
           shape->link_width % LANES == 0 && between(shape->shortlist, 0, shape->vocabulary) &&
           between(shape->candidates, 1, drafted < SPECDEC_MOST_CANDIDATES ? drafted : SPECDEC_MOST_CANDIDATES) &&
           between(shape->mask, 0, shape->vocabulary - 1) && is_flag(shape->own_prefix) && is_flag(shape->recurrent_link);
}

static int shape_fits(const struct specdec_shape *shape) {
    const int32_t smaller = shape->vocabulary < shape->source_vocabulary ? shape->vocabulary : shape->source_vocabulary;
    const int sizes = between(shape->source_vocabulary, 1, 1 << 24) && between(shape->vocabulary, 1, 1 << 24) &&
                      between(shape->width, LANES, 1 << 14) && shape->width % LANES == 0 && between(shape->feed_forward, LANES, 1 << 18) &&
                      shape->feed_forward % LANES == 0 && between(shape->encoder_layers, 0, 1024) &&
                      between(shape->decoder_layers, 1, 1024) && between(shape->max_positions, LANES, 1 << 16) &&
                      between(shape->position_offset, 0, 1024);
    const int attention = between(shape->heads, 1, 1024) && between(shape->attention_width, LANES, 1 << 14) &&
                          shape->attention_width % LANES == 0 && shape->attention_width % shape->heads == 0 &&
                          between(shape->reach, 1, 1 << 16) && shape->norm_epsilon > 0 && shape->norm_epsilon < 1;
    const int choices = between(shape->positions, SPECDEC_POSITIONS_SINUSOIDAL, SPECDEC_POSITIONS_RELATIVE) &&
                        between(shape->activation, SPECDEC_ACTIVATION_RELU, SPECDEC_ACTIVATION_GELU_TANH);
    const int flags = is_flag(shape->pre_norm) && is_flag(shape->embedding_scale) && is_flag(shape->embedding_norm) &&
                      is_flag(shape->shared_embeddings) && is_flag(shape->tied_output) && is_flag(shape->output_bias) &&
                      is_flag(shape->attention_scale) && is_flag(shape->layer_biases) && is_flag(shape->rms_norm) &&
                      is_flag(shape->biases) && is_flag(shape->gated);
    const int shared = !shape->shared_embeddings || shape->source_vocabulary == shape->vocabulary;
    return sizes && attention && choices && flags && shared && between(shape->padding, 0, smaller - 1) &&
           between(shape->eos, 0, shape->vocabulary - 1) && between(shape->start, 0, shape->vocabulary - 1) && drafter_fits(shape);
}

// Sines before cosines: tensor2tensor's layout.
static const float *sinusoids(struct reader *reader, int64_t rows, int64_t width) {
    const int64_t half = width / 2;
    float *table = reader->status ? 0 : arena_allocate(reader->arena, product_of(rows, width), sizeof(float));
    if (!table) {
        if (!reader->status) reader->status = SPECDEC_NO_MEMORY;
        return 0;
    }
    for (int64_t i = 0; i < half; i++) {
        const double frequency = exp((double)i * (-log(10000.0) / (double)(half - 1)));
        for (int64_t position = 0; position < rows; position++) {
            table[position * width + i] = (float)sin((double)position * frequency);
            table[position * width + half + i] = (float)cos((double)position * frequency);
        }
    }
    return table;
}

static struct norm norm_of(struct reader *reader, const struct specdec_shape *shape) {
    return read_norm(reader, shape->width, shape->rms_norm, shape->norm_epsilon);
}

// `shared`: token embeddings, and positions if they are not learned, that another embedding has read.
static void read_positions(struct reader *reader, const struct specdec_shape *shape, struct embedding *embedding,
                           const struct embedding *shared) {
    const int64_t rows = (int64_t)shape->max_positions + shape->position_offset;
    if (shared) embedding->tokens = shared->tokens;
    embedding->width = shape->width;
    embedding->offset = shape->position_offset;
    embedding->scale = shape->embedding_scale ? (float)sqrt((double)shape->width) : 1.0f;
    if (shape->positions == SPECDEC_POSITIONS_LEARNED) embedding->positions = read_table(reader, rows, shape->width);
    else if (shape->positions == SPECDEC_POSITIONS_SINUSOIDAL)
        embedding->positions = shared && shared->positions ? shared->positions : sinusoids(reader, rows, shape->width);
    if (shape->embedding_norm) embedding->norm = norm_of(reader, shape);
}

static void read_layer(struct reader *reader, const struct specdec_shape *shape, struct layer *layer, int64_t inner, int decodes) {
    const int64_t width = shape->width, attention = shape->attention_width;
    const struct norm none = {0, 0, 0};
    const int bias = shape->biases;
    struct norm norm = norm_of(reader, shape);
    if (!shape->pre_norm) layer->after_attention = norm;
    read_linear(reader, &layer->query_key_value, width, 3 * attention, bias, shape->pre_norm ? norm : none, 0);
    read_linear(reader, &layer->output, attention, width, bias, none, 0);
    if (decodes) {
        norm = norm_of(reader, shape);
        if (!shape->pre_norm) layer->after_cross_attention = norm;
        read_linear(reader, &layer->query, width, attention, bias, shape->pre_norm ? norm : none, 0);
        read_linear(reader, &layer->memory, width, 2 * attention, bias, none, 0);
        read_linear(reader, &layer->cross_output, attention, width, bias, none, 0);
    }
    norm = norm_of(reader, shape);
    if (!shape->pre_norm) layer->after_feed_forward = norm;
    read_linear(reader, &layer->inner, width, shape->gated ? 2 * inner : inner, bias, shape->pre_norm ? norm : none, shape->activation);
    layer->inner.activated = inner;
    read_linear(reader, &layer->outer, inner, width, bias, none, 0);
    layer->outer.gated = shape->gated;
    layer->outer.sparse = shape->activation == SPECDEC_ACTIVATION_RELU;
}

static void read_stack(struct reader *reader, const struct specdec_shape *shape, struct stack *stack, int64_t count, int64_t inner,
                       int decodes, int norm) {
    const int64_t head_width = shape->attention_width / shape->heads;
    *stack = (struct stack){
        .count = count,
        .heads = shape->heads,
        .head_width = head_width,
        .head_stride = (head_width + LANES - 1) / LANES * LANES,
        .width = shape->width,
        .inner = inner,
        .attention = shape->attention_width,
        .gated = shape->gated,
        .scale = shape->attention_scale ? 1.0f / sqrtf((float)head_width) : 1.0f,
    };
    if (reader->status) return;
    stack->layers = arena_allocate(reader->arena, count + 1, sizeof *stack->layers);
    if (!stack->layers) reader->status = SPECDEC_NO_MEMORY;
    for (int64_t i = 0; i < count && !reader->status; i++) read_layer(reader, shape, stack->layers + i, inner, decodes);
    if (norm) stack->last = norm_of(reader, shape);
}

// What relative positions add to the scores of a stack, in which queries see keys `ahead` of them or not.
static void read_biases(struct reader *reader, const struct specdec_shape *shape, struct stack *stack, int ahead) {
    if (shape->positions != SPECDEC_POSITIONS_RELATIVE || !stack->count) return;
    stack->tables = shape->layer_biases ? stack->count : 1;
    stack->reach = shape->reach;
    stack->last_bias = (ahead ? 2 : 1) * stack->reach;
    const int64_t rows = stack->tables * stack->heads, columns = stack->last_bias + 1, padded = columns + 2 * (LANES - 1);
    const float *stored = read_table(reader, rows, columns);
    float *biases = reader->status ? 0 : arena_allocate(reader->arena, product_of(rows, padded), sizeof(float));
    if (!biases && !reader->status) reader->status = SPECDEC_NO_MEMORY;
    for (int64_t i = 0; biases && i < rows * padded; i++)
        biases[i] = stored[i / padded * columns + smaller(larger(i % padded - LANES + 1, 0), columns - 1)];
    stack->biases = biases;
}

static void read_drafter(struct reader *reader, const struct specdec_shape *shape, struct drafter *drafter) {
    const struct norm none = {0, 0, 0};
    const int64_t width = shape->width, rank = shape->link_width;
    drafter->slots = read_table(reader, shape->max_block, width);
    read_stack(reader, shape, &drafter->stack, shape->drafter_layers, shape->drafter_feed_forward, 1, 1);
    if (shape->own_prefix) {
        drafter->mark = read_vector(reader, width);
    } else {
        read_linear(reader, &drafter->prefix, width, 2 * shape->attention_width * shape->drafter_layers, 1, none, 0);
        read_linear(reader, &drafter->previous, width, width, 1, none, 0);
    }
    drafter->link.width = rank;
    drafter->link.candidates = shape->candidates;
    if (!rank) return;
    read_linear(reader, &drafter->link.from_state, width, rank, 1, none, 0);
    read_linear(reader, &drafter->link.from_token, width, rank, 0, none, 0);
    drafter->link.unknown = read_vector(reader, rank);
    read_linear(reader, &drafter->link.output, rank, width, 1, none, 0);
    if (shape->recurrent_link) read_linear(reader, &drafter->link.recurrent, rank, rank, 0, none, 0);
}

static void read_output(struct reader *reader, struct specdec_model *model) {
    const struct specdec_shape *shape = &model->shape;
    const struct norm none = {0, 0, 0};
    model->output_rows = model->target.tokens;
    if (!shape->tied_output) read_embedding(reader, shape->vocabulary, shape->width, &model->output_rows);
    const float *bias = shape->output_bias ? read_vector(reader, shape->vocabulary) : 0;
    pack_linear(reader, &model->output, &model->output_rows, bias, none);
}

static void read_model(struct reader *reader, struct specdec_model *model) {
    const struct specdec_shape *shape = &model->shape;
    read_embedding(reader, shape->source_vocabulary, shape->width, &model->source.tokens);
    read_positions(reader, shape, &model->source, 0);
    read_stack(reader, shape, &model->encoder, shape->encoder_layers, shape->feed_forward, 0, shape->pre_norm);
    read_biases(reader, shape, &model->encoder, 1);
    if (shape->shared_embeddings) {
        read_positions(reader, shape, &model->target, &model->source);
    } else {
        read_embedding(reader, shape->vocabulary, shape->width, &model->target.tokens);
        const struct embedding own = {model->target.tokens, model->source.positions, 0, 0, {0, 0, 0}, 0};
        read_positions(reader, shape, &model->target, &own);
    }
    read_stack(reader, shape, &model->decoder, shape->decoder_layers, shape->feed_forward, 1, shape->pre_norm);
    read_biases(reader, shape, &model->decoder, 0);
    read_output(reader, model);
    if (!shape->drafter_layers) return;
    read_drafter(reader, shape, &model->drafter);
    model->drafter.output = model->output;
    if (!shape->shortlist) return;
    model->drafter.output.outputs = shape->shortlist;
    model->drafter.output.tiles = (shape->shortlist + TILE - 1) / TILE;
}

int32_t specdec_model_create(const struct specdec_shape *shape, const struct specdec_tensor *tensors, int64_t count, const char *isa,
                             struct specdec_model **created, int64_t *damaged) {
    *created = 0;
    *damaged = -1;
    if (!shape_fits(shape)) return SPECDEC_BAD_SHAPE;
    const struct kernels *kernels = find_kernels(isa);
    if (!kernels) return SPECDEC_UNKNOWN_ISA;
    struct specdec_model *model = calloc(1, sizeof *model);
    if (!model) return SPECDEC_NO_MEMORY;
    model->shape = *shape;
    model->kernels = kernels;
    model->team = team_open();
    model->arena.large_pages = 1;
    model->lent_arena = arena_allocate(&model->arena, 1, sizeof *model->lent_arena);
    const int opened = model->team && model->lent_arena;
    struct reader reader = {tensors, count, 0, &model->arena, kernels, opened ? SPECDEC_OK : SPECDEC_NO_MEMORY, -1};
    read_model(&reader, model);
    if (!reader.status && reader.next != count) reader.status = SPECDEC_BAD_TENSOR;
    *damaged = reader.damaged;
    if (reader.status) specdec_model_destroy(model);
    else *created = model;
    return reader.status;
}

void specdec_model_destroy(struct specdec_model *model) {
    if (!model) return;
    team_close(model->team);
    if (model->lent_arena) arena_free(&model->lent_arena->arena);
    arena_free(&model->arena);
    free(model);
}

const char *specdec_model_isa(const struct specdec_model *model) { return model->kernels->name; }
