// Drafts that need no network: copies of the source or of a given text, and of what followed the same tokens before.

#include "state.h"
#include "sizes.h"

#define LONGEST_SUFFIX 3 // tokens of a suffix that "unique-3" and lookup search for
#define WINDOW 4         // how far from where a copy left off a token is looked for; as much again for every round that found nothing

static int64_t most_drafted(const struct specdec_session *session, const struct row *row, int64_t most) {
    const int64_t size = session->options.block_size;
    return smaller(smaller(most, row->limit - row->length), size ? size : row->capacity);
}

// The source as it is with padding behind it.
static int32_t source_at(const struct specdec_session *session, const struct row *row, int64_t index) {
    return index < row->source_length ? row->source[index] : session->model->shape.padding;
}

static void copy_text(const struct specdec_session *session, struct row *row) {
    if (row->length - 1 < row->prefix) row->copy_from = row->length - 1;
    const int64_t left = row->copy_from < 0 ? 0 : row->text_length - 1 - row->copy_from;
    // A given text is not drafted for the last position: each round of it then ends with a token of the verifier.
    const int64_t remaining = session->options.method == SPECDEC_METHOD_GIVEN_DRAFTS ? row->limit - row->length - 1 : left;
    const int64_t count = most_drafted(session, row, smaller(smaller(left, remaining), row->longest));
    row->drafted = count > 0 ? count : 0;
    for (int64_t i = 0; i < row->drafted; i++) row->draft[i] = row->text[row->copy_from + i];
}

static int begins_word(const struct specdec_session *session, int32_t token) {
    return session->options.word_starts[token] || token == session->model->shape.eos;
}

// The index after the `token` nearest to `here`, ahead or also `behind` (ahead where both are as near); -1 where there is none.
static int64_t after_nearest(const struct row *row, int32_t token, int64_t here, int64_t window, int behind) {
    const int64_t end = row->text_length - 1;
    for (int64_t distance = 1; distance <= window; distance++) {
        if (here + distance < end && row->text[here + distance] == token) return here + distance + 1;
        if (behind && here >= distance && row->text[here - distance] == token) return here - distance + 1;
    }
    return -1;
}

// Where to go on after a `token` that is not in the text: a new one, or another than that which stands `here`.
static int64_t after_edit(const struct specdec_session *session, const struct row *row, int32_t token, int64_t here) {
    if (!begins_word(session, row->text[here])) return here + 1;
    if (!session->options.word_starts[token]) return here;
    for (int64_t index = here + 1; index < row->text_length; index++)
        if (begins_word(session, row->text[index])) return index;
    return here;
}

static void realign(const struct specdec_session *session, struct row *row, int64_t passed) {
    const int64_t end = row->text_length - 1, here = smaller(row->copy_from + passed, end);
    const int32_t token = row->tokens[row->length - 1];
    if (token == row->text[here]) {
        row->copy_from = smaller(here + 1, end);
        row->misses = 0;
        return;
    }
    row->misses = passed ? 0 : row->misses + 1;
    int64_t start = after_nearest(row, token, here, WINDOW * (1 + row->misses), row->misses > 0);
    if (start < 0) start = after_edit(session, row, token, here);
    row->copy_from = smaller(start, end);
}

// The text behind the start of the output, which begins with the same token (Algorithm 1 of the technical report).
static int32_t text_at(const struct row *row, int64_t index) { return index ? row->text[index - 1] : row->tokens[0]; }

// Whether the last `count` tokens of the output stand in the text up to `index`.
static int ends_like(const struct row *row, int64_t index, int64_t count) {
    if (index < count - 1) return 0;
    for (int64_t back = 0; back < count; back++)
        if (text_at(row, index - back) != row->tokens[row->length - 1 - back]) return 0;
    return 1;
}

// The index after a suffix of the output that stands once in the text; -1 where there is none.
static int64_t after_unique_suffix(const struct row *row, int bounded) {
    const int64_t first = bounded ? 1 : 0, longest = bounded ? smaller(LONGEST_SUFFIX, row->length - first) : row->length;
    for (int64_t count = 1; count <= longest; count++) {
        int64_t matches = 0, start = -1;
        for (int64_t index = first; index < row->text_length; index++) {
            if (!ends_like(row, index, count)) continue;
            if (!matches++) start = index;
        }
        if (matches == 1) return start;
        if (!matches) return -1;
    }
    return -1;
}

// Source and output as one text: the source with its padding, unless vocabularies differ, then the output.
static int32_t searched_at(const struct specdec_session *session, const struct row *row, int64_t start_of_output, int64_t index) {
    return index < start_of_output ? source_at(session, row, index) : row->tokens[index - start_of_output];
}

static int is_known(const struct specdec_session *session, const struct row *row, int64_t start_of_output, int64_t index) {
    if (index >= start_of_output) return index > start_of_output && index < start_of_output + row->length;
    const int32_t token = source_at(session, row, index);
    return token != session->model->shape.padding && token != session->model->shape.eos;
}

// How many of the last tokens of the output, at most LONGEST_SUFFIX, stand in the text up to `index`.
static int64_t suffix_at(const struct specdec_session *session, const struct row *row, int64_t start_of_output, int64_t index) {
    int64_t count = 0;
    while (count < LONGEST_SUFFIX && count < row->length - 1 && index >= count &&
           searched_at(session, row, start_of_output, index - count) == row->tokens[row->length - 1 - count])
        count++;
    return count;
}

static void look_up(const struct specdec_session *session, struct row *row) {
    const int64_t start_of_output = session->options.shared_vocabulary ? padded_length(row->source_length) : 0;
    const int64_t end = start_of_output + row->length;
    int64_t start = -1, longest = 0;
    for (int64_t index = end - 2; index >= 0 && longest < LONGEST_SUFFIX; index--) {
        if (!is_known(session, row, start_of_output, index)) continue;
        const int64_t count = suffix_at(session, row, start_of_output, index);
        if (count <= longest) continue;
        longest = count;
        start = index + 1;
    }
    const int64_t most = start < 0 ? 0 : most_drafted(session, row, end - start);
    row->drafted = 0;
    while (row->drafted < most && is_known(session, row, start_of_output, start + row->drafted)) {
        row->draft[row->drafted] = searched_at(session, row, start_of_output, start + row->drafted);
        row->drafted++;
    }
}

// A text has at most as many tokens as the row, its EOS included.
void begin_draft(const struct specdec_session *session, struct row *row) {
    const struct specdec_queue *queue = &session->queue;
    row->copy_from = row->misses = row->prefix = 0;
    row->longest = row->capacity;
    row->text = row->source;
    row->text_length = row->source_length;
    const int64_t bound = queue->first_drafts ? queue->first_drafts[row->number] : 0;
    if (bound) row->longest = smaller(bound, row->capacity);
    if (!queue->texts) return;
    const int64_t *starts = queue->text_starts + row->number;
    row->text_length = smaller(starts[1] - starts[0], row->capacity);
    row->text = session->texts + starts[0];
    session->texts[starts[0] + row->text_length - 1] = session->model->shape.eos;
    if (!queue->prefix_lengths) return;
    row->prefix = smaller(queue->prefix_lengths[row->number], row->text_length - 1);
    if (row->longest < row->prefix) row->longest = row->prefix;
}

static int copies_text(const struct specdec_session *session) {
    return session->options.method == SPECDEC_METHOD_INPUT_GUIDED || session->options.method == SPECDEC_METHOD_GIVEN_DRAFTS;
}

void propose_draft(const struct worker *worker, struct row *row) {
    const struct specdec_session *session = worker->session;
    row->drafted = 0;
    if (copies_text(session)) copy_text(session, row);
    if (session->options.method == SPECDEC_METHOD_LOOKUP) look_up(session, row);
    if (is_jacobi(session)) jacobi_draft(session, row);
    if (!worker->ngrams) return;
    row->drafted = ngrams_draft(worker->ngrams, row->tokens, row->length, most_drafted(session, row, row->limit), row->draft);
}

// After realign(). Where first drafts are bounded, drafts grow while they are accepted as a whole; after a round without an accepted token
// there is none until the output's last token is found in the text.
static void bound_draft(struct row *row, int64_t passed) {
    const int whole = row->drafted && passed == row->drafted;
    const int64_t longest = whole ? 2 * row->longest + 1 : passed;
    row->longest = smaller(longest < SHORTEST ? SHORTEST : longest, row->capacity);
    const int found = row->copy_from > 0 && row->text[row->copy_from - 1] == row->tokens[row->length - 1];
    if (row->misses && !found) row->longest = 0;
}

void observe_round(const struct specdec_session *session, struct row *row, int64_t passed) {
    if (!copies_text(session)) return;
    if (session->options.match == SPECDEC_MATCH_NEAREST) realign(session, row, passed);
    else row->copy_from = after_unique_suffix(row, session->options.match == SPECDEC_MATCH_UNIQUE_3);
    if (session->queue.first_drafts) bound_draft(row, passed);
}
