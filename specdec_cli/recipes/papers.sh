#!/usr/bin/env bash
# Train the small models of docs/papers.md: the same sentences and the same number of updates for all, 13 to 16 million weights each.
# If it is stopped, start it again, and it continues at the same point; every folder holds a bundle that works at any time.
# usage: papers.sh DATA OUTPUT    DATA holds en-de/train*.tsv.xz (domain, English, German), en-de/dev.*.tsv and en-gec/clean.tsv.xz
# UPDATES=N: updates of every model (1,200). With a larger N, finished models are trained further. THREADS=N: threads (1).
# INIT=BUNDLE: the models are initialised from this bundle, have its vocabulary and sizes, and it is the teacher; by default they
# begin with random weights, and the model `raw` is the teacher. STAGES="NAME...": only these models, in this order.
# TRIAL=1: all stages within minutes, with models that are too small to be useful.
set -euo pipefail
data=$1 work=$2 updates=${UPDATES:-1200} init=${INIT:-}
all="left-to-right gad-quick raw blockwise quick deep-shallow masked bidirectional right-to-left double-left-to-right
    double-right-to-left gad gec-shallow gec-deep vocabulary-2000 vocabulary-2000-bidirectional vocabulary-4000
    vocabulary-4000-bidirectional left-to-right-from-random gad-big"
common=(--threads "${THREADS:-1}") run=(--set run.max_updates="$updates" --set run.dropout=0.1 --set run.evaluate_every=200)
run+=(--set optimizer.learning_rate=1e-3 --set optimizer.warmup=150 --set optimizer.schedule=constant --set optimizer.decay_from=0.4)
verifier=(--set run.batch_tokens=4096 --set run.smoothing=0.1)
base=(--set model.encoder_layers=3 --set model.decoder_layers=2)
deep=(--set model.encoder_layers=5 --set model.decoder_layers=1)
published=(--set drafter.model.width=384 --set drafter.model.heads=6 --set drafter.feed_forward=1536)
published+=(--set run.batch_tokens=2048 --set run.accumulation=1 --set run.average=1 --set run.precision=auto)
drafter=() every=400 prepare=(--vocabulary-size 8000) sizes=(2000 4000) shape=()
if [ -n "${TRIAL:-}" ]; then
    # Enough updates for outputs to end: distillation drops outputs without EOS.
    updates=${UPDATES:-60} every=20 prepare=() sizes=(300 320)
    run=(--set run.max_updates="$updates" --set run.evaluate_every="$updates" --set run.precision=32-true)
    run+=(--set optimizer.learning_rate=1e-2 --set optimizer.warmup=20)
    verifier=(--set run.batch_tokens=256) drafter=(--set run.batch_tokens=256 --set drafter.feed_forward=64 --set drafter.max_block=3)
    base=(--set model.encoder_layers=1 --set model.decoder_layers=1) deep=(--set model.encoder_layers=2 --set model.decoder_layers=1)
    shape=(--set model.width=32 --set model.heads=2 --set model.feed_forward=64)
    published=(--set drafter.model.width=32 --set drafter.model.heads=2 --set run.accumulation=1)
fi
[ -n "$init" ] && start=(--init "$init") || start=("${shape[@]}")

# Text: every line of `raw.tsv` has the same source as that of the distilled text; `dev.tsv` selects the best state.
text() {
    [ -e "$work/data/prepare.json" ] || specdec prepare "$work/data" "$data"/en-de/train*.tsv.xz "${held_out[@]}" "${prepare[@]}"
    if [ ! -e "$work/raw.tsv" ]; then
        awk -F '\t' -v OFS='\t' -v n="$every" 'NR % n == 0 {print $(NF - 1), $NF}' "$work/data/train.tsv" > "$work/dev.tsv"
        awk -F '\t' -v OFS='\t' -v n="$every" 'NR % n != 0 {print $(NF - 1), $NF}' "$work/data/train.tsv" > "$work/raw.partial"
        mv "$work/raw.partial" "$work/raw.tsv"
    fi
}
distilled() {
    [ -n "$init" ] || stage raw
    [ -e "$work/distilled/distilled.tsv" ] || specdec distill "${init:-$work/raw}" "$work/distilled" "$work/raw.tsv" --max-length 128
}
outputs() {
    stage left-to-right
    [ -e "$work/outputs/distilled.tsv" ] ||
        specdec distill "$work/left-to-right" "$work/outputs" "$work/raw.tsv" --beam-size 1 --keep-copies --max-length 128
}
errors() {
    stage left-to-right
    [ -e "$work/gec-dev.tsv" ] || corrupted
    [ -e "$work/gec-data/prepare.json" ] ||
        specdec prepare "$work/gec-data" "$work/gec.tsv" --tokenizer "$work/left-to-right/tokenizer.model" --target-language en \
            "${held_out[@]}"
}
corrupted() {
    xzcat "$data/en-gec/clean.tsv.xz" | awk -v n="$every" 'NR % n == 0' > "$work/gec-held-out.tsv"
    xzcat "$data/en-gec/clean.tsv.xz" | awk -v n="$every" 'NR % n == 1 || NR % n == 2 || n < 50 && NR % n > 2' > "$work/gec-clean.tsv"
    specdec corrupt "$work/gec-clean.tsv" -o "$work/gec.tsv"
    specdec corrupt "$work/gec-held-out.tsv" -o "$work/gec-dev.tsv"
}

order() { # NAME DATA TOKENIZER [OPTION...]
    local name=$1 text=$2 tokenizer=$3
    shift 3
    specdec train-verifier "$work/$name" --data "$text" --dev "$work/dev.tsv" --tokenizer "$tokenizer" "${start[@]}" "${common[@]}" \
        "${verifier[@]}" "${run[@]}" "$@"
}
draft() { # NAME RECIPE [OPTION...]
    local name=$1 recipe=$2
    shift 2
    outputs
    specdec train-drafter "$work/$name" -m "$work/left-to-right" --data "$work/outputs/distilled.tsv" --dev "$work/dev.tsv" \
        --recipe "$recipe" "${common[@]}" "${run[@]}" "${drafter[@]}" "$@"
}
correct() { # NAME RECIPE [OPTION...]
    local name=$1 recipe=$2
    shift 2
    errors
    specdec train-verifier "$work/$name" --data "$work/gec-data" --dev "$work/gec-dev.tsv" --init "$work/left-to-right" --task correct \
        --target-language en --recipe "$recipe" "${common[@]}" --set run.accumulation=1 "${verifier[@]}" "${run[@]}" "$@"
}
vocabulary() { # NAME SIZE [OPTION...]
    local name=$1 size=$2
    shift 2
    distilled
    [ -e "$work/vocabulary-data-$size/prepare.json" ] ||
        specdec prepare "$work/vocabulary-data-$size" "$work/distilled/distilled.tsv" --vocabulary-size "$size"
    order "$name" "$work/distilled/distilled.tsv" "$work/vocabulary-data-$size/tokenizer.model" "${base[@]}" "$@"
}
train() {
    local own="$work/data/tokenizer.model"
    case $1 in
        raw) order "$1" "$work/raw.tsv" "$own" "${base[@]}" ;;
        left-to-right | right-to-left | double-* | bidirectional | masked)
            distilled; order "$1" "$work/distilled/distilled.tsv" "$own" "${base[@]}" --order "$1" ;;
        left-to-right-from-random) distilled; order "$1" "$work/distilled/distilled.tsv" "$own" "${base[@]}" --set decoder=random ;;
        deep-shallow) distilled; order "$1" "$work/distilled/distilled.tsv" "$own" "${deep[@]}" ;;
        quick) draft "$1" quick-drafter ;;
        blockwise) draft "$1" blockwise --set drafter.chain=0 --set drafter.start=false ;;
        gad-quick) draft "$1" gad-drafter-quick ;;
        gad) draft "$1" gad-drafter "${published[@]}" --set drafter.layers=2 --set drafter.model.encoder_layers=3 ;;
        gad-big) draft "$1" gad-big-drafter "${published[@]}" --set drafter.layers=4 --set drafter.model.encoder_layers=6 ;;
        gec-shallow) correct "$1" report-gec-12-2 "${deep[@]}" ;;
        gec-deep) correct "$1" report-gec-finetune ;;
        vocabulary-2000) vocabulary "$1" "${sizes[0]}" ;;
        vocabulary-2000-bidirectional) vocabulary "$1" "${sizes[0]}" --order bidirectional ;;
        vocabulary-4000) vocabulary "$1" "${sizes[1]}" ;;
        vocabulary-4000-bidirectional) vocabulary "$1" "${sizes[1]}" --order bidirectional ;;
        *) echo "papers.sh: no model is called $1; known are $all" >&2 && exit 2 ;;
    esac
}
stage() {
    [ -e "$work/done/$1.$updates" ] && return
    echo "papers.sh: $1" >&2
    train "$1"
    touch "$work/done/$1.$updates"
}

held_out=()
for file in "$data"/en-de/dev.*.tsv "$data"/en-de/test.*.tsv "$data"/en-gec/dev.*.m2 "$data"/en-gec/test.*.m2 "$data"/en-gec/dev.*/*; do
    [ -e "$file" ] && held_out+=(--held-out "$file")
done
mkdir -p "$work/done"
text
for name in ${STAGES:-$all}; do
    stage "$name"
done
