package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/startrace/startrace/internal/command"
	"github.com/startrace/startrace/internal/flags"
	"github.com/startrace/startrace/internal/manual"
	"github.com/startrace/startrace/internal/mistake"
	"github.com/startrace/startrace/internal/session"
)

// Which function runs each command, how many words it takes, and the message that a command has no such flag.

// A commandKind is a word that may stand first and is no script.
type commandKind struct {
	// start runs it with what its flags say and the other words.
	start func(o session.Options, t *told, args []string) int
	// flags are those that stand behind the command, or in front of it; nil: no word is one.
	flags func(*told) *flags.Set
	// script: the command is about a script, to which the words behind the file belong.
	script bool
}

var commands map[string]commandKind

func init() { // the functions refer to the table
	commands = map[string]commandKind{
		"audit":      {audit, func(t *told) *flags.Set { return auditFlags(&t.settings, t) }, true},
		"explain":    {explain, func(t *told) *flags.Set { return explainFlags(&t.settings, t) }, true},
		"list":       {list, listFlags, false},
		"doctor":     {doctor, doctorFlags, false},
		"doc":        {doc, docFlags, false},
		"tools":      {tools, wordsFlags, false},
		"help":       {help, wordsFlags, false},
		"completion": {completion, wordsFlags, false},
		"verify":     {verify, verifyFlags, false},
		"complete":   {complete, nil, false},
	}
}

// mostArguments is how many words a command takes that are no flags, where that
// is bounded.
var mostArguments = map[string]int{"doctor": 0, "tools": 0, "doc": 1, "help": 1, "completion": 1}

// commandOf finds the command that the words ask for, and gives what it is
// told: flags that it has may stand before its name, too. With -e there is no
// command, for the words belong to the script.
func commandOf(args []string) (name string, told []string, ok bool) {
	for i, word := range args {
		c, ok := commands[word]
		if ok && (i == 0 || c.takes(args[:i])) {
			return word, slices.Concat(args[:i], args[i+1:]), true
		}
	}
	return "", nil, false
}

// takes says that words are flags of the command, with their values, and no
// more than that.
func (c commandKind) takes(words []string) bool {
	if c.flags == nil {
		return false
	}
	set := c.flags(&told{})
	rest, err := set.Front(words)
	return err == nil && len(rest) == 0 && !set.Given("code")
}

// runCommand reads what a command is told, and starts it.
func runCommand(o session.Options, name string, args []string) int {
	c := commands[name]
	t := &told{}
	if c.flags == nil {
		return c.start(o, t, args)
	}
	rest, err := c.read(name, t, args)
	switch {
	case err != nil:
		return report(session.Usage, err)
	case t.help:
		return printHelp(o, name)
	}
	o.Settings = t.settings
	return c.start(o, t, rest)
}

// read reads what a command is told. Its mistakes name its own help. Of explain,
// what is behind the file may be of the script.
func (c commandKind) read(name string, t *told, args []string) (rest []string, err error) {
	set := c.flags(t)
	if c.script {
		if rest, err = set.Front(args); err == nil {
			err = unknownFlag(rest, set)
		}
	} else {
		rest, err = set.All(args)
	}
	if most, few := mostArguments[name]; err == nil && few && len(rest) > most {
		err = fmt.Errorf("unexpected argument %s", rest[most])
	}
	if err == nil {
		return rest, nil
	}
	return nil, &mistake.Usage{Err: flagOfRuns(name, err), Of: name}
}

// flagOfRuns says where a flag belongs that a command has not, but startrace
// has.
func flagOfRuns(name string, err error) error {
	flag, isUnknown := asUnknown(err)
	for _, f := range flagList() {
		if isUnknown && (flag == "--"+f.Long || flag == "-"+f.Short) {
			return fmt.Errorf("%s has no flag %s, which is for runs of a script or a tool: startrace %s … TOOL", name,
				flag, flag)
		}
	}
	return err
}

// misplaced refuses a command behind flags that it has not.
func misplaced(args, rest []string) error {
	if len(rest) == 0 || commands[rest[0]].flags == nil {
		return nil
	}
	name := rest[0]
	_, err := commands[name].read(name, &told{}, args[:len(args)-len(rest)])
	return err
}

// book is the table of the commands, with their flags.
func book() *manual.Book {
	b := &manual.Book{Flags: flagList(), Commands: manual.Commands()}
	command.Library(b)
	for i := range b.Commands {
		c := &b.Commands[i]
		c.Flags = commands[c.Name].flags(&told{}).List()
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

// explain is `startrace explain [flags] FILE`.
func explain(o session.Options, t *told, args []string) int {
	o.Args = args
	o.Own = func(s *session.Settings) *flags.Set { return explainFlags(s, t) }
	return report(session.Explain(o, &t.stages))
}

// audit is `startrace audit [flags] FILE`.
func audit(o session.Options, t *told, args []string) int {
	o.Args = args
	o.Own = func(s *session.Settings) *flags.Set { return auditFlags(s, t) }
	return report(session.Audit(o))
}

// list is `startrace list [PATTERN …]`.
func list(o session.Options, _ *told, args []string) int {
	o.Args = args
	return report(command.List(o))
}

// doctor is `startrace doctor`.
func doctor(o session.Options, t *told, _ []string) int { return report(command.Doctor(o, t.json)) }

// verify is `startrace verify [FILE|TOOL …]`.
func verify(o session.Options, t *told, args []string) int {
	o.Args = args
	return report(command.Verify(o, t.btf))
}

// tools is `startrace tools`.
func tools(o session.Options, _ *told, _ []string) int { return printed(o, always(command.Tools)) }

// doc is `startrace doc [NAME]` and `startrace doc --man`.
func doc(o session.Options, t *told, args []string) int {
	if t.man {
		return printed(o, always(func(w io.Writer) { book().Man(w, versionWord()) }))
	}
	return printed(o, func(w io.Writer) error { return command.Doc(w, append(args, "")[0]) })
}

// help is `startrace help [TOPIC]`: the help of a command or a script, else
// what doc has.
func help(o session.Options, _ *told, topic []string) int {
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
func completion(o session.Options, _ *told, shell []string) int {
	text, ok := manual.Completion(append(shell, "")[0])
	if !ok {
		return report(session.Usage,
			mistake.Usagef("want one of the shells %v: startrace completion bash", manual.ShellNames))
	}
	return printed(o, always(func(w io.Writer) { fmt.Fprint(w, text) }))
}

// complete is what the shells' completion asks: `startrace complete SHELL
// LINE`. It is in no list of commands.
func complete(o session.Options, _ *told, args []string) int {
	if len(args) != 2 {
		return report(session.Usage, mistake.Usagef("want the shell and the line"))
	}
	return report(command.Complete(o, book(), args[0], args[1]))
}
