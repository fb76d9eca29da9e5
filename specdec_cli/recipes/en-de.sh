#!/usr/bin/env bash
# Make the en-de bundle from parallel text. If it is stopped, start it again, and it continues at the same point.
# usage: en-de.sh TEXT WORK    TEXT holds train.tsv.xz and train2.tsv.xz (domain, English, German) and the dev sets, dev.*.tsv
# TRIAL=1 en-de.sh TEXT WORK runs all steps in less than a minute, with a model that is too small to be useful.
set -euo pipefail
text=$1 work=$2
dev=() held_out=()
for set in tatoeba chat manual web dialogue wiki; do
    [ -e "$text/dev.$set.tsv" ] && dev+=(--dev "$text/dev.$set.tsv")
done
for file in "$text"/dev.*.tsv "$text"/test.*.tsv; do
    [ -e "$file" ] && held_out+=(--held-out "$file")
done
vocabulary=(--vocabulary-size 8000) nearest=45 short=() small=() drafter=()
if [ -n "${TRIAL:-}" ]; then
    vocabulary=() nearest=0
    # Enough updates for outputs to end: distillation drops outputs without EOS.
    short=(--set run.max_updates=60 --set run.batch_tokens=256 --set run.evaluate_every=30 --set run.precision=32-true
        --set optimizer.learning_rate=1e-2 --set optimizer.warmup=20)
    small=(--set model.width=32 --set model.feed_forward=64 --set model.heads=2
        --set model.encoder_layers=1 --set model.decoder_layers=1)
    drafter=(--set drafter.feed_forward=64 --set drafter.shortlist=100 --set drafter.max_block=3 --set drafter.chain=16)
fi
domains=()
for domain in 'tatoeba*' kde-sentences wmt20-chat woz gnome-help mozilla-www 'manual-*' 'web-*' 'dialogue-*' 'wiki-*'; do
    domains+=(--domain "$domain")
done

[ -e "$work/data/prepare.json" ] ||
    specdec prepare "$work/data" "$text/train.tsv.xz" "$text/train2.tsv.xz" "${domains[@]}" "${held_out[@]}" "${vocabulary[@]}" \
        --temperature 1.3
specdec train-verifier "$work/teacher" --data "$work/data" "${dev[@]}" \
    --recipe en-de-verifier "${small[@]}" "${short[@]}"
specdec distill "$work/teacher" "$work/distilled" "$work/data/train.tsv" --nearest "$nearest" --max-length 128
for pairs in distilled/distilled data/train; do
    [ -e "$work/varied-${pairs%/*}/prepare.json" ] ||
        specdec prepare "$work/varied-${pairs%/*}" "$work/$pairs.tsv" --tokenizer "$work/data/tokenizer.model" --same-numbers --vary 0.5
done
# Letters, dates, orders and recipes, drawn from hand-written templates.
[ -e "$work/letters.tsv" ] || xzcat "$(dirname "$0")/en-de-letters.tsv.xz" > "$work/letters.tsv"
[ -e "$work/letters/prepare.json" ] || specdec prepare "$work/letters" "$work/letters.tsv" --tokenizer "$work/data/tokenizer.model"
specdec train-verifier "$work/verifier" --init "$work/teacher" --recipe en-de-distilled "${short[@]}" \
    --data "$work/varied-distilled" --data "$work/varied-data" --data "$work/letters*6" "${dev[@]}"
specdec distill "$work/verifier" "$work/outputs" "$work/data/train.tsv" --beam-size 1 --keep-copies --max-length 128
[ -e "$work/ordered/bundle.json" ] ||
    specdec convert "$work/verifier" "$work/ordered" --order-vocabulary "$work/outputs/distilled.tsv"
specdec train-drafter "$work/trained" --model "$work/ordered" --data "$work/outputs/distilled.tsv" "${dev[@]}" \
    --recipe en-de-drafter --set drafter.shortlist=5000 "${drafter[@]}" "${short[@]}"
specdec train-drafter "$work/trained" "${dev[@]}" --simulate
specdec convert "$work/trained" "$work/en-de" --storage float16 --force --set decoding=specdec --set most_copies=2 \
    --set longest_sentence=55
