# bash completion for startrace: source <(startrace completion bash)
_startrace() {
    local line word
    COMPREPLY=()
    while IFS= read -r line; do
        word=${line%%$'\t'*}
        if [[ $word == : ]]; then # files, too
            compopt -o filenames 2>/dev/null
            while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "${COMP_WORDS[COMP_CWORD]}")
            continue
        fi
        COMPREPLY+=("$word")
        # A kind of points goes on behind its colon.
        [[ $word == *: || $word == *= ]] && compopt -o nospace 2>/dev/null
    done < <(startrace complete bash "${COMP_LINE:0:COMP_POINT}" 2>/dev/null)
}
complete -F _startrace startrace
