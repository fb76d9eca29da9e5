#!/usr/bin/env bash
# Make the en-gec bundle from correct English. If it is stopped, start it again, and it continues at the same point.
# usage: en-gec.sh TEXT WORK    TEXT holds clean.tsv.xz (domain, sentence) and pairs.eracond.tsv (source, corrected)
# Lines that equal a sentence of TEXT/dev.*, TEXT/test.* (*.m2, or folders of plain text), or of the list of learners' errors of the tests,
# are dropped; HELD_OUT="FILE..." names further files with such sentences, NGRAM_TEXT="FILE..." further correct English for the n-grams.
# LEXICON="FILE..." names lists of words, with which misspelt words are corrected. The shipped bundle has those of Debian's packages
# wamerican-large and wbritish-large.
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
prepare() { # prepare NAME...: the pairs in NAME.tsv
    for name in "$@"; do
        [ -e "$work/$name/prepare.json" ] || specdec prepare "$work/$name" "$work/$name.tsv" --max-characters 250 \
            --tokenizer "$work/data/tokenizer.model" "${held_out[@]}"
    done
}

# One line in $every is held out, to select the best state and to test that correct lines are not changed.
if [ ! -e "$work/clean.tsv" ]; then
    xzcat "$text/clean.tsv.xz" | awk "NR % $every == 0" > "$work/held-out.tsv"
    xzcat "$text/clean.tsv.xz" | awk "NR % $every != 0" > "$work/clean.partial"
    mv "$work/clean.partial" "$work/clean.tsv"
fi
[ -e "$work/synthetic.tsv" ] || specdec corrupt "$work/clean.tsv" -o "$work/synthetic.tsv"
[ -e "$work/dev.tsv" ] || specdec corrupt "$work/held-out.tsv" -o "$work/dev.tsv"
# Every fifth line with fewer errors, so that the model learns not to change correct text.
[ -e "$work/fifth.tsv" ] || awk 'NR % 5 == 0' "$work/clean.tsv" > "$work/fifth.tsv"
[ -e "$work/less.tsv" ] ||
    specdec corrupt "$work/fifth.tsv" -o "$work/less.tsv" --seed 3 --set clean=0.25 --set errors.mean=0.075
[ -e "$work/data/prepare.json" ] ||
    specdec prepare "$work/data" "$work/synthetic.tsv" --max-characters 250 --target-language en "${vocabulary[@]}" \
        "${held_out[@]}"
prepare less
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
prepare learners changed
specdec train-verifier "$work/learnt" --init "$work/verifier" --data "$work/data" --data "$work/learners*4" --data "$work/changed*6" \
    --data "$work/chat*20" "${task[@]}" --recipe en-gec-learners "${short[@]}"
specdec train-verifier "$work/last" --init "$work/learnt" --data "$work/less" --data "$work/learners" --data "$work/changed" \
    --data "$work/chat*3" "${task[@]}" --recipe en-gec-careful --set run.max_updates=1000 "${short[@]}"
specdec convert "$work/verifier" "$work/mean" --average "$work/last*0.7" --force

# Rare changes as often as frequent ones: of one error in a sentence, at most 4 (rare kinds) or 3 (all kinds) of the same change after the
# same word. Frequent ones, such as "Tom have", would otherwise make up most of the text.
few_of_each() {
    awk -F'\t' -v most="$1" '
        $1 != $2 && !seen[$0]++ {
            n = split(tolower($1), wrong, " "); m = split(tolower($2), right, " ")
            for (first = 1; first <= n && first <= m && wrong[first] == right[first]; first++) ;
            for (same = 0; same < n - first + 1 && same < m - first + 1 && wrong[n - same] == right[m - same]; same++) ;
            change = wrong[first - 1]
            for (i = first; i <= n - same; i++) change = change " " wrong[i]
            change = change " >"
            for (i = first; i <= m - same; i++) change = change " " right[i]
            if (count[change]++ < most) print
        }'
}
one_error=(--recipe en-gec-corrupt-learners --set clean=0 --set errors.mean=0.12 --set errors.variance=0.001 --set errors.limit=0.12)
if [ ! -e "$work/short.txt" ]; then
    awk -F'\t' '$1 != "tatoeba" && length($2) > 12 && length($2) < 90 { print $2 }' "$work/clean.tsv" > "$work/short.partial"
    mv "$work/short.partial" "$work/short.txt"
fi
for name in everyday short; do
    [ -e "$work/one-$name.tsv" ] || specdec corrupt "$work/$name.txt" -o "$work/one-$name.tsv" --seed 33 --copies 4 "${one_error[@]}" \
        --set errors.mean=0.15 "${frequent[@]}"
done
[ -e "$work/one.tsv" ] || specdec corrupt "$work/everyday.txt" -o "$work/one.tsv" --seed 31 --copies 6 "${one_error[@]}"
if [ ! -e "$work/few.tsv" ]; then
    cat "$work/one-everyday.tsv" "$work/one-short.tsv" | few_of_each 4 > "$work/few.partial"
    few_of_each 3 < "$work/one.tsv" >> "$work/few.partial"
    mv "$work/few.partial" "$work/few.tsv"
fi
# Every third everyday sentence, half of them without errors, and every nineteenth of the other text, so that nothing is forgotten.
if [ ! -e "$work/prose.txt" ]; then
    awk -F'\t' '$1 == "tatoeba" && NR % 3 == 1 && length($2) < 140 { print $2 }' "$work/clean.tsv" > "$work/third.txt"
    awk -F'\t' '$1 != "tatoeba" && NR % 19 == 7 { print $2 }' "$work/clean.tsv" > "$work/prose.partial"
    mv "$work/prose.partial" "$work/prose.txt"
fi
[ -e "$work/third.tsv" ] ||
    specdec corrupt "$work/third.txt" -o "$work/third.tsv" --recipe en-gec-corrupt-learners --seed 43 --set clean=0.5
[ -e "$work/prose.tsv" ] || specdec corrupt "$work/prose.txt" -o "$work/prose.tsv" --seed 41
prepare few third prose
specdec train-verifier "$work/constructions" --init "$work/mean" --data "$work/few" --data "$work/third" --data "$work/prose" \
    --data "$work/chat*10" "${task[@]}" --recipe en-gec-constructions "${short[@]}"
specdec convert "$work/mean" "$work/constructions-mean" --average "$work/constructions*0.8" --force

# All kinds of errors in further text, many of them, so that errors of every kind are found.
if [ ! -e "$work/short-eighth.txt" ]; then
    awk -F'\t' 'NR % 8 == 1 && length($2) < 220 { print $2 }' "$work/clean.tsv" > "$work/eighth.txt"
    awk -F'\t' 'NR % 8 == 5 && length($2) < 160 { print $2 }' "$work/clean.tsv" > "$work/short-eighth.partial"
    mv "$work/short-eighth.partial" "$work/short-eighth.txt"
fi
[ -e "$work/eighth.tsv" ] || specdec corrupt "$work/eighth.txt" -o "$work/eighth.tsv" --seed 61
[ -e "$work/short-eighth.tsv" ] ||
    specdec corrupt "$work/short-eighth.txt" -o "$work/short-eighth.tsv" --seed 62 --set clean=0.05 --set errors.mean=0.18
# Text with about as many errors as people make, other everyday sentences, and a part of the changes.
if [ ! -e "$work/part.tsv" ]; then
    awk -F'\t' '$1 != "tatoeba" && NR % 25 == 3 && length($2) < 200 { print $2 }' "$work/clean.tsv" > "$work/usual.txt"
    awk -F'\t' '$1 == "tatoeba" && NR % 9 == 2 && length($2) < 140 { print $2 }' "$work/clean.tsv" > "$work/ninth.txt"
    awk 'NR % 12 == 5' "$work/few.tsv" > "$work/part.partial"
    mv "$work/part.partial" "$work/part.tsv"
fi
[ -e "$work/usual.tsv" ] || specdec corrupt "$work/usual.txt" -o "$work/usual.tsv" --seed 51 --set clean=0.3 --set errors.mean=0.06
[ -e "$work/ninth.tsv" ] || specdec corrupt "$work/ninth.txt" -o "$work/ninth.tsv" --recipe en-gec-corrupt-learners --seed 52 \
    --set clean=0.4 --set errors.mean=0.12
prepare eighth short-eighth usual ninth part
specdec train-verifier "$work/whole" --init "$work/constructions-mean" --data "$work/eighth" --data "$work/short-eighth" --data "$work/usual" \
    --data "$work/ninth" --data "$work/few" --data "$work/third" --data "$work/chat*15" "${task[@]}" --recipe en-gec-whole "${short[@]}"
specdec train-verifier "$work/final" --init "$work/whole" --data "$work/usual" --data "$work/ninth" --data "$work/part" \
    --data "$work/chat*3" "${task[@]}" --recipe en-gec-careful --set run.max_updates=440 --set run.keep_start=0 "${short[@]}"

# Prose with all kinds of errors once more, drawn anew, beside everything else.
specdec convert "$work/mean" "$work/before" --average "$work/whole*0.5" --average "$work/final*0.1" --force
[ -e "$work/quarter.txt" ] || awk 'NR % 4 == 2' "$work/clean.tsv" > "$work/quarter.txt"
[ -e "$work/quarter.tsv" ] || specdec corrupt "$work/quarter.txt" -o "$work/quarter.tsv" --seed 71
prepare quarter
specdec train-verifier "$work/wide" --init "$work/before" --data "$work/quarter*2" --data "$work/usual*2" --data "$work/learners" \
    --data "$work/few" --data "$work/chat*20" "${task[@]}" --recipe en-gec-whole --set optimizer.learning_rate=5e-4 "${short[@]}"

# Last, what learners say, drawn from hand-written patterns, and corrections of documentation (source, corrected, origin), if TEXT has them.
specdec convert "$work/before" "$work/later" --average "$work/wide*0.7" --force
[ -e "$work/patterns.tsv" ] || xzcat "$(dirname "$0")/en-gec-patterns.tsv.xz" > "$work/patterns.tsv"
prepare patterns
documentation=()
if [ -e "$text/pairs.docs.tsv" ]; then
    [ -e "$work/docs.tsv" ] || cut -f1,2 "$text/pairs.docs.tsv" > "$work/docs.tsv"
    prepare docs
    documentation=(--data "$work/docs*4")
fi
patterned() { # patterned NAME START UPDATES: train NAME from START on these
    specdec train-verifier "$work/$1" --init "$work/$2" --data "$work/quarter" --data "$work/usual*2" --data "$work/learners" \
        --data "$work/patterns*4" "${documentation[@]}" --data "$work/chat*20" "${task[@]}" --recipe en-gec-whole \
        --set optimizer.learning_rate=4e-4 --set run.max_updates="$3" "${short[@]}"
}
patterned patterned later 900
specdec convert "$work/later" "$work/latest" --average "$work/patterned*0.5" --force
patterned again latest 800

# The n-grams of all correct text, for the scores of edits.
if [ ! -e "$work/text.tsv" ]; then
    cut -f2 "$work/clean.tsv" | cat - ${NGRAM_TEXT:-} | awk '{ print $0 "\t" $0 }' > "$work/text.partial"
    mv "$work/text.partial" "$work/text.tsv"
fi
prepare text
lexicon=()
for file in ${LEXICON:-}; do lexicon+=(--lexicon "$file"); done
cut -f2 "$work/text/train.tsv" > "$work/ngrams.txt"
specdec convert "$work/latest" "$work/en-gec" --average "$work/again*0.5" --ngrams "$work/ngrams.txt" \
    "${lexicon[@]}" --storage int8 --force --set decoding=input-guided --set max_pieces=2.4 --set 'modes.careful=[0.1, -2.0]' \
    --set 'modes.balanced=[-0.25, -3.0]' --set 'modes.thorough=[-0.85, -3.0]' --set margins.thorough=1.0 \
    --set offsets.mark_inserted=0.2 --set offsets.word_inserted=0.05 --set offsets.mark_removed=-0.1 --set offsets.word_removed=-0.2 \
    --set offsets.word_replaced=-0.4
