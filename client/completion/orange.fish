# Completes the words of orange in fish. `orange completion fish | source`, or as orange.fish in a completions folder.

function __orange_complete
    set -l current (commandline -ct)
    set -l words (commandline -opc)
    for line in (orange complete -- $words[2..-1] "$current" 2>/dev/null)
        if test "$line" = :files
            __fish_complete_path "$current"
        else
            echo $line
        end
    end
end

complete -c orange -f -a '(__orange_complete)'
