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
        "") words="prepare --version -h --help" ;;
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
                --source-language) return ;;
                --target-language) return ;;
                *) [[ $current == -* ]] || { compopt -o default; return; }
                    words="--source --target --vocabulary-size --tokenizer --domain --min-characters --max-characters --max-ratio --normalize-punctuation --detokenize --source-language --target-language --force -q --quiet -h --help" ;;
            esac
            ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}
complete -F _specdec specdec
