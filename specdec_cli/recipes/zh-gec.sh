#!/usr/bin/env bash
# Train a small corrector of Chinese on artificial errors in a few hundred sentences, and measure it: a demonstration for a table of
# docs/papers.md, not a useful model. The references of every other line of a dev set are the clean text; the other lines are the test.
# usage: zh-gec.sh TSV WORK    TSV has lines of source TAB reference [TAB reference...]; the reference 没有错误 says: no error
# UPDATES=N: updates (600). THREADS=N: threads (1). TRIAL=1: all steps in less than a minute; the model is not useful.
# INIT=BUNDLE initialises the layers from another bundle than en-gec.
set -euo pipefail
text=$1 work=$2 init=${INIT:-en-gec}
copies=40 vocabulary=(--vocabulary-size 2600)
run=(--set run.max_updates="${UPDATES:-600}" --set run.batch_tokens=2048 --set run.evaluate_every=100 --set run.edit_weight=3.0)
run+=(--set run.dropout=0.1 --set run.smoothing=0.05)
run+=(--set optimizer.learning_rate=1e-3 --set optimizer.warmup=100 --set optimizer.schedule=constant --set optimizer.decay_from=0.5)
if [ -n "${TRIAL:-}" ]; then
    copies=2 vocabulary=()
    run=(--set run.max_updates=4 --set run.batch_tokens=256 --set run.evaluate_every=2 --set run.precision=32-true)
fi
mkdir -p "$work"

# Every other line is a test line. A reference that says that there is no error is replaced by the source.
if [ ! -e "$work/clean.txt" ]; then
    awk -F '\t' -v OFS='\t' '{ for (i = 2; i <= NF; i++) if ($i == "没有错误") $i = $1 } 1' "$text" > "$work/all.tsv"
    awk 'NR % 2 == 0' "$work/all.tsv" > "$work/test.tsv"
    awk -F '\t' 'NR % 2 == 1 { for (i = 2; i <= NF; i++) if (!seen[$i]++) print $i }' "$work/all.tsv" > "$work/clean.partial"
    mv "$work/clean.partial" "$work/clean.txt"
fi
# One clean line in twenty is held out, to select the best state.
[ -e "$work/held-out.txt" ] || awk 'NR % 20 == 0' "$work/clean.txt" > "$work/held-out.txt"
[ -e "$work/training.txt" ] || awk 'NR % 20 != 0' "$work/clean.txt" > "$work/training.txt"
corrupt=(--recipe zh-gec-corrupt --column 1)
[ -e "$work/pairs.tsv" ] || specdec corrupt "$work/training.txt" -o "$work/pairs.tsv" --copies "$copies" "${corrupt[@]}"
[ -e "$work/dev.tsv" ] || specdec corrupt "$work/held-out.txt" -o "$work/dev.tsv" "${corrupt[@]}"
[ -e "$work/data/prepare.json" ] ||
    specdec prepare "$work/data" "$work/pairs.tsv" --source-language zh --target-language zh "${vocabulary[@]}"
specdec train-verifier "$work/zh-gec" --data "$work/data" --dev "$work/dev.tsv" --init "$init" --tokenizer "$work/data/tokenizer.model" \
    --task correct --source-language zh --target-language zh --threads "${THREADS:-1}" "${run[@]}"
specdec bench -m "$work/zh-gec" "$work/test.tsv" --task correct --score characters --no-split --row greedy --row beam \
    --row input-guided:unique --threads "${THREADS:-1}" --repetitions 1 --json "$work/zh-gec.json"
