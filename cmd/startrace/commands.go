package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/startrace/startrace/internal/command"
	"github.com/startrace/startrace/internal/manual"
	"github.com/startrace/startrace/internal/mistake"
	"github.com/startrace/startrace/internal/session"
)

// A commandKind is a word that may stand first and is no script.
type commandKind struct {
	start func(o session.Options, args []string) int
	// grammar makes what the words behind the command are read into; nil: none of them is a flag.
	grammar func() any
}

var commands map[string]commandKind

func init() { // the functions refer to the table
	plainWords := func() any { return new(wordsGrammar) }
	commands = map[string]commandKind{
		"explain":    {explain, func() any { return new(explainGrammar) }},
		"list":       {list, func() any { return new(listGrammar) }},
		"doctor":     {doctor, func() any { return new(doctorGrammar) }},
		"doc":        {doc, func() any { return new(docGrammar) }},
		"tools":      {tools, plainWords},
		"help":       {help, plainWords},
		"completion": {completion, plainWords},
		"complete":   {complete, nil},
	}
}

// commandOf finds the command that the words ask for, and gives what it is
// told: flags that it has may stand before its name, too. With -e there is no
// command, for the words belong to the script.
func commandOf(args []string) (c commandKind, told []string, ok bool) {
	for i, word := range args {
		c, ok := commands[word]
		if ok && (i == 0 || c.takes(args[:i])) {
			return c, slices.Concat(args[:i], args[i+1:]), true
		}
	}
	return commandKind{}, nil, false
}

// takes says that words are flags of the command, with their values, and no
// more than that.
func (c commandKind) takes(words []string) bool {
	if c.grammar == nil {
		return false
	}
	into := c.grammar()
	given, err := newParser(into).Parse(words)
	if err != nil {
		return false
	}
	for _, p := range given.Path {
		if p.Positional != nil || p.Flag != nil && p.Flag.Name == "code" {
			return false
		}
	}
	return true
}

// readWords reads what a command is told. Its mistakes name its own help.
func readWords(name string, into any, args []string) error {
	err := parseInto(into, args)
	var wrong *mistake.Usage
	if errors.As(err, &wrong) {
		wrong.Of = name
		wrong.Err = flagOfRuns(name, wrong.Err)
	}
	return err
}

// flagOfRuns says where a flag belongs that a command has not, but startrace
// has.
func flagOfRuns(name string, unknown error) error {
	flag, isUnknown := strings.CutPrefix(unknown.Error(), "unknown flag ")
	flag, _, _ = strings.Cut(flag, " ")
	for _, f := range flagList() {
		if isUnknown && (flag == "--"+f.Long || flag == "-"+f.Short) {
			return fmt.Errorf("%s has no flag %s, which is for runs of a script or a tool: startrace %s … TOOL", name,
				flag, flag)
		}
	}
	return unknown
}

// misplaced refuses a command behind flags that it has not.
func misplaced(args, rest []string) error {
	if len(rest) == 0 || commands[rest[0]].grammar == nil {
		return nil
	}
	name := rest[0]
	return readWords(name, commands[name].grammar(), args[:len(args)-len(rest)])
}

// book is the table of the commands, with their flags.
func book() *manual.Book {
	b := &manual.Book{Flags: flagList(), Commands: manual.Commands()}
	command.Library(b)
	for i := range b.Commands {
		c := &b.Commands[i]
		c.Flags = describeFlags(commands[c.Name].grammar())
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
	err := readWords("explain", &g, args)
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
	if err := readWords("list", &g, args); err != nil {
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
	if err := readWords("doctor", &g, args); err != nil {
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
	err := readWords(command, &g, args)
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
	err := readWords("doc", &g, args)
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
