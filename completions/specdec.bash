# bash completion for specdec; made by `make completions`; do not edit
_specdec() {
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command="" word words=""
    # Bash takes the = of --option=value for a word.
    if [[ $current == = ]]; then
        current=""
    elif [[ $previous == = ]]; then
        previous=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    COMPREPLY=()
    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        [[ $word == -* ]] || { command=$word; break; }
    done
    case $command in
        "") words="translate correct serve bench prepare train-verifier train-drafter distill corrupt convert visualize models help --version --show-completion -h --help" ;;
        translate)
            case $previous in
                -m|--model) compopt -o plusdirs; words="de-en en-de en-gec" ;;
                --source-language) return ;;
                --target-language) return ;;
                --instruction) return ;;
                --decoding) words="auto greedy beam bidirectional mask-predict specdec specdec++ drafter blockwise input-guided jacobi gs-jacobi hybrid-jacobi lookup ngram-memory draft-model" ;;
                --block-size) words="auto" ;;
                --top-beta) return ;;
                --tolerance) return ;;
                --preset) words="exact high-quality high-efficiency" ;;
                --iterations) return ;;
                --length-beam) return ;;
                --match) words="unique unique-3 nearest" ;;
                --stop) words="prefix fixed-point" ;;
                --draft-model) compopt -o plusdirs; words="de-en en-de en-gec" ;;
                --jacobi-length) words="max" ;;
                --beam-size) return ;;
                --length-penalty) return ;;
                --max-length) return ;;
                --no-repeat-ngram-size) return ;;
                --repetition-penalty) return ;;
                --temperature) return ;;
                --top-k) return ;;
                --n-best) return ;;
                --tm) compopt -o default; return ;;
                --previous) compopt -o default; return ;;
                -s|--similarity) return ;;
                --exact-matches) words="draft copy" ;;
                --glossary) compopt -o default; return ;;
                --keep) return ;;
                --batch-size) words="auto" ;;
                --memory) return ;;
                --device) words="auto cpu cuda" ;;
                --precision) words="auto float32 bfloat16 float16 int8" ;;
                --engine) words="auto native reference" ;;
                --threads) return ;;
                --seed) return ;;
                --format) words="lines txt md srt vtt po xliff html docx pptx odt epub json yaml properties ini csv android strings" ;;
                --without) return ;;
                --columns) return ;;
                --max-line-bytes) return ;;
                -o|--output) compopt -o default; return ;;
                --output-dir) compopt -o plusdirs; return ;;
                --ray) return ;;
                --workers) return ;;
                --retries) return ;;
                --shard-lines) return ;;
                *) [[ $current == -* ]] || { compopt -o default; return; }
                    words="-m --model --source-language --target-language --instruction --decoding --block-size --top-beta --tolerance --preset --iterations --length-beam --match --stop --draft-model --jacobi-length --beam-size --length-penalty --max-length --no-repeat-ngram-size --repetition-penalty --sample --temperature --top-k --n-best --tm --previous -s --similarity --exact-matches --glossary --keep --no-labels --batch-size --memory --device --precision --engine --threads --seed --offline --format --no-split --raw --without --unwrap --front-matter --columns --max-line-bytes -o --output --output-dir --json --stats --trace -q --quiet --ray --workers --retries --shard-lines --all --help-all -h --help" ;;
            esac
            ;;
        correct)
            case $previous in
                -m|--model) compopt -o plusdirs; words="de-en en-de en-gec" ;;
                --instruction) return ;;
                --mode) words="careful balanced thorough" ;;
                --min-score) return ;;
                --max-edit-ratio) return ;;
                --ignore) return ;;
                --ignore-file) compopt -o default; return ;;
                --ignore-category) return ;;
                --words) compopt -o default; return ;;
                --decoding) words="auto greedy beam bidirectional mask-predict specdec specdec++ drafter blockwise input-guided jacobi gs-jacobi hybrid-jacobi lookup ngram-memory draft-model" ;;
                --block-size) words="auto" ;;
                --top-beta) return ;;
                --tolerance) return ;;
                --preset) words="exact high-quality high-efficiency" ;;
                --iterations) return ;;
                --length-beam) return ;;
                --match) words="unique unique-3 nearest" ;;
                --stop) words="prefix fixed-point" ;;
                --draft-model) compopt -o plusdirs; words="de-en en-de en-gec" ;;
                --jacobi-length) words="max" ;;
                --beam-size) return ;;
                --length-penalty) return ;;
                --max-length) return ;;
                --no-repeat-ngram-size) return ;;
                --repetition-penalty) return ;;
                --temperature) return ;;
                --top-k) return ;;
                --batch-size) words="auto" ;;
                --memory) return ;;
                --device) words="auto cpu cuda" ;;
                --precision) words="auto float32 bfloat16 float16 int8" ;;
                --engine) words="auto native reference" ;;
                --threads) return ;;
                --seed) return ;;
                --format) words="lines txt md srt vtt po xliff html docx pptx odt epub json yaml properties ini csv android strings text gnu rdjsonl sarif github" ;;
                --without) return ;;
                --columns) return ;;
                --max-line-bytes) return ;;
                -o|--output) compopt -o default; return ;;
                --output-dir) compopt -o plusdirs; return ;;
                --ray) return ;;
                --workers) return ;;
                --retries) return ;;
                --shard-lines) return ;;
                *) [[ $current == -* ]] || { compopt -o default; return; }
                    words="-m --model --instruction --diff --m2 --check --mode --min-score --max-edit-ratio --ignore --ignore-file --ignore-category --words --decoding --block-size --top-beta --tolerance --preset --iterations --length-beam --match --stop --draft-model --jacobi-length --beam-size --length-penalty --max-length --no-repeat-ngram-size --repetition-penalty --sample --temperature --top-k --batch-size --memory --device --precision --engine --threads --seed --offline --format --no-split --raw --without --unwrap --front-matter --columns --max-line-bytes -o --output --output-dir --json --stats --trace -q --quiet --ray --workers --retries --shard-lines --in-place --help-all -h --help" ;;
            esac
            ;;
        serve)
            case $previous in
                -m|--model) compopt -o plusdirs; words="de-en en-de en-gec" ;;
                --instruction) return ;;
                --host) return ;;
                --port) return ;;
                --unix) compopt -o default; return ;;
                --keys) compopt -o default; return ;;
                --allow-origin) return ;;
                --max-requests) return ;;
                --max-characters) return ;;
                --time-limit) return ;;
                --glossary) compopt -o default; return ;;
                --keep) return ;;
                --ignore) return ;;
                --ignore-file) compopt -o default; return ;;
                --ignore-category) return ;;
                --words) compopt -o default; return ;;
                --decoding) words="auto greedy beam bidirectional mask-predict specdec specdec++ drafter blockwise input-guided jacobi gs-jacobi hybrid-jacobi lookup ngram-memory draft-model" ;;
                --block-size) words="auto" ;;
                --top-beta) return ;;
                --tolerance) return ;;
                --preset) words="exact high-quality high-efficiency" ;;
                --iterations) return ;;
                --length-beam) return ;;
                --match) words="unique unique-3 nearest" ;;
                --stop) words="prefix fixed-point" ;;
                --draft-model) compopt -o plusdirs; words="de-en en-de en-gec" ;;
                --jacobi-length) words="max" ;;
                --beam-size) return ;;
                --length-penalty) return ;;
                --max-length) return ;;
                --no-repeat-ngram-size) return ;;
                --repetition-penalty) return ;;
                --temperature) return ;;
                --top-k) return ;;
                --batch-size) words="auto" ;;
                --memory) return ;;
                --device) words="auto cpu cuda" ;;
                --precision) words="auto float32 bfloat16 float16 int8" ;;
                --engine) words="auto native reference" ;;
                --threads) return ;;
                --seed) return ;;
                *) words="-m --model --instruction --host --port --unix --keys --allow-origin --max-requests --max-characters --time-limit -q --quiet --glossary --keep --no-labels --ignore --ignore-file --ignore-category --words --decoding --block-size --top-beta --tolerance --preset --iterations --length-beam --match --stop --draft-model --jacobi-length --beam-size --length-penalty --max-length --no-repeat-ngram-size --repetition-penalty --sample --temperature --top-k --batch-size --memory --device --precision --engine --threads --seed --offline --help-all -h --help" ;;
            esac
            ;;
        bench)
            case $previous in
                --input) compopt -o default; return ;;
                --reference) compopt -o default; return ;;
                --task) words="translate summarise correct simplify" ;;
                --score) words="tokens characters" ;;
                --limit) return ;;
                --row) words="greedy beam bidirectional mask-predict specdec specdec++ drafter blockwise input-guided jacobi gs-jacobi hybrid-jacobi lookup ngram-memory draft-model ctranslate2-greedy ctranslate2-beam transformers-greedy transformers-beam transformers-lookup" ;;
                --sweep) return ;;
                --repetitions) return ;;
                --plot) compopt -o default; return ;;
                --analysis) return ;;
                --baseline) words="greedy beam bidirectional mask-predict specdec specdec++ drafter blockwise input-guided jacobi gs-jacobi hybrid-jacobi lookup ngram-memory draft-model ctranslate2-greedy ctranslate2-beam transformers-greedy transformers-beam transformers-lookup" ;;
                --geometry) return ;;
                -m|--model) compopt -o plusdirs; words="de-en en-de en-gec" ;;
                --source-language) return ;;
                --target-language) return ;;
                --instruction) return ;;
                --block-size) words="auto" ;;
                --iterations) return ;;
                --length-beam) return ;;
                --draft-model) compopt -o plusdirs; words="de-en en-de en-gec" ;;
                --jacobi-length) words="max" ;;
                --beam-size) return ;;
                --length-penalty) return ;;
                --max-length) return ;;
                --no-repeat-ngram-size) return ;;
                --repetition-penalty) return ;;
                --batch-size) words="auto" ;;
                --device) words="auto cpu cuda" ;;
                --precision) words="auto float32 bfloat16 float16 int8" ;;
                --engine) words="auto native reference" ;;
                --threads) return ;;
                --json) compopt -o default; return ;;
                *) [[ $current == -* ]] || { compopt -o default; return; }
                    words="--input --reference --task --keep-tokens --score --limit --row --sweep --oracle-length --repetitions --profile --histogram --plot --analysis --baseline --tune --synthetic --geometry --check-device -m --model --source-language --target-language --instruction --block-size --iterations --length-beam --draft-model --jacobi-length --beam-size --length-penalty --max-length --no-repeat-ngram-size --repetition-penalty --batch-size --device --precision --engine --threads --no-split --raw --json --markdown -q --quiet --offline --help-all -h --help" ;;
            esac
            ;;
        prepare)
            case $previous in
                --source) compopt -o default; return ;;
                --target) compopt -o default; return ;;
                --vocabulary-size) return ;;
                --tokenizer) compopt -o default; return ;;
                --domain) return ;;
                --min-characters) return ;;
                --max-characters) return ;;
                --max-ratio) return ;;
                --held-out) compopt -o default; return ;;
                --vary) return ;;
                --number-copies) return ;;
                --name-copies) return ;;
                --temperature) return ;;
                --source-language) return ;;
                --target-language) return ;;
                *) [[ $current == -* ]] || { compopt -o default; return; }
                    words="--source --target --vocabulary-size --tokenizer --domain --min-characters --max-characters --max-ratio --same-numbers --repair-numbers --held-out --vary --number-copies --name-copies --temperature --normalize-punctuation --detokenize --source-language --target-language --force -q --quiet --help-all -h --help" ;;
            esac
            ;;
        train-verifier)
            case $previous in
                --data) compopt -o default; return ;;
                --dev) compopt -o default; return ;;
                --tokenizer) compopt -o default; return ;;
                --recipe) compopt -o default; words="blockwise double-token double-token-quick en-de-distilled en-de-drafter en-de-verifier en-gec-careful en-gec-constructions en-gec-corrupt en-gec-corrupt-learners en-gec-finetuned en-gec-learners en-gec-verifier en-gec-whole en-simple gad-big-drafter gad-drafter gad-drafter-quick gad-verifier mask-predict mask-predict-quick quick-drafter quick-verifier report-drafter report-gec-12-2 report-gec-finetune report-gec-pretrain report-gec-scratch zh-gec-corrupt" ;;
                --set) return ;;
                --init) compopt -o plusdirs; words="de-en en-de en-gec" ;;
                --source-language) return ;;
                --target-language) return ;;
                --task) words="translate summarise correct simplify" ;;
                --order) words="left-to-right right-to-left double-left-to-right double-right-to-left bidirectional masked" ;;
                --devices) return ;;
                --device) words="auto cpu cuda" ;;
                --threads) return ;;
                *) [[ $current == -* ]] || { compopt -o default; return; }
                    words="--data --dev --tokenizer --recipe --set --init --source-language --target-language --task --order --devices --device --threads -q --quiet --help-all -h --help" ;;
            esac
            ;;
        train-drafter)
            case $previous in
                --dev) compopt -o default; return ;;
                -m|--model|--verifier) compopt -o plusdirs; words="de-en en-de en-gec" ;;
                --data) compopt -o default; return ;;
                --source) compopt -o default; return ;;
                --recipe) compopt -o default; words="blockwise double-token double-token-quick en-de-distilled en-de-drafter en-de-verifier en-gec-careful en-gec-constructions en-gec-corrupt en-gec-corrupt-learners en-gec-finetuned en-gec-learners en-gec-verifier en-gec-whole en-simple gad-big-drafter gad-drafter gad-drafter-quick gad-verifier mask-predict mask-predict-quick quick-drafter quick-verifier report-drafter report-gec-12-2 report-gec-finetune report-gec-pretrain report-gec-scratch zh-gec-corrupt" ;;
                --set) return ;;
                --init) compopt -o plusdirs; words="de-en en-de en-gec" ;;
                --devices) return ;;
                --device) words="auto cpu cuda" ;;
                --threads) return ;;
                *) [[ $current == -* ]] || { compopt -o default; return; }
                    words="--dev -m --model --verifier --data --source --recipe --set --init --simulate --devices --device --threads -q --quiet --help-all -h --help" ;;
            esac
            ;;
        distill)
            case $previous in
                --with) compopt -o plusdirs; words="de-en en-de en-gec" ;;
                --instruction) return ;;
                --beam-size) return ;;
                --length-penalty) return ;;
                --max-length) return ;;
                --max-source-length) return ;;
                --quantization) return ;;
                --nearest) return ;;
                --draft-model) compopt -o plusdirs; words="de-en en-de en-gec" ;;
                --temperature) return ;;
                --top-k) return ;;
                --seed) return ;;
                --shard-lines) return ;;
                --batch-tokens) return ;;
                --device) words="auto cpu cuda" ;;
                --threads) return ;;
                --ray) return ;;
                --workers) return ;;
                --retries) return ;;
                *) [[ $current == -* ]] || { compopt -o default; return; }
                    words="--with --instruction --beam-size --length-penalty --max-length --max-source-length --quantization --keep-copies --nearest --sample --draft-model --temperature --top-k --seed --shard-lines --batch-tokens --device --threads -q --quiet --ray --workers --retries --help-all -h --help" ;;
            esac
            ;;
        corrupt)
            case $previous in
                --column) return ;;
                --recipe) compopt -o default; words="blockwise double-token double-token-quick en-de-distilled en-de-drafter en-de-verifier en-gec-careful en-gec-constructions en-gec-corrupt en-gec-corrupt-learners en-gec-finetuned en-gec-learners en-gec-verifier en-gec-whole en-simple gad-big-drafter gad-drafter gad-drafter-quick gad-verifier mask-predict mask-predict-quick quick-drafter quick-verifier report-drafter report-gec-12-2 report-gec-finetune report-gec-pretrain report-gec-scratch zh-gec-corrupt" ;;
                --set) return ;;
                --copies) return ;;
                --seed) return ;;
                --processes) return ;;
                -o|--output) compopt -o default; return ;;
                --ray) return ;;
                --workers) return ;;
                --retries) return ;;
                --shard-lines) return ;;
                *) [[ $current == -* ]] || { compopt -o default; return; }
                    words="--column --recipe --set --copies --seed --processes -o --output -q --quiet --ray --workers --retries --shard-lines --help-all -h --help" ;;
            esac
            ;;
        convert)
            case $previous in
                --from) return ;;
                --to) words="bundle ctranslate2" ;;
                --source-language) return ;;
                --target-language) return ;;
                --task) words="translate summarise correct simplify" ;;
                --instruction) return ;;
                --decoder-layers) return ;;
                --revision) return ;;
                --storage) words="float32 float16 int8" ;;
                --set) return ;;
                --average) compopt -o plusdirs; return ;;
                --order-vocabulary) compopt -o default; return ;;
                --ngrams) compopt -o default; return ;;
                --lexicon) compopt -o default; return ;;
                --quantization) return ;;
                *) [[ $current == -* ]] || { compopt -o default; return; }
                    words="--from --to --source-language --target-language --task --instruction --decoder-layers --revision --storage --set --average --order-vocabulary --ngrams --lexicon --quantization --force -q --quiet --offline --help-all -h --help" ;;
            esac
            ;;
        visualize)
            case $previous in
                -m|--model) compopt -o plusdirs; words="de-en en-de en-gec" ;;
                --source-language) return ;;
                --target-language) return ;;
                --instruction) return ;;
                --decoding) words="greedy beam bidirectional mask-predict specdec specdec++ drafter blockwise input-guided jacobi gs-jacobi hybrid-jacobi lookup ngram-memory draft-model" ;;
                --block-size) words="auto" ;;
                --file) compopt -o default; return ;;
                --limit) return ;;
                -o|--output) compopt -o default; return ;;
                --device) words="auto cpu cuda" ;;
                --threads) return ;;
                *) words="-m --model --source-language --target-language --instruction --decoding --block-size --file --limit -o --output --device --threads --offline --help-all -h --help" ;;
            esac
            ;;
        models)
            case $previous in
                *) [[ $current == -* ]] || { compopt -o default; return; }
                    words="--forget --json --help-all -h --help" ;;
            esac
            ;;
        help)
            case $previous in
                *) words="translate correct serve bench prepare train-verifier train-drafter distill corrupt convert visualize models" ;;
            esac
            ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}
complete -F _specdec specdec
