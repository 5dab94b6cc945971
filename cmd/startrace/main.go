// Command startrace runs a tracing script.
//
// This package has flags, signals and exit codes; what they mean is in
// internal/session and internal/prompt.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/internal/mistake"
	"github.com/startrace/startrace/internal/prompt"
	"github.com/startrace/startrace/internal/session"
	"github.com/startrace/startrace/internal/sigaction/plain"
)

// main: where a command line goes, how an error is printed and which exit code it gives.

func main() {
	session.MaybeCommand()
	if err := tooFewFiles(); err != nil {
		fmt.Fprintf(os.Stderr, "startrace: %v\n", err)
		os.Exit(session.Failed)
	}
	os.Exit(run(os.Args[1:]))
}

func run(args []string) int {
	signal.Notify(make(chan os.Signal, 1), unix.SIGPIPE) // a closed pipe becomes an error of the write
	o := session.Options{Own: behindFile, Stdin: os.Stdin, Stdout: standardOutput(), Stderr: os.Stderr}
	if name, words, ok := commandOf(args); ok {
		return runCommand(o, name, words) // a signal ends it at once: it only prints
	}
	o.Signals = watchSignals()
	t := &told{}
	set := runFlags(&t.settings, t)
	rest, err := set.Front(args)
	if err = usage(err); err == nil {
		err = unknownFlag(rest, set)
	}
	if err == nil && len(t.settings.Code) == 0 && !t.version {
		err = misplaced(args, rest)
	}
	if err != nil {
		return report(session.Usage, err)
	}
	o.Settings, o.Args = t.settings, rest
	nothing := len(rest) == 0 && len(t.settings.Code) == 0
	switch {
	case t.version:
		return printVersion(o)
	case t.help && nothing:
		return printed(o, always(book().Help))
	case t.help:
		o.Args = append(o.Args, "--help")
	case nothing:
		return report(prompt.Run(o))
	}
	return report(session.Run(o))
}

// watchSignals gives the signals that end a run, in order.
func watchSignals() <-chan os.Signal {
	signals := make(chan os.Signal, 2)
	plain.Notify(signals, unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT, unix.SIGABRT)
	return signals
}

// report prints the error that ended a run, if one did, and gives the exit
// code.
func report(exit int, err error) int {
	if err == nil {
		return exit
	}
	if errors.Is(err, unix.EPIPE) {
		return max(exit, session.Failed) // nobody reads any more, as behind `| head`: it wants no words
	}
	text := "startrace: " + err.Error()
	var inScript *mistake.Script
	if errors.As(err, &inScript) {
		text = inScript.Error() // begins with its place
	}
	mistake.Print(os.Stderr, text+ofFiles(err))
	var usage *mistake.Usage
	if errors.As(err, &usage) {
		fmt.Fprintf(os.Stderr, "%s --help shows the usage.\n", strings.TrimSpace("startrace "+usage.Of))
		return session.Usage
	}
	return max(exit, session.Failed)
}
