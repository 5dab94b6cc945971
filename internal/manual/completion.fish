# fish completion for startrace: startrace completion fish | source
function __startrace_complete
    for line in (startrace complete fish (commandline -cp | string collect) 2>/dev/null)
        if test "$line" = ":"
            __fish_complete_path (commandline -ct)
        else
            echo $line
        end
    end
end
complete -c startrace -f -a '(__startrace_complete)'
