#!/usr/bin/env bash
# Make the de-en bundle from parallel text, English text and the bundle of the opposite direction. If it is stopped, start it again, and it
# continues at the same point. TEXT holds train.tsv.xz and train2.tsv.xz (domain, English, German), mono.en.tsv.xz (domain, English) and the
# dev sets, dev.*.tsv (English, German).
# usage: de-en.sh TEXT WORK
# INIT=BUNDLE: start from another bundle than en-de. TRIAL=1: all steps in about a minute, from a tiny INIT; the model is not useful.
set -euo pipefail
text=$1 work=$2 init=${INIT:-en-de}
languages=(--source-language de --target-language en)
nearest=45 first=(--set optimizer.learning_rate=1e-3 --set run.max_updates=8000) short=() drafter=()
if [ -n "${TRIAL:-}" ]; then
    # Enough updates for outputs to end: distillation drops outputs without EOS.
    nearest=0 first=()
    short=(--set run.max_updates=60 --set run.batch_tokens=256 --set run.evaluate_every=30 --set run.precision=32-true
        --set optimizer.learning_rate=1e-2 --set optimizer.warmup=20)
    drafter=(--set drafter.feed_forward=64 --set drafter.shortlist=100 --set drafter.max_block=3 --set drafter.chain=16)
fi
mkdir -p "$work"

# The last two columns change places.
exchange() { awk -F '\t' -v OFS='\t' '{ last = $NF; $NF = $(NF - 1); $(NF - 1) = last } 1'; }
dev=() held_out=()
for file in "$text"/dev.*.tsv "$text"/test.*.tsv; do
    [ -e "$file" ] || continue
    exchange < "$file" > "$work/${file##*/}"
    held_out+=(--held-out "$work/${file##*/}")
    case ${file##*/dev.} in tatoeba.tsv | chat.tsv | manual.tsv | web.tsv | dialogue.tsv | wiki.tsv) dev+=(--dev "$work/${file##*/}") ;; esac
done
if [ ! -e "$work/pairs.tsv" ]; then
    xzcat "$text/train.tsv.xz" "$text/train2.tsv.xz" | exchange > "$work/pairs.partial"
    mv "$work/pairs.partial" "$work/pairs.tsv"
fi
domains=(--domain back-translation)
for domain in 'tatoeba*' kde-sentences wmt20-chat woz gnome-help mozilla-www 'manual-*' 'web-*' 'dialogue-*' 'wiki-*'; do
    domains+=(--domain "$domain")
done

# The vocabulary is joint; the tokens that are frequent in English get the lowest ids, for the drafter's shortlist.
[ -e "$work/ordered/bundle.json" ] || specdec convert "$init" "$work/ordered" --order-vocabulary "$work/pairs.tsv"

# Back-translation: German that the opposite model draws at random for English text.
[ -e "$work/mono.txt" ] || xzcat "$text/mono.en.tsv.xz" | cut -f 2 > "$work/mono.txt"
specdec distill "$init" "$work/back" "$work/mono.txt" --sample --temperature 0.9 --top-k 10 --max-length 128
exchange < "$work/back/distilled.tsv" | awk -v OFS='\t' '{ print "back-translation", $0 }' > "$work/back.tsv"

prepare=(--tokenizer "$work/ordered/tokenizer.model" "${languages[@]}" --same-numbers --repair-numbers --number-copies 1 --name-copies 1)
[ -e "$work/data/prepare.json" ] ||
    specdec prepare "$work/data" "$work/pairs.tsv" "$work/back.tsv" "${domains[@]}" "${held_out[@]}" "${prepare[@]}" --temperature 1.4
specdec train-verifier "$work/teacher" --init "$work/ordered" "${languages[@]}" --data "$work/data" "${dev[@]}" \
    --recipe en-de-distilled "${first[@]}" "${short[@]}"
specdec distill "$work/teacher" "$work/distilled" "$work/data/train.tsv" --nearest "$nearest" --max-length 128
[ -e "$work/copies/prepare.json" ] || specdec prepare "$work/copies" "$work/distilled/distilled.tsv" "${prepare[@]}"
specdec train-verifier "$work/verifier" --init "$work/teacher" --data "$work/copies" --data "$work/data" "${dev[@]}" \
    --recipe en-de-distilled "${short[@]}"
specdec distill "$work/verifier" "$work/outputs" "$work/data/train.tsv" --beam-size 1 --keep-copies --max-length 128
specdec train-drafter "$work/trained" --model "$work/verifier" --data "$work/outputs/distilled.tsv" "${dev[@]}" \
    --recipe en-de-drafter --set drafter.shortlist=5000 "${drafter[@]}" "${short[@]}"
specdec train-drafter "$work/trained" "${dev[@]}" --simulate
specdec convert "$work/trained" "$work/de-en" --storage int8 --force --set decoding=specdec --set most_copies=2 --set longest_sentence=55
