# Completes the words of orange in bash. `source <(orange completion bash)`, or install Orange with bash-completion.
# shellcheck shell=bash

_orange() {
    local tab=$'\t' line candidate width=0
    local -a lines=()
    COMPREPLY=()
    while IFS= read -r line; do
        if [[ $line == :files ]]; then
            compopt -o default 2>/dev/null
        else
            lines+=("$line")
        fi
    done < <(orange complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
    # What completes the word at once must not hold a description: 37 and 42 are menu-complete and insert-completions.
    if [[ ${#lines[@]} -eq 1 || ${COMP_TYPE:-9} -eq 37 || ${COMP_TYPE:-9} -eq 42 ]]; then
        for line in "${lines[@]}"; do COMPREPLY+=("${line%%"$tab"*}"); done
        return
    fi
    for line in "${lines[@]}"; do
        candidate=${line%%"$tab"*}
        if ((${#candidate} > width)); then width=${#candidate}; fi
    done
    for line in "${lines[@]}"; do
        candidate=${line%%"$tab"*}
        if [[ $line == *"$tab"?* ]]; then
            printf -v candidate '%-*s  (%s)' "$width" "$candidate" "${line#*"$tab"}"
        fi
        COMPREPLY+=("$candidate")
    done
}

complete -F _orange orange
