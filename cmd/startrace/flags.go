package main

import (
	"errors"
	"sync"

	"github.com/startrace/startrace/internal/flags"
	"github.com/startrace/startrace/internal/mistake"
	"github.com/startrace/startrace/internal/session"
)

// The flags of a run and of each command, a row each with its help.

// told is what the flags of startrace and of its commands say.
type told struct {
	// settings are those of a run.
	settings session.Settings
	// stages are those that explain shows.
	stages session.Stages
	// help: there was -h or --help; version: there was --version.
	help    bool
	version bool
	man     bool   // doc --man
	json    bool   // doctor --json
	btf     string // verify --btf
}

// settingsFlags adds the flags of a run.
func settingsFlags(set *flags.Set, s *session.Settings) {
	set.Texts(flags.Flag{Long: "code", Short: "e", Value: "CODE",
		Help: "Run CODE; several are lines of one script."}, &s.Code)
	set.Text(flags.Flag{Long: "command", Short: "c", Value: "CMD",
		Help: "Start CMD under the trace, end with it and its exit code; at the prompt go() starts it.",
		Once: `one command is started: -c "sh -c 'A & B & wait'" starts several`}, &s.Command)
	scopeFlags(set, s)
	set.Time(flags.Flag{Long: "duration", Value: "10s", Help: "End after this time."}, &s.Duration)
	set.Time(flags.Flag{Long: "drain", Value: "5s",
		Help: "At the end, handle what was recorded for at most this time (1s)."}, &s.Drain)
	set.Func(flags.Flag{Long: "memory", Value: "SIZE",
		Help: "Keep the process within this (64M, which values may exceed); tables in the kernel do not count."},
		s.TakeMemory)
	set.Text(flags.Flag{Long: "output", Short: "o", Value: "FILE", Help: "Write results to FILE."}, &s.Output)
	set.Text(flags.Flag{Long: "format", Value: "FORMAT", Words: []string{"text", "json", "csv", "folded"},
		Help: "Format of results: text (the default), json, csv or folded."}, &s.Format)
	set.Switch(flags.Flag{Long: "csv-guard",
		Help: "With --format csv: put ' before texts that spreadsheets would take for formulas."}, &s.Guard)
	set.Switch(flags.Flag{Long: "addresses",
		Help: "Tell stacks apart by the addresses in their functions, and show these as offsets."}, &s.Addresses)
	set.Switch(flags.Flag{Long: "quiet", Short: "q",
		Help: "Print no messages, only results, warnings and errors."}, &s.Quiet)
	set.Switch(flags.Flag{Long: "verbose", Short: "v", Help: "Say what runs where, and how long the start took."},
		&s.Verbose)
	set.Number(flags.Flag{Long: "str-max", Value: "N", Help: "Cut captured strings at N bytes (256)."}, &s.StrMax)
	set.Switch(flags.Flag{Long: "lines",
		Help: "Show file:line in stacks of programs, and functions that were inlined, by debug information."},
		&s.Lines)
	set.Text(flags.Flag{Long: "names", Value: "FORM", Words: []string{"short", "full"},
		Help: "Names of C++ and Rust: short (the default), or full, with parameters and the arguments of templates."},
		&s.Names)
	set.Choice(flags.Flag{Long: "exact", Help: "Miss no call where the kernel preempts programs (6.19 on); all calls " +
		"take longer. --no-exact: let it preempt also those of syscall:, which else miss none."}, &s.Exact)
	set.Switch(flags.Flag{Long: "check",
		Help: "Verify what each pass of the compiler has made of a program; the start takes longer."}, &s.Check)

	set.Texts(flags.Flag{Long: "allow-write", Value: "DIR", Help: "Let the script write files below DIR."},
		&s.AllowWrite)
	set.Switch(flags.Flag{Long: "allow-run", Help: "Let the script run commands."}, &s.AllowRun)
	set.Switch(flags.Flag{Long: "unsafe",
		Help: "Let the script change what it traces (send_signal), and probe kernel addresses."}, &s.Unsafe)
}

// scopeFlags say which processes a run concerns. What several of them say must hold together.
func scopeFlags(set *flags.Set, s *session.Settings) {
	set.Numbers(flags.Flag{Long: "pid", Short: "p", Value: "PID",
		Help: "Trace only this process, or several (-p 1,2 -p 3), and end with the last."}, &s.PIDs)
	set.Switch(flags.Flag{Long: "follow", Short: "f",
		Help: "With -p: trace also the children, and what these start. With -c they always are."}, &s.Follow)
	set.Text(flags.Flag{Long: "cgroup", Value: "PATH",
		Help: "Trace only processes in this cgroup (of version 2) and below it."}, &s.Cgroup)
	set.Text(flags.Flag{Long: "container", Value: "ID",
		Help: "Trace only this container: its id, or how that begins."}, &s.Container)
	set.Text(flags.Flag{Long: "user", Value: "USER",
		Help: "Trace only processes of this user, by name or number."}, &s.User)
}

// runFlags are those of `startrace [flags] FILE [args]`, into s and t.
func runFlags(s *session.Settings, t *told) *flags.Set {
	set := &flags.Set{}
	settingsFlags(set, s)
	set.Switch(flags.Flag{Long: "help", Short: "h", Help: "Print this help; after FILE also that of the script."},
		&t.help)
	set.Switch(flags.Flag{Long: "version", Help: "Print the version, the commit, and facts of the kernel."}, &t.version)
	return set
}

// explainFlags are those of `startrace explain [flags] FILE`.
func explainFlags(s *session.Settings, t *told) *flags.Set {
	set := &flags.Set{}
	settingsFlags(set, s)
	helpFlag(set, t)
	set.Switch(flags.Flag{Long: "types", Help: "Show the typed trees."}, &t.stages.Types)
	set.Func(flags.Flag{Long: "ir",
		Help: "Show the intermediate code; --ir=PASS that after a pass, --ir=list names them."}, t.takeIR)
	set.Switch(flags.Flag{Long: "asm", Help: "Show the instructions."}, &t.stages.Asm)
	return set
}

// auditFlags are those of `startrace audit [flags] FILE`.
func auditFlags(s *session.Settings, t *told) *flags.Set {
	set := &flags.Set{}
	settingsFlags(set, s)
	helpFlag(set, t)
	return set
}

// takeIR takes --ir and --ir=PASS.
func (t *told) takeIR(w flags.Word) error {
	switch {
	case !w.Inline:
		t.stages.IR = w.Value == "true"
	case t.stages.Pass != "":
		return flags.Twice(w.Flag)
	default:
		t.stages.Pass = w.Value
	}
	return nil
}

func helpFlag(set *flags.Set, t *told) {
	set.Switch(flags.Flag{Long: "help", Short: "h", Help: "Print this help."}, &t.help)
}

// wordsFlags are those of the commands that print something about startrace.
func wordsFlags(t *told) *flags.Set {
	set := &flags.Set{}
	helpFlag(set, t)
	return set
}

// docFlags are those of `startrace doc [NAME]`.
func docFlags(t *told) *flags.Set {
	set := &flags.Set{}
	set.Switch(flags.Flag{Long: "man", Help: "Print the man page, for man(1)."}, &t.man)
	helpFlag(set, t)
	return set
}

// doctorFlags are those of `startrace doctor [--json]`.
func doctorFlags(t *told) *flags.Set {
	set := &flags.Set{}
	set.Switch(flags.Flag{Long: "json", Help: "Write an object of JSON instead of text."}, &t.json)
	helpFlag(set, t)
	return set
}

// listFlags are those of `startrace list [-v] [PATTERN …]`.
func listFlags(t *told) *flags.Set {
	set, s := &flags.Set{}, &t.settings
	set.Switch(flags.Flag{Long: "verbose", Short: "v",
		Help: "Show arguments with their types, formats, where things are, layouts of types."}, &s.Verbose)
	set.Numbers(flags.Flag{Long: "pid", Short: "p", Value: "PID",
		Help: "Look for programs and libraries as this process sees them."}, &s.PIDs)
	set.Text(flags.Flag{Long: "format", Value: "FORMAT", Words: []string{"text", "json"},
		Help: "text (the default), or json: an object a line."}, &s.Format)
	set.Text(flags.Flag{Long: "output", Short: "o", Value: "FILE", Help: "Write to FILE."}, &s.Output)
	set.Switch(flags.Flag{Long: "quiet", Short: "q", Help: "Do not say what could not be looked at."}, &s.Quiet)
	helpFlag(set, t)
	return set
}

// verifyFlags are those of `startrace verify [FILE|TOOL …]`.
func verifyFlags(t *told) *flags.Set {
	set, s := &flags.Set{}, &t.settings
	set.Text(flags.Flag{Long: "format", Value: "FORMAT", Words: []string{"text", "json"},
		Help: "text (the default), or json: an object a line."}, &s.Format)
	set.Text(flags.Flag{Long: "output", Short: "o", Value: "FILE", Help: "Write to FILE."}, &s.Output)
	set.Text(flags.Flag{Long: "btf", Value: "FILE",
		Help: "The types of another kernel: its /sys/kernel/btf/vmlinux, or its vmlinux."}, &t.btf)
	set.Text(flags.Flag{Long: "command", Short: "c", Value: "CMD",
		Help: "The program that tools are about which need one. It is not started."}, &s.Command)
	helpFlag(set, t)
	return set
}

// behindFile are the flags of a run as they may stand behind the file, too.
func behindFile(s *session.Settings) *flags.Set { return runFlags(s, &told{}) }

// flagList describes the flags of a run, for those that need them.
var flagList = sync.OnceValue(func() []flags.Flag { return behindFile(&session.Settings{}).List() })

// usage makes a mistake in the command line of what is wrong with a flag.
func usage(err error) error {
	if err == nil {
		return nil
	}
	return &mistake.Usage{Err: err}
}

// unknownFlag refuses what would be taken for the file: a flag that is not known.
// It may be one of the script.
func unknownFlag(rest []string, set *flags.Set) error {
	if len(rest) == 0 || len(rest[0]) < 2 || rest[0][0] != '-' {
		return nil
	}
	unknown := set.Unknown(rest[0])
	if unknown.Near == "" {
		return mistake.Usagef("%w; a flag of a script, tool or command stands behind its name", unknown)
	}
	return usage(unknown)
}

// asUnknown gives the flag that a command does not have, if that is what is wrong.
func asUnknown(err error) (flag string, ok bool) {
	var unknown *flags.UnknownError
	if errors.As(err, &unknown) {
		return unknown.Word, true
	}
	return "", false
}
