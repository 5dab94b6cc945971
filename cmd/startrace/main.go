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
)

func main() {
	session.MaybeCommand()
	os.Exit(run(os.Args[1:]))
}

func run(args []string) int {
	signal.Notify(make(chan os.Signal, 1), unix.SIGPIPE) // a closed pipe becomes an error of the write
	o := session.Options{Rest: parseRest, Flags: flagList, Stdin: os.Stdin, Stdout: standardOutput(),
		Stderr: os.Stderr}
	if c, told, ok := commandOf(args); ok {
		return c.start(o, told) // a signal ends it at once: it only prints
	}
	o.Signals = watchSignals()
	var g grammar
	err := parseInto(&g, args)
	if err == nil {
		err = unknownFlag(g.Args, flagList)
	}
	if err == nil && len(g.Settings.Code) == 0 && !g.Version {
		err = misplaced(args, g.Args)
	}
	if err != nil {
		return report(session.Usage, err)
	}
	o.Settings, o.Args = session.Settings(g.Settings), g.Args
	nothing := len(g.Args) == 0 && len(g.Settings.Code) == 0
	switch {
	case g.Version:
		return printVersion(o)
	case g.Help && nothing:
		return printed(o, always(book().Help))
	case g.Help:
		o.Args = append(o.Args, "--help")
	case nothing:
		return report(prompt.Run(o))
	}
	return report(session.Run(o))
}

// watchSignals gives the signals that end a run, in order.
func watchSignals() <-chan os.Signal {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT)
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
	mistake.Print(os.Stderr, text)
	var usage *mistake.Usage
	if errors.As(err, &usage) {
		fmt.Fprintf(os.Stderr, "%s --help shows the usage.\n", strings.TrimSpace("startrace "+usage.Of))
		return session.Usage
	}
	return max(exit, session.Failed)
}
