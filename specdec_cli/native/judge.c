#include "judge.h"

#include <math.h>

#include "sampling.h"
#include "sizes.h"

int64_t multiplications_to_judge(const struct pass *pass, const struct specdec_model *model) {
    return multiplications_of(pass->stack, pass->positions) + model->output.inputs * model->output.outputs * pass->positions;
}

struct logits compute_logits(struct member *member, const struct judgement *judgement, int64_t first, int64_t count) {
    const struct linear *output = &judgement->model->output;
    const struct linear_call product = {
        .kernels = judgement->pass.kernels,
        .linear = output,
        .x = judgement->pass.x + first * output->inputs,
        .rows = count,
        .to = judgement->logits,
        .tops = judgement->tops,
        .workspace = judgement->pass.workspace,
    };
    run_linear(member, &product);
    const struct logits logits = {judgement->logits, judgement->tops, output->outputs, count};
    SHARED_FOR (member, i, count)
        if (!are_finite(&logits, i)) atomic_store(judgement->status, SPECDEC_NOT_FINITE);
    return logits;
}

int32_t forced_at(const struct judgement *judgement, const struct slot *slot) {
    return forced_token(judgement->constraints, judgement->model->shape.eos, slot->context.length, slot->limit);
}

static int32_t choose_token(const struct judgement *judgement, const struct slot *slot, const struct logits *logits, int64_t i) {
    const struct specdec_acceptance *rule = judgement->rule;
    const int32_t drafted = slot->drafted, forced = forced_at(judgement, slot);
    if (slot->is_prefix) return drafted;
    if (forced >= 0) return forced;
    if (rule->temperature > 0) {
        const struct noise noise = {rule->seed, slot->stream, slot->context.length};
        return sampled_choice(logits, i, rule, &noise);
    }
    if (rule->margin > 0 && drafted >= 0) return choice_with_margin(logits, i, drafted, rule->margin);
    const int tolerated = rule->top_beta && drafted >= 0 && is_tolerated(logits, i, drafted, rule->top_beta, rule->tolerance);
    return tolerated ? drafted : first_choice(logits, i);
}

static float score_of(const struct judgement *judgement, const struct slot *slot, const struct logits *logits, int64_t i, int32_t token) {
    const int32_t forced = forced_at(judgement, slot);
    if (forced >= 0) return token == forced ? 0.0f : -INFINITY;
    return judgement->pass.kernels->log_probability(logits->values + i * logits->size, logits->size, top_logit(logits, i), token);
}

// Whether all drafted tokens before position i passed.
static int is_reached(const struct judgement *judgement, int64_t i) {
    for (int64_t k = judgement->slots[i].first; k < i; k++)
        if (judgement->predicted[k] != judgement->slots[k].drafted) return 0;
    return 1;
}

static void judge_some(struct member *member, const struct judgement *judgement, int64_t first, int64_t count) {
    const struct logits logits = compute_logits(member, judgement, first, count);
    const int constrained = has_constraints(judgement->constraints);
    SHARED_FOR (member, i, count) {
        const struct slot *slot = judgement->slots + first + i;
        if (constrained && forced_at(judgement, slot) < 0)
            constrain(judgement->constraints, &judgement->model->shape, &slot->context, &logits, i);
        judgement->predicted[first + i] = choose_token(judgement, slot, &logits, i);
    }
    if (!judgement->scores) return;
    SHARED_FOR (member, j, count)
        if (is_reached(judgement, first + j))
            judgement->scores[first + j] = score_of(judgement, judgement->slots + first + j, &logits, j, judgement->predicted[first + j]);
}

void judge(struct member *member, const void *argument) {
    const struct judgement *judgement = argument;
    const int64_t total = judgement->pass.positions;
    run_pass(member, &judgement->pass);
    for (int64_t first = 0; first < total; first += LOGITS_AT_ONCE)
        judge_some(member, judgement, first, smaller(total - first, LOGITS_AT_ONCE));
}
