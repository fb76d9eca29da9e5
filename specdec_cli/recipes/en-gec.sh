#!/usr/bin/env bash
# Make the en-gec bundle from correct English. If it is stopped, start it again, and it continues at the same point.
# usage: en-gec.sh TEXT WORK    TEXT holds clean.tsv.xz (domain, sentence) and pairs.eracond.tsv (source, corrected)
# Lines that equal a sentence of TEXT/dev.*, TEXT/test.* (*.m2, or folders of plain text), or of the list of learners' errors of the tests,
# are dropped; HELD_OUT="FILE..." names further files with such sentences.
# TRIAL=1 en-gec.sh TEXT WORK runs all steps in less than a minute; the model is not useful.
# INIT=BUNDLE initialises the model from another bundle than en-de.
set -euo pipefail
text=$1 work=$2 init=${INIT:-en-de}
vocabulary=(--vocabulary-size 8000) every=900 short=()
if [ -n "${TRIAL:-}" ]; then
    vocabulary=() every=10
    short=(--set run.max_updates=4 --set run.batch_tokens=256 --set run.evaluate_every=2 --set run.precision=32-true)
fi
held_out=()
for file in "$text"/dev.*.m2 "$text"/test.*.m2 "$text"/dev.*/* "$text"/test.*/* \
    "$(dirname "$0")/../../tests/data/learners.tsv" ${HELD_OUT:-}; do
    [ -e "$file" ] && held_out+=(--held-out "$file")
done
mkdir -p "$work"

# One line in $every is held out, to select the best state and to test that correct lines are not changed.
if [ ! -e "$work/clean.tsv" ]; then
    xzcat "$text/clean.tsv.xz" | awk "NR % $every == 0" > "$work/held-out.tsv"
    xzcat "$text/clean.tsv.xz" | awk "NR % $every != 0" > "$work/clean.partial"
    mv "$work/clean.partial" "$work/clean.tsv"
fi
[ -e "$work/synthetic.tsv" ] || specdec corrupt "$work/clean.tsv" -o "$work/synthetic.tsv"
[ -e "$work/dev.tsv" ] || specdec corrupt "$work/held-out.tsv" -o "$work/dev.tsv"
# Every fifth line with fewer errors, for the last stage.
[ -e "$work/fifth.tsv" ] || awk 'NR % 5 == 0' "$work/clean.tsv" > "$work/fifth.tsv"
[ -e "$work/careful.tsv" ] ||
    specdec corrupt "$work/fifth.tsv" -o "$work/careful.tsv" --seed 3 --set clean=0.25 --set errors.mean=0.075
[ -e "$work/data/prepare.json" ] ||
    specdec prepare "$work/data" "$work/synthetic.tsv" --max-characters 250 --target-language en "${vocabulary[@]}" \
        "${held_out[@]}"
[ -e "$work/less/prepare.json" ] ||
    specdec prepare "$work/less" "$work/careful.tsv" --max-characters 250 --tokenizer "$work/data/tokenizer.model" "${held_out[@]}"
[ -e "$work/chat/prepare.json" ] ||
    specdec prepare "$work/chat" "$text/pairs.eracond.tsv" --tokenizer "$work/data/tokenizer.model" --detokenize --target-language en \
        "${held_out[@]}"

task=(--task correct --target-language en --dev "$work/dev.tsv")
specdec train-verifier "$work/synthetic" --init "$init" --tokenizer "$work/data/tokenizer.model" --data "$work/data" \
    "${task[@]}" --recipe en-gec-verifier "${short[@]}"
specdec train-verifier "$work/mixed" --init "$work/synthetic" --data "$work/data" --data "$work/chat*20" \
    "${task[@]}" --recipe en-gec-finetuned "${short[@]}"
specdec train-verifier "$work/verifier" --init "$work/mixed" --data "$work/less" --data "$work/chat*3" \
    "${task[@]}" --recipe en-gec-careful "${short[@]}"

# Further training with errors of learners in short everyday sentences. "rare" has only those kinds that few sentences allow.
if [ ! -e "$work/everyday.txt" ]; then
    awk -F'\t' '$1 == "tatoeba" && length($2) > 12 && length($2) < 140 { print $2 }' "$work/clean.tsv" > "$work/everyday.partial"
    mv "$work/everyday.partial" "$work/everyday.txt"
fi
frequent=()
for kind in adjective_form agreement apostrophe article_drop article_insert auxiliary_drop common_homophone derivation irregular_form \
    noun_number preposition_drop preposition_swap pronoun tense verb_form word_order; do
    frequent+=(--set "rates.$kind=0")
done
[ -e "$work/learners.tsv" ] || specdec corrupt "$work/everyday.txt" -o "$work/learners.tsv" --recipe en-gec-corrupt-learners --seed 21
[ -e "$work/rare.tsv" ] || specdec corrupt "$work/everyday.txt" -o "$work/rare.tsv" --recipe en-gec-corrupt-learners --seed 22 \
    --copies 2 --set clean=0 --set errors.mean=0.3 "${frequent[@]}"
if [ ! -e "$work/changed.tsv" ]; then
    awk -F'\t' '$1 != $2 && !seen[$0]++' "$work/rare.tsv" > "$work/changed.partial"
    mv "$work/changed.partial" "$work/changed.tsv"
fi
for name in learners changed; do
    [ -e "$work/$name/prepare.json" ] ||
        specdec prepare "$work/$name" "$work/$name.tsv" --max-characters 250 --tokenizer "$work/data/tokenizer.model" "${held_out[@]}"
done
specdec train-verifier "$work/learnt" --init "$work/verifier" --data "$work/data" --data "$work/learners*4" --data "$work/changed*6" \
    --data "$work/chat*20" "${task[@]}" --recipe en-gec-learners "${short[@]}"
specdec train-verifier "$work/last" --init "$work/learnt" --data "$work/less" --data "$work/learners" --data "$work/changed" \
    --data "$work/chat*3" "${task[@]}" --recipe en-gec-careful --set run.max_updates=1000 "${short[@]}"
specdec convert "$work/verifier" "$work/en-gec" --average "$work/last*0.7" --storage int8 --force --set decoding=input-guided \
    --set max_pieces=2.4 --set 'modes.careful=[-0.165, -2.0]' --set 'modes.balanced=[-0.36, -2.0]' --set 'modes.thorough=[-3.0, -8.0]'
