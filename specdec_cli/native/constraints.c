#include "constraints.h"

#include <math.h>

#define LONGEST_COPY 10 // tokens of the longest n-gram whose repetitions are limited; the same value as in constraints.py

// Scores of one position, with the largest of each tile, `stride` apart.
struct scored {
    float *values, *tops;
    int64_t size, stride;
};

int has_constraints(const struct specdec_constraints *rules) {
    return rules->min_length || rules->no_repeat_ngram_size || rules->source_ngram_size || rules->repetition_penalty != 1.0f ||
           rules->most_copies;
}

int32_t forced_token(const struct specdec_constraints *rules, int32_t eos, int64_t length, int64_t limit) {
    if (rules->forced_end && length >= limit - 1) return eos;
    return length == 1 ? rules->forced : -1;
}

static void set_score(const struct scored *scored, int32_t token, float score) {
    const int64_t first = token / TILE * TILE, end = first + TILE < scored->size ? first + TILE : scored->size;
    float top = -INFINITY;
    scored->values[token] = score;
    for (int64_t k = first; k < end; k++) top = scored->values[k] > top ? scored->values[k] : top;
    scored->tops[token / TILE * scored->stride] = top;
}

static int is_before(const int32_t *tokens, int64_t end, int32_t token) {
    int found = 0;
    for (int64_t k = 0; k < end; k++) found |= tokens[k] == token;
    return found;
}

// Keskar et al. 2019: each token of the output once.
static void penalise(const struct scored *scored, const struct context *context, float penalty) {
    for (int64_t k = 0; k < context->length; k++) {
        const int32_t token = context->tokens[k];
        if (is_before(context->tokens, k, token)) continue;
        const float score = scored->values[token];
        set_score(scored, token, score < 0.0f ? score * penalty : score / penalty);
    }
}

static int has_same_end(const struct context *context, const int32_t *text, int64_t index, int64_t count) {
    for (int64_t back = 1; back <= count; back++)
        if (text[index - back] != context->tokens[context->length - back]) return 0;
    return 1;
}

// Excludes every token that would end an n-gram of `text`, apart from n-grams that end with the token `skipped`.
static void exclude(const struct scored *scored, const struct context *context, const int32_t *text, int64_t length, int64_t size,
                    int32_t skipped) {
    if (context->length < size - 1) return;
    for (int64_t index = size - 1; index < length; index++)
        if (text[index] != skipped && text[index] < scored->size && has_same_end(context, text, index, size - 1))
            set_score(scored, text[index], -INFINITY);
}

// The tokens of a text, and `forms`, a number for each token of the vocabulary. Two tokens have the same form if their texts differ only in
// case and in the space before a word. The form is positive if the text has a letter, else negative.
struct counted {
    const int32_t *text, *forms;
};

static int32_t form_at(const struct counted *counted, int64_t index) {
    return counted->forms[counted->text[index]];
}

// The token `size` positions before the end of the first `length` tokens is the one that continues a repetition with the period `size`.
// Returns whether this token, appended, would complete `copies` + 1 copies in succession of an n-gram of `size` tokens. The last copy
// counts even if tokens without letters at its end, such as a comma, are still missing.
static int completes_copy(const struct counted *counted, int64_t length, int64_t size, int64_t copies) {
    if (length < size || form_at(counted, length - size) <= 0) return 0;
    int64_t missing = 0;
    while (missing < size - 1 && form_at(counted, length - size + 1 + missing) <= 0) missing++;
    const int64_t compared = copies * size - missing;
    if (length < size + compared - 1) return 0;
    for (int64_t back = 1; back < compared; back++)
        if (form_at(counted, length - back) != form_at(counted, length - back - size)) return 0;
    return 1;
}

static int has_more_copies(const struct counted *counted, int64_t length, int64_t copies) {
    for (int64_t index = 1; index < length; index++)
        for (int64_t size = 1; size <= LONGEST_COPY && size <= index; size++)
            if (form_at(counted, index) == form_at(counted, index - size) && completes_copy(counted, index, size, copies)) return 1;
    return 0;
}

static void limit_copies(const struct scored *scored, const struct context *context, const struct specdec_constraints *rules) {
    const struct counted output = {context->tokens, rules->forms}, source = {context->source, rules->source_forms};
    for (int64_t size = 1; size <= LONGEST_COPY; size++) {
        if (!completes_copy(&output, context->length, size, rules->most_copies)) continue;
        if (has_more_copies(&source, context->source_length, rules->most_copies)) return;
        const int32_t excluded = form_at(&output, context->length - size);
        for (int32_t token = 0; token < scored->size; token++)
            if (rules->forms[token] == excluded) set_score(scored, token, -INFINITY);
    }
}

void constrain(const struct specdec_constraints *rules, const struct specdec_shape *shape, const struct context *context,
               const struct logits *logits, int64_t i) {
    const struct scored scored = {logits->values + i * logits->size, logits->tops + i, logits->size, logits->count};
    if (rules->repetition_penalty != 1.0f) penalise(&scored, context, rules->repetition_penalty);
    if (rules->no_repeat_ngram_size) exclude(&scored, context, context->tokens, context->length, rules->no_repeat_ngram_size, -1);
    if (rules->source_ngram_size)
        exclude(&scored, context, context->source, context->source_length, rules->source_ngram_size, shape->padding);
    if (rules->most_copies) limit_copies(&scored, context, rules);
    if (context->length <= rules->min_length) set_score(&scored, shape->eos, -INFINITY);
}
