package main

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/alecthomas/kong"

	"github.com/startrace/startrace/internal/mistake"
	"github.com/startrace/startrace/internal/session"
)

// settings has the flags of a run: session.Settings with tags. Zero values
// mean what the help calls the default.
type settings struct {
	Code     []string      `short:"e" sep:"none" placeholder:"CODE" help:"Run CODE; several are lines of one script."`
	Command  string        `short:"c" placeholder:"CMD" help:"${command}"`
	PID      int           `name:"pid" short:"p" placeholder:"PID" help:"Trace only this process and end with it."`
	Follow   bool          `short:"f" help:"With -p: trace also the processes that it starts. With -c they always are."`
	Duration time.Duration `placeholder:"10s" help:"End after this time."`
	Output   string        `short:"o" placeholder:"FILE" help:"Write results to FILE."`
	Format   string        `placeholder:"FORMAT" words:"text,json,csv,folded" help:"${format}"`
	Quiet    bool          `short:"q" help:"Print no messages, only results and errors."`
	Verbose  bool          `short:"v" help:"Say what runs where, and how long the start took."`
	StrMax   int           `placeholder:"N" help:"Cut captured strings at N bytes (256)."`
	Check    bool          `help:"Verify what each pass of the compiler has made of a program; the start takes longer."`

	AllowWrite []string `sep:"none" placeholder:"DIR" help:"Let the script write files below DIR."`
	AllowRun   bool     `help:"Let the script run commands."`
	Unsafe     bool     `help:"Let the script change what it traces (send_signal), and probe kernel addresses."`
}

// grammar is the command line: `startrace [flags] FILE [args]`.
type grammar struct {
	Settings settings `embed:""`
	Help     bool     `short:"h" help:"Print this help; after FILE also that of the script."`
	Version  bool     `help:"Print the version, the commit, and facts of the kernel."`
	Args     []string `arg:"" optional:"" passthrough:""`
}

// explainGrammar is that of `startrace explain [flags] FILE`.
type explainGrammar struct {
	Settings settings `embed:""`
	Help     bool     `short:"h" help:"Print this help."`
	Types    bool     `help:"Show the typed trees."`
	IR       irFlag   `name:"ir" help:"Show the intermediate code; --ir=PASS that after a pass, --ir=list names them."`
	Asm      bool     `help:"Show the instructions."`
	Args     []string `arg:"" optional:"" passthrough:""`
}

// An irFlag is --ir or --ir=PASS.
type irFlag struct {
	set  bool
	pass string
}

// IsBool says that the word behind --ir is not its value.
func (f *irFlag) IsBool() bool { return true }

// Decode reads --ir and --ir=PASS.
func (f *irFlag) Decode(ctx *kong.DecodeContext) error {
	if ctx.Scan.Peek().Type == kong.FlagValueToken {
		f.pass = ctx.Scan.Pop().String()
		return nil
	}
	f.set = true
	return nil
}

// wordsGrammar is that of the commands that print something about startrace.
type wordsGrammar struct {
	Help bool     `short:"h" help:"Print this help."`
	Args []string `arg:"" optional:""`
}

// docGrammar is that of `startrace doc [NAME]`.
type docGrammar struct {
	Man  bool     `help:"Print the man page, for man(1)."`
	Help bool     `short:"h" help:"Print this help."`
	Args []string `arg:"" optional:""`
}

// doctorGrammar is that of `startrace doctor [--json]`.
type doctorGrammar struct {
	JSON bool `name:"json" help:"Write an object of JSON instead of text."`
	Help bool `short:"h" help:"Print this help."`
}

// listGrammar is that of `startrace list [-v] [PATTERN …]`.
type listGrammar struct {
	Verbose bool     `short:"v" help:"Show arguments with their types, formats, where things are, layouts of types."`
	PID     int      `name:"pid" short:"p" placeholder:"PID" help:"${sees}"`
	Format  string   `placeholder:"FORMAT" words:"text,json" help:"text (the default), or json: an object a line."`
	Output  string   `short:"o" placeholder:"FILE" help:"Write to FILE."`
	Quiet   bool     `short:"q" help:"Do not say what could not be looked at."`
	Help    bool     `short:"h" help:"Print this help."`
	Args    []string `arg:"" optional:""`
}

func (g *listGrammar) settings() session.Settings {
	return session.Settings{Verbose: g.Verbose, PID: g.PID, Format: g.Format, Output: g.Output, Quiet: g.Quiet}
}

// longHelp has what flags do where that is too long for a line of a struct.
var longHelp = kong.Vars{
	"command": "Start CMD under the trace and end when it ends; at the prompt go() starts it.",
	"format":  "Format of results: text (the default), json, csv or folded.",
	"sees":    "Look for programs and libraries as this process sees them.",
}

// newParser makes a parser into one of the grammars.
func newParser(into any) *kong.Kong {
	return kong.Must(into, kong.Name("startrace"), kong.NoDefaultHelp(), kong.Exit(func(int) {}), longHelp)
}

func parseInto(into any, args []string) error {
	given, err := newParser(into).Parse(args)
	if err != nil {
		return plain(err)
	}
	if err := once(given); err != nil {
		return err
	}
	return noZero(given)
}

// once refuses a flag that is given twice and has one value: the first would be
// lost without a word. A switch says the same twice, and lists have all.
func once(given *kong.Context) error {
	seen := map[string]bool{}
	for _, p := range given.Path {
		f := p.Flag
		if f == nil || f.Target.Kind() == reflect.Bool || f.Target.Kind() == reflect.Slice {
			continue
		}
		if seen[f.Name] {
			return twice(f.Name)
		}
		seen[f.Name] = true
	}
	return nil
}

// twice is the error for a flag that is given twice.
func twice(name string) error {
	instead := "give it once"
	switch name {
	case "command":
		instead = `one command is started: -c "sh -c 'A & B & wait'" starts several`
	case "pid":
		instead = "one process is traced: without -p, " +
			"`where = lambda e: e.pid in (1, 2)` or --where 'e.pid in (1, 2)' takes several"
	}
	return &mistake.Usage{Err: fmt.Errorf("--%s is given twice; %s", name, instead)}
}

// noZero refuses flags that say nothing, as --pid "$PID" with an empty PID does:
// zero values mean that a flag was not given, and the run would be another one.
func noZero(given *kong.Context) error {
	for _, p := range given.Path {
		if f := p.Flag; f != nil && !f.IsBool() && f.Target.IsZero() {
			return &mistake.Usage{Err: fmt.Errorf("--%s: got %q, want a value that is neither empty nor 0", f.Name,
				fmt.Sprint(f.Target))}
		}
	}
	return nil
}

// unknownFlag refuses what kong takes for the file: a flag that it does not
// know.
func unknownFlag(args []string, known func() []session.Flag) error {
	if len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' {
		return session.UnknownFlag(args[0], known())
	}
	return nil
}

// parseRest reads what a script left of its arguments and adds it to the
// flags that stood in front of the file.
func parseRest(args []string, s *session.Settings) error {
	var g grammar
	if err := parseInto(&g, args); err != nil {
		return err
	}
	if g.Version {
		return &mistake.Usage{Err: errors.New("--version stands alone: startrace --version")}
	}
	return g.Settings.behind(g.Args, s)
}

// behind adds flags that stood behind the file; args is what was no flag.
func (f *settings) behind(args []string, s *session.Settings) error {
	switch {
	case len(args) > 0:
		return &mistake.Usage{Err: fmt.Errorf("unexpected argument %s", args[0])}
	case len(f.Code) > 0:
		return &mistake.Usage{Err: errors.New("-e and a file exclude each other")}
	}
	return f.addTo(s)
}

// stages are those that explain is to show, in all.
func (g *explainGrammar) stages(st *session.Stages) {
	st.Types, st.IR, st.Asm = st.Types || g.Types, st.IR || g.IR.set, st.Asm || g.Asm
	override(&st.Pass, g.IR.pass)
}

// addTo adds what is set to what stood in front of the file; a value that both
// have is refused.
func (f *settings) addTo(s *session.Settings) error {
	override(&s.Follow, f.Follow)
	override(&s.Quiet, f.Quiet)
	override(&s.Verbose, f.Verbose)
	override(&s.Check, f.Check)
	s.AllowWrite = append(s.AllowWrite, f.AllowWrite...)
	override(&s.AllowRun, f.AllowRun)
	override(&s.Unsafe, f.Unsafe)
	return cmp.Or(
		set("command", &s.Command, f.Command),
		set("pid", &s.PID, f.PID),
		set("duration", &s.Duration, f.Duration),
		set("output", &s.Output, f.Output),
		set("format", &s.Format, f.Format),
		set("str-max", &s.StrMax, f.StrMax),
	)
}

// set sets what has no value yet.
func set[T comparable](name string, dst *T, v T) error {
	var zero T
	if v != zero && *dst != zero {
		return twice(name)
	}
	override(dst, v)
	return nil
}

func override[T comparable](dst *T, v T) {
	var zero T
	if v != zero {
		*dst = v
	}
}

// flagList describes the command's flags, for those that need them.
var flagList = sync.OnceValue(func() []session.Flag { return describeFlags(&grammar{}) })

func describeFlags(of any) (out []session.Flag) {
	for _, f := range newParser(of).Model.Flags {
		d := session.Flag{Long: f.Name, Help: f.Help}
		if words := f.Tag.Get("words"); words != "" {
			d.Words = strings.Split(words, ",")
		}
		if f.Short != 0 {
			d.Short = string(f.Short)
		}
		if !f.IsBool() {
			d.Value = f.FormatPlaceHolder()
		}
		out = append(out, d)
	}
	return out
}
