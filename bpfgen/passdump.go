package bpfgen

import (
	"slices"

	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/opt"
)

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
	Text    string
}

// dumps reports whether Unit.Dumps is wanted.
func (g *generator) dumps() bool { return g.o.Dump || g.o.DumpPass != "" }

// passWatch follows a function through the passes and keeps what one of them
// made of it.
type passWatch struct {
	want    string
	f       *ir.Func
	to      *Dump
	last    string // the text after the pass before
	runs    int
	lowered bool
}

func newPassWatch(want string, f *ir.Func, to *Dump) *passWatch {
	return &passWatch{want: want, f: f, to: to}
}

// after is called behind each pass.
func (w *passWatch) after(name string) {
	if w.want == "" {
		return
	}
	text := w.f.String()
	changed := text != w.last
	w.last = text
	if name != w.want {
		return
	}
	w.runs++
	if changed || w.runs == 1 {
		w.to.Passes = append(w.to.Passes, PassDump{w.runs, w.lowered, changed, text})
	}
}

// lower is called behind lower.
func (w *passWatch) lower() {
	w.lowered = true
	w.after(PassLower)
}
