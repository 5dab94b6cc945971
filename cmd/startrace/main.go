// Command startrace runs a tracing script.
//
// This package has flags, signals and exit codes; what they mean is in
// internal/session.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/signal"

	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/internal/session"
)

func main() {
	session.MaybeCommand()
	os.Exit(run(os.Args[1:]))
}

func run(args []string) int {
	o := session.Options{Rest: parseRest, Flags: flagList, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Signals: watchSignals()}
	if len(args) > 0 {
		switch args[0] {
		case "explain":
			return explain(o, args[1:])
		case "list":
			return list(o, args[1:])
		case "doctor":
			return doctor(o, args[1:])
		case "tools", "doc":
			return words(o, args[0], args[1:])
		}
	}
	var g grammar
	err := parseInto(&g, args)
	if err == nil {
		err = g.unknownFlag()
	}
	if err != nil {
		return report(session.Usage, err)
	}
	o.Settings, o.Args = session.Settings(g.Settings), g.Args
	switch {
	case g.Version:
		fmt.Println(versionLine())
		return session.Done
	case g.Help && len(g.Args) == 0 && len(g.Settings.Code) == 0:
		session.PrintHelp(o)
		return session.Done
	case g.Help:
		o.Args = append(o.Args, "--help")
	case len(g.Args) == 0 && len(g.Settings.Code) == 0:
		return report(session.Prompt(o))
	}
	return report(session.Run(o))
}

func explain(o session.Options, args []string) int {
	var g explainGrammar
	if err := parseInto(&g, args); err != nil {
		return report(session.Usage, err)
	}
	var st session.Stages
	g.stages(&st)
	o.Flags = func() []session.Flag { return describeFlags(&explainGrammar{}) }
	o.Rest = func(args []string, s *session.Settings) error {
		var behind explainGrammar
		if err := parseInto(&behind, args); err != nil {
			return err
		}
		behind.stages(&st)
		return behind.Settings.behind(behind.Args, s)
	}
	o.Settings, o.Args = session.Settings(g.Settings), g.Args
	if g.Help {
		session.PrintHelp(o)
		return session.Done
	}
	return report(session.Explain(o, &st))
}

// list is `startrace list [PATTERN …]`.
func list(o session.Options, args []string) int {
	var g listGrammar
	if err := parseInto(&g, args); err != nil {
		return report(session.Usage, err)
	}
	o.Settings, o.Args = g.settings(), g.Args
	o.Flags = func() []session.Flag { return describeFlags(&listGrammar{}) }
	if g.Help {
		session.PrintListHelp(o)
		return session.Done
	}
	return report(session.List(o))
}

// doctor is `startrace doctor`.
func doctor(o session.Options, args []string) int {
	var g doctorGrammar
	if err := parseInto(&g, args); err != nil {
		return report(session.Usage, err)
	}
	if g.Help {
		o.Flags = func() []session.Flag { return describeFlags(&g) }
		session.PrintDoctorHelp(o)
		return session.Done
	}
	return report(session.Doctor(o, g.JSON))
}

// words is `startrace tools` and `startrace doc [NAME]`.
func words(o session.Options, command string, args []string) int {
	var g wordsGrammar
	if err := parseInto(&g, args); err != nil {
		return report(session.Usage, err)
	}
	most := map[string]int{"tools": 0, "doc": 1}[command]
	switch {
	case g.Help:
		session.PrintHelp(o)
	case len(g.Args) > most:
		return report(session.Usage, &session.UsageError{Err: fmt.Errorf("unexpected argument %s", g.Args[most])})
	case command == "tools":
		session.Tools(os.Stdout)
	default:
		name := append(g.Args, "")[0]
		return report(session.Done, session.Doc(os.Stdout, name))
	}
	return session.Done
}

// watchSignals gives the signals that end a run. A closed pipe becomes an
// error of the write instead of the end of the process: the run must still
// end in order.
func watchSignals() <-chan os.Signal {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, unix.SIGINT, unix.SIGTERM, unix.SIGHUP)
	signal.Notify(make(chan os.Signal, 1), unix.SIGPIPE)
	return signals
}

// report prints the error that ended a run, if one did, and gives the exit
// code.
func report(exit int, err error) int {
	if err == nil {
		return exit
	}
	var inScript *session.ScriptError
	if errors.As(err, &inScript) {
		fmt.Fprintln(os.Stderr, inScript) // begins with its place
	} else {
		fmt.Fprintln(os.Stderr, "startrace:", err)
	}
	var usage *session.UsageError
	if errors.As(err, &usage) {
		fmt.Fprintln(os.Stderr, "startrace --help shows the usage.")
		return session.Usage
	}
	return max(exit, session.Failed)
}
