# fish completion for startrace: startrace completion fish | source
function __startrace_complete
    for line in (startrace complete fish (commandline -cp | string collect) 2>/dev/null)
        if test "$line" = ":"
            # Files as fish finds them for a command that it knows nothing of, also behind a quote.
            complete -C "__startrace_files "(commandline -ct | string collect)
        else
            echo $line
        end
    end
end
complete -c startrace -f -a '(__startrace_complete)'
