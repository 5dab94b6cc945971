#compdef startrace
# zsh completion for startrace: startrace completion zsh > _startrace, in a folder of fpath
_startrace() {
    local line word
    local -a found shown open
    for line in "${(@f)$(startrace complete zsh "${(j: :)words[1,CURRENT]}" 2>/dev/null)}"; do
        word=${line%%$'\t'*}
        case $word in
            '') ;;
            :) _files ;;
            *: | *=) open+=("$word") ;; # a kind of points goes on behind its colon
            *) found+=("$word"); shown+=("${line/$'\t'/  -- }") ;;
        esac
    done
    (( $#open )) && compadd -S '' -a open
    (( $#found )) && compadd -l -d shown -a found
}
if [[ $funcstack[1] == _startrace ]]; then _startrace "$@"; else compdef _startrace startrace; fi
