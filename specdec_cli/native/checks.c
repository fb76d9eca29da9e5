// Checks of what a caller hands to a session: options, queue and drafts.

#include "session.h"

#include <math.h>

#include "sizes.h"

#define MOST_THREADS 1024
#define MOST_BATCH (1 << 16)

static int beam_fits(const struct specdec_options *options) {
    return between(options->beam_size, 1, SPECDEC_MOST_BEAM) && between(options->n_best, 1, options->beam_size) &&
           between(options->stop, SPECDEC_STOP_HEURISTIC, SPECDEC_STOP_FAIRSEQ) && isfinite(options->length_penalty);
}

static int constraints_fit(const struct specdec_options *options) {
    return options->min_length >= 0 && options->no_repeat_ngram_size >= 0 && options->source_ngram_size >= 0 &&
           options->repetition_penalty > 0.0f && isfinite(options->repetition_penalty) && between(options->most_copies, 0, 256) &&
           !(options->most_copies && !(options->forms && options->source_forms));
}

static int memory_fits(const struct specdec_options *options, const struct specdec_shape *shape) {
    const struct specdec_memory *memory = options->memory;
    if (options->decoding != SPECDEC_NGRAM_MEMORY) return !memory;
    return memory && memory->vocabulary == shape->vocabulary && memory->workers >= (options->batch > 1 ? options->threads : 1);
}

int options_fit(const struct specdec_options *options, const struct specdec_shape *shape) {
    const int copies = options->decoding == SPECDEC_INPUT_GUIDED, drafts = options->decoding == SPECDEC_DRAFTER;
    const int given = options->decoding == SPECDEC_GIVEN;
    const struct specdec_adaptive *adaptive = options->adaptive;
    return between(options->decoding, SPECDEC_GREEDY, SPECDEC_NGRAM_MEMORY) && between(options->match, SPECDEC_UNIQUE, SPECDEC_NEAREST) &&
           between(options->block_size, 0, 1 << 16) && between(options->batch, 1, MOST_BATCH) &&
           between(options->threads, 1, MOST_THREADS) && options->max_length >= 0 && between(options->forced, -1, shape->vocabulary - 1) &&
           constraints_fit(options) && memory_fits(options, shape) && between(options->top_beta, 0, shape->vocabulary) &&
           !isnan(options->tolerance) &&
           !(options->decoding == SPECDEC_BEAM && !beam_fits(options)) &&
           !(drafts && !(shape->drafter_layers && between(options->block_size, 1, shape->max_block))) &&
           !(adaptive && !(drafts && adaptive->longest == options->block_size && adaptive->rows >= options->batch &&
                           adaptive->workers >= (options->batch > 1 ? options->threads : 1))) &&
           !((copies || given) && options->match == SPECDEC_NEAREST && !options->word_starts) &&
           options->recorded >= 0 && !(options->recorded && (given || adaptive || !options->drafts || !options->draft_starts)) &&
           !(copies && options->drafts && !options->draft_starts) &&
           !(given && !(options->drafts && options->draft_starts && options->first_drafts && options->prefix_lengths)) &&
           !(given && options->top_beta) &&
           options->margin >= 0 && !(options->margin > 0 && !copies) &&
           !(copies && (!options->shared_vocabulary || shape->source_vocabulary != shape->vocabulary)) &&
           !(options->shared_vocabulary && shape->source_vocabulary != shape->vocabulary);
}

int32_t check_queue(const struct specdec_shape *shape, const int32_t *ids, const int64_t *starts, int64_t count) {
    const int64_t most = shape->max_positions / SPECDEC_MULTIPLE * SPECDEC_MULTIPLE;
    if (starts[0] != 0) return SPECDEC_BAD_LENGTH;
    for (int64_t i = 0; i < count; i++) {
        if (starts[i + 1] <= starts[i] || starts[i + 1] - starts[i] > most) return SPECDEC_BAD_LENGTH;
        if (ids[starts[i + 1] - 1] == shape->padding) return SPECDEC_BAD_ID;
        for (int64_t k = starts[i]; k < starts[i + 1]; k++)
            if (!between(ids[k], 0, shape->source_vocabulary - 1)) return SPECDEC_BAD_ID;
    }
    return SPECDEC_OK;
}

int has_texts(const struct specdec_options *options) {
    return options->decoding == SPECDEC_GIVEN || (options->decoding == SPECDEC_INPUT_GUIDED && options->drafts && !options->recorded);
}

int64_t drafts_of(const struct specdec_session *session) {
    return has_texts(&session->options) ? session->count : product_of(session->options.recorded, session->count);
}

int has_bounds(const struct specdec_options *options) {
    return options->first_drafts && (options->decoding == SPECDEC_GIVEN || options->decoding == SPECDEC_INPUT_GUIDED);
}

int32_t check_drafts(const struct specdec_session *session) {
    const int32_t *ids = session->options.drafts;
    const int64_t *starts = session->options.draft_starts, count = drafts_of(session);
    const int given = session->options.decoding == SPECDEC_GIVEN, texts = has_texts(&session->options);
    for (int64_t i = 0; has_bounds(&session->options) && i < session->count; i++)
        if (session->options.first_drafts[i] < 0) return SPECDEC_BAD_LENGTH;
    if (count < 0) return SPECDEC_BAD_LENGTH;
    if (count && starts[0] != 0) return SPECDEC_BAD_LENGTH;
    for (int64_t i = 0; i < count; i++) {
        if (starts[i + 1] < starts[i] + texts) return SPECDEC_BAD_LENGTH;
        if (given && !between(session->options.prefix_lengths[i], 0, starts[i + 1] - starts[i] - 1)) return SPECDEC_BAD_LENGTH;
        for (int64_t k = starts[i]; k < starts[i + 1]; k++)
            if (!between(ids[k], 0, session->model->shape.vocabulary - 1)) return SPECDEC_BAD_ID;
    }
    return SPECDEC_OK;
}
