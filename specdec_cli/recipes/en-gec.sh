#!/usr/bin/env bash
# The en-gec bundle, from clean English to the folder that ships. Stopped at any point, it goes on there.
# usage: en-gec.sh TEXT WORK    TEXT holds clean.tsv.xz (domain, sentence) and pairs.eracond.tsv (source, corrected)
# TRIAL=1 en-gec.sh TEXT WORK goes the whole road in minutes, with a model that is of no use.
set -euo pipefail
text=$1 work=$2
vocabulary=8000 short=()
if [ -n "${TRIAL:-}" ]; then
    vocabulary=600
    short=(--set run.max_updates=40 --set run.batch_tokens=256 --set run.evaluate_every=20)
fi
mkdir -p "$work"

# Every 900th line is held out: it selects the state, and a corrector should leave it alone.
if [ ! -e "$work/clean.tsv" ]; then
    xzcat "$text/clean.tsv.xz" | awk 'NR % 900 == 0' > "$work/held-out.tsv"
    xzcat "$text/clean.tsv.xz" | awk 'NR % 900 != 0' > "$work/clean.partial"
    mv "$work/clean.partial" "$work/clean.tsv"
fi
[ -e "$work/synthetic.tsv" ] || specdec corrupt "$work/clean.tsv" -o "$work/synthetic.tsv"
[ -e "$work/dev.tsv" ] || specdec corrupt "$work/held-out.tsv" -o "$work/dev.tsv"
[ -e "$work/data/prepare.json" ] ||
    specdec prepare "$work/data" "$work/synthetic.tsv" --max-characters 250 --target-language en --vocabulary-size "$vocabulary"
[ -e "$work/chat/prepare.json" ] ||
    specdec prepare "$work/chat" "$text/pairs.eracond.tsv" --tokenizer "$work/data/tokenizer.model" --detokenize --target-language en

task=(--task correct --target-language en --dev "$work/dev.tsv")
specdec train-verifier "$work/synthetic" --init en-de --tokenizer "$work/data/tokenizer.model" --data "$work/data" \
    "${task[@]}" --recipe en-gec-verifier "${short[@]}"
specdec train-verifier "$work/verifier" --init "$work/synthetic" --data "$work/data" --data "$work/chat*20" \
    "${task[@]}" --recipe en-gec-finetuned "${short[@]}"
specdec convert "$work/verifier" "$work/en-gec" --storage float16 --force --set decoding=input-guided
