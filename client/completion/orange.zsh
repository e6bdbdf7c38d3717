#compdef orange
# Completes the words of orange in zsh. `source <(orange completion zsh)` after compinit, or as _orange in $fpath.

_orange() {
    local line
    local -a described
    for line in "${(@f)$(orange complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
        if [[ $line == :files ]]; then
            _files
        elif [[ $line == *$'\t'?* ]]; then
            described+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
        elif [[ -n $line ]]; then
            described+=("${${line%%$'\t'*}//:/\\:}")
        fi
    done
    if (( $#described )); then
        _describe -t orange orange described
    fi
}

if [[ ${funcstack[1]} == _orange ]]; then
    _orange "$@"
else
    compdef _orange orange
fi
