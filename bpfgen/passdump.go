package bpfgen

import (
	"slices"

	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/opt"
)

// The text of the IR after each pass, for `explain --ir=PASS`, and the check of each pass for --check.

// The stages of Passes that are no passes of the table in package opt.
const (
	PassBuild = "build" // the IR as build made it
	PassLower = "lower" // behind lower, which expands macro ops
)

// Passes gives what Options.DumpPass can name, in the order of the pipeline.
func Passes() []string { return slices.Concat([]string{PassBuild}, opt.Names(), []string{PassLower}) }

// A PassDump is the IR after one run of a pass.
type PassDump struct {
	// Run counts the runs of the pass on this program from 1.
	Run int
	// Lowered: the run was behind lower.
	Lowered bool
	// Changed: the run changed something.
	Changed bool
	// Text is the whole function behind the run, in the text form of package ir.
	Text string
}

// dumps reports whether Unit.Dumps is wanted.
func (g *generator) dumps() bool { return g.o.Dump || g.o.DumpPass != "" }

// A PassError says that a pass of the compiler has made a function that breaks a rule which the next one relies on.
type PassError struct {
	Pass string // one of Passes
	Err  error  // an *ir.CheckError: which rule, and where
}

func (e *PassError) Error() string {
	return "after the pass " + e.Pass + ": " + e.Err.Error() + "; this is a bug in startrace, not in the script"
}
func (e *PassError) Unwrap() error { return e.Err }

// passWatch follows a function through the passes: it checks what each of them made of it, and keeps what one made.
type passWatch struct {
	// o says whether passes are checked, and of which one the text is kept.
	o Options
	// f is the function that the passes change.
	f *ir.Func
	// to gets the texts.
	to   *Dump
	last string // the text after the pass before
	// runs counts those of the pass whose text is kept.
	runs int
	// lowered is set from lower on.
	lowered bool
}

func newPassWatch(o Options, f *ir.Func, to *Dump) *passWatch {
	return &passWatch{o: o, f: f, to: to}
}

// after is called behind each pass.
func (w *passWatch) after(name string) error {
	w.keep(name)
	if !w.o.Check {
		return nil
	}
	if err := w.f.Check(); err != nil {
		return &PassError{name, err}
	}
	return nil
}

// keep adds the text of f to the dump where it is wanted behind this pass.
func (w *passWatch) keep(name string) {
	if w.o.DumpPass == "" {
		return
	}
	text := w.f.String()
	changed := text != w.last
	w.last = text
	if name != w.o.DumpPass {
		return
	}
	w.runs++
	if changed || w.runs == 1 {
		w.to.Passes = append(w.to.Passes, PassDump{w.runs, w.lowered, changed, text})
	}
}

// lower is called behind lower.
func (w *passWatch) lower() error {
	w.lowered = true
	return w.after(PassLower)
}
