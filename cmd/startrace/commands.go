package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/startrace/startrace/internal/command"
	"github.com/startrace/startrace/internal/manual"
	"github.com/startrace/startrace/internal/mistake"
	"github.com/startrace/startrace/internal/session"
)

// commands are the words that may stand first and are no scripts.
var commands map[string]func(o session.Options, args []string) int

func init() { // the functions refer to the table
	commands = map[string]func(o session.Options, args []string) int{
		"explain": explain, "list": list, "doctor": doctor, "tools": tools, "doc": doc, "help": help,
		"completion": completion, "complete": complete,
	}
}

// book is the table of the commands, with their flags.
func book() *manual.Book {
	b := &manual.Book{Flags: flagList(), Commands: manual.Commands()}
	command.Library(b)
	grammars := map[string]any{"explain": &explainGrammar{}, "list": &listGrammar{}, "doctor": &doctorGrammar{},
		"doc": &docGrammar{}}
	for i := range b.Commands {
		c := &b.Commands[i]
		c.Flags = describeFlags(&wordsGrammar{})
		if g := grammars[c.Name]; g != nil {
			c.Flags = describeFlags(g)
		}
	}
	return b
}

// printHelp prints the help of a command.
func printHelp(o session.Options, name string) int {
	c, ok := book().Command(name)
	if !ok {
		return session.Done // complete, which is for shells
	}
	return printed(o, always(c.Help))
}

func explainFlags() []session.Flag { return describeFlags(&explainGrammar{}) }

func explain(o session.Options, args []string) int {
	var g explainGrammar
	err := parseInto(&g, args)
	if err == nil {
		err = unknownFlag(g.Args, explainFlags)
	}
	if err != nil {
		return report(session.Usage, err)
	}
	var st session.Stages
	g.stages(&st)
	o.Flags = explainFlags
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
		return printHelp(o, "explain")
	}
	return report(session.Explain(o, &st))
}

// list is `startrace list [PATTERN …]`.
func list(o session.Options, args []string) int {
	var g listGrammar
	if err := parseInto(&g, args); err != nil {
		return report(session.Usage, err)
	}
	if g.Help {
		return printHelp(o, "list")
	}
	o.Settings, o.Args = g.settings(), g.Args
	return report(command.List(o))
}

// doctor is `startrace doctor`.
func doctor(o session.Options, args []string) int {
	var g doctorGrammar
	if err := parseInto(&g, args); err != nil {
		return report(session.Usage, err)
	}
	if g.Help {
		return printHelp(o, "doctor")
	}
	return report(command.Doctor(o, g.JSON))
}

// few refuses more arguments than a command takes.
func few(args []string, most int) error {
	if len(args) > most {
		return &mistake.Usage{Err: fmt.Errorf("unexpected argument %s", args[most])}
	}
	return nil
}

// words reads the arguments of a command that has no flags; done says that
// its exit code is decided.
func words(o session.Options, command string, args []string, most int) (rest []string, exit int, done bool) {
	var g wordsGrammar
	err := parseInto(&g, args)
	if err == nil {
		err = few(g.Args, most)
	}
	switch {
	case err != nil:
		return nil, report(session.Usage, err), true
	case g.Help:
		return nil, printHelp(o, command), true
	}
	return g.Args, session.Done, false
}

// tools is `startrace tools`.
func tools(o session.Options, args []string) int {
	_, exit, done := words(o, "tools", args, 0)
	if done {
		return exit
	}
	return printed(o, always(command.Tools))
}

// doc is `startrace doc [NAME]` and `startrace doc --man`.
func doc(o session.Options, args []string) int {
	var g docGrammar
	err := parseInto(&g, args)
	if err == nil {
		err = few(g.Args, 1)
	}
	switch {
	case err != nil:
		return report(session.Usage, err)
	case g.Help:
		return printHelp(o, "doc")
	case g.Man:
		return printed(o, always(func(w io.Writer) { book().Man(w, versionWord()) }))
	}
	return printed(o, func(w io.Writer) error { return command.Doc(w, append(g.Args, "")[0]) })
}

// help is `startrace help [TOPIC]`: the help of a command or a script, else
// what doc has.
func help(o session.Options, args []string) int {
	topic, exit, done := words(o, "help", args, 1)
	if done {
		return exit
	}
	b := book()
	if len(topic) == 0 {
		return printed(o, always(b.Help))
	}
	name := topic[0]
	if c, ok := b.Command(name); ok {
		return printed(o, always(c.Help))
	}
	if slices.Contains(b.Words(), name) {
		o.Args = []string{name, "--help"}
		return report(session.Run(o))
	}
	return printed(o, func(w io.Writer) error { return command.Help(w, name, b.Words()) })
}

// completion is `startrace completion SHELL`.
func completion(o session.Options, args []string) int {
	shell, exit, done := words(o, "completion", args, 1)
	if done {
		return exit
	}
	text, ok := manual.Completion(append(shell, "")[0])
	if !ok {
		return report(session.Usage,
			&mistake.Usage{Err: fmt.Errorf("want one of the shells %v: startrace completion bash",
				manual.ShellNames)})
	}
	return printed(o, always(func(w io.Writer) { fmt.Fprint(w, text) }))
}

// complete is what the shells' completion asks: `startrace complete SHELL
// LINE`. It is in no list of commands.
func complete(o session.Options, args []string) int {
	if len(args) != 2 {
		return report(session.Usage, &mistake.Usage{Err: fmt.Errorf("want the shell and the line")})
	}
	return report(command.Complete(o, book(), args[0], args[1]))
}
