// Prints a digest of all logits, tokens and log probabilities of some sentences that a model decodes.
//
// Usage: golden MODEL INSTRUCTION_SET. MODEL is what test_golden.py writes: struct specdec_shape, the number of tensors as int64, for
// each its rows and columns as int64 and its float32 numbers; then the number of sources as int64, their starts as int64, and their
// ids as int32.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "state.h"

static FILE *file;

static void *read_numbers(int64_t count, size_t size) {
    void *place = malloc((size_t)count * size + 1);
    if (!place || fread(place, size, (size_t)count, file) != (size_t)count) exit(2);
    return place;
}

static int64_t read_number(void) {
    int64_t *place = read_numbers(1, sizeof *place), number = *place;
    free(place);
    return number;
}

static struct specdec_tensor *read_tensors(int64_t count) {
    struct specdec_tensor *tensors = calloc((size_t)count, sizeof *tensors);
    for (int64_t i = 0; i < count; i++) {
        tensors[i].rows = read_number();
        tensors[i].columns = read_number();
        tensors[i].data = read_numbers(tensors[i].rows * tensors[i].columns, sizeof(float));
        tensors[i].type = SPECDEC_TYPE_F32;
    }
    return tensors;
}

// FNV-1a, 64 bits.
static uint64_t add(uint64_t digest, const void *data, size_t size) {
    for (const unsigned char *byte = data; size--; byte++) digest = (digest ^ *byte) * 0x100000001b3u;
    return digest;
}

static uint64_t decode(const struct specdec_model *model, int32_t decoding, int32_t batch, const int64_t *starts, const int32_t *ids, int64_t count) {
    struct specdec_options options = {0};
    options.method = decoding;
    options.block_size = decoding == SPECDEC_METHOD_LOOKUP || decoding == SPECDEC_METHOD_SPECDEC ? 5 : 0;
    options.batch_size = batch;
    options.threads = 1;
    options.max_length = 12;
    options.constraints.forced = -1;
    options.with_scores = options.shared_vocabulary = 1;
    options.search.beam_size = options.search.n_best = 4;
    options.search.length_penalty = 0.6;
    options.constraints.repetition_penalty = 1.0f;
    if (decoding == SPECDEC_METHOD_SPECDEC) { // every drafted token is accepted, so that the digest covers it
        options.acceptance.top_beta = model->shape.vocabulary;
        options.acceptance.tolerance = 1e9f;
    }
    struct specdec_session *session;
    const struct specdec_queue queue = {.count = count, .ids = ids, .starts = starts};
    const char *fault;
    if (specdec_session_create(model, &options, &queue, &session, &fault)) exit(3);
    uint64_t digest = 0xcbf29ce484222325u;
    struct specdec_output output;
    int32_t status;
    while ((status = specdec_session_next(session, 0, &output)) != SPECDEC_FINISHED) {
        if (status < 0) exit(4);
        digest = add(digest, session->workers->logits, (size_t)batch * (size_t)model->shape.vocabulary * sizeof(float));
        if (status == SPECDEC_WAITING) continue;
        digest = add(digest, &output.number, sizeof output.number);
        digest = add(digest, output.ids, (size_t)output.length * sizeof *output.ids);
        if (output.log_probabilities) digest = add(digest, output.log_probabilities, (size_t)output.length * sizeof *output.log_probabilities);
        for (int64_t i = 0; i < output.count; i++) {
            const struct specdec_hypothesis *own = output.hypotheses + i;
            digest = add(digest, own->ids, (size_t)own->length * sizeof *own->ids);
            digest = add(digest, &own->log_probability, sizeof own->log_probability);
        }
    }
    specdec_session_destroy(session);
    return digest;
}

int main(int count, char **arguments) {
    if (count != 3 || !(file = fopen(arguments[1], "rb"))) return 2;
    struct specdec_shape *shape = read_numbers(1, sizeof *shape);
    const int64_t tensor_count = read_number();
    struct specdec_tensor *tensors = read_tensors(tensor_count);
    const int64_t sources = read_number();
    int64_t *starts = read_numbers(sources + 1, sizeof *starts);
    int32_t *ids = read_numbers(starts[sources], sizeof *ids);
    struct specdec_model *model;
    int64_t damaged;
    const int32_t status = specdec_model_create(shape, tensors, tensor_count, arguments[2], &model, &damaged);
    if (status == SPECDEC_UNKNOWN_ISA) return 5;
    if (status) return 6;
    const int32_t decodings[] = {SPECDEC_METHOD_GREEDY, SPECDEC_METHOD_LOOKUP, SPECDEC_METHOD_SPECDEC, SPECDEC_METHOD_BEAM};
    for (int i = 0; i < 4; i++)
        for (int32_t batch = 1; batch <= 3; batch += 2)
            printf("%016llx\n", (unsigned long long)decode(model, decodings[i], batch, starts, ids, sources));
    return 0;
}
