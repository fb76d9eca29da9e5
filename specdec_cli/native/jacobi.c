// Jacobi decoding: what the verifier predicted at each position is the next draft there. See decoding/drafters/jacobi.py.

#include "state.h"
#include "sizes.h"

int is_jacobi(const struct specdec_session *session) {
    return between(session->options.method, SPECDEC_METHOD_JACOBI, SPECDEC_METHOD_HYBRID_JACOBI);
}

void jacobi_begin(const struct specdec_session *session, struct row *row) {
    const int32_t *lengths = session->queue.lengths;
    row->expected = lengths ? smaller(row->limit, 1 + (int64_t)lengths[row->number]) : row->limit;
    for (int64_t i = 0; i < row->capacity; i++) row->guesses[i] = session->model->shape.padding;
}

// Cuts a draft to what can be accepted: it ends with the first end of sentence, and has at most SHORTEST positions without a prediction.
static void cut_draft(const struct specdec_session *session, struct row *row) {
    const struct specdec_shape *shape = &session->model->shape;
    int64_t known = 0;
    while (known < row->drafted && row->draft[known] != shape->padding) known++;
    row->drafted = smaller(row->drafted, known + SHORTEST);
    for (int64_t i = 0; i < row->drafted; i++)
        if (row->draft[i] == shape->eos) row->drafted = i + 1;
}

void jacobi_draft(const struct specdec_session *session, struct row *row) {
    const struct specdec_options *options = &session->options;
    const int of_sentence = options->method == SPECDEC_METHOD_JACOBI, whole = options->acceptance.whole;
    const int64_t block = options->block_size ? options->block_size : of_sentence ? row->capacity : SHORTEST;
    const int64_t beyond = of_sentence && !whole ? smaller(block, SHORTEST) : 0;
    // The first position of a whole block is that of the last token.
    const int64_t most = smaller(block - whole, row->limit - row->length);
    row->drafted = smaller(larger(row->expected - row->length, beyond), most);
    for (int64_t i = 0; i < row->drafted; i++) row->draft[i] = row->guesses[row->length + i];
    if (!whole) cut_draft(session, row);
}

void jacobi_observe(const struct specdec_session *session, struct row *row, const int32_t *predicted) {
    const int64_t count = row->drafted + !session->options.acceptance.whole;
    for (int64_t i = 0; i < count; i++) row->guesses[row->length + i] = predicted[i];
}
