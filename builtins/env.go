// Package builtins has what scripts can call, a file for each family.
//
// A builtin that concerns tracing does not act: it records what was declared,
// and Env.Plan makes the plan of it when the script has ended. What does act
// (timers, output, the end of the run) goes through the Runtime, which the
// session implements. Each builtin carries its signature and text: the
// reference, help and completion come from them.
//
// Everything here runs on the one goroutine that runs the script.
package builtins

import (
	"fmt"
	"go.starlark.net/starlark"
	"strings"

	"github.com/startrace/startrace/internal/format"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/starlark/value"
)

// An Env is what the builtins of one script share.
type Env struct {
	Runtime Runtime
	// CallAt tells of a call in the source by the position that a traceback
	// has for it: the name it is assigned to, if any, and where it begins.
	CallAt func(pos plan.Pos) (name string, begin plan.Pos)
	// Declared says that all is declared: the script has run, and its probes are
	// loaded. At the prompt it stays false.
	Declared bool
	// Asks reports whether the script has variable.attr somewhere.
	Asks func(variable, attr string) bool
	// Loading reports whether a module's top level is running.
	Loading func() bool
	// Labels give text for raw values; the session adds those that need the
	// machine.
	Labels value.Labels
	// Enum gives the enumerators of an enum of the kernel by its name, else all
	// whose names begin so. nil: there are none.
	Enum func(name string) []kernel.EnumValue
	// Number gives a type of ints of the kernel as C spells it. nil: there are none.
	Number func(name string) (t kernel.Type, ok bool)
	// UserSymbol names an address of a process; pid 0 is the one that is
	// traced.
	UserSymbol func(pid int, addr uint64) (string, error)
	// Open gives the entries of a span that are open, as (key, record); nil
	// before the span is loaded.
	Open func(*plan.Span) ([]starlark.Value, error)
	// Expression makes a function of the event of a text; name stands for its
	// file in messages. parts are its elements as they were written.
	Expression func(name, text string) (fn *starlark.Function, parts []string, err error)
	// Outside is what proc, write_file and run act on; nil: there is none.
	Outside Outside
	// Escape is applied to the strings that print and printf write.
	Escape format.Escape
	// Traced are strings whose line feeds and tabs are not the script's.
	Traced *value.Traced
	// Full counts what containers had no room for in user space.
	Full  *value.Full
	Flags *Flags
	// Muted drops all output: the script runs only for its --help.
	Muted bool

	planned    []*pointMaker // those of all plans
	probes     []*Probe
	containers []value.Container
	points     *pointMaker
	spelled    expressionParts
	typedTexts map[string]string // what was given for flags, with their titles
	strMax     int
	stacks     int
	formats    map[string]*format.Format
	families   map[string]value.LabelFunc // of names()
	fmtArgs    []format.Arg
	out        []byte
}

// New makes the environment of a script.
func New(rt Runtime) *Env {
	e := &Env{
		Runtime: rt,
		CallAt:  func(pos plan.Pos) (string, plan.Pos) { return "", pos },
		Asks:    func(string, string) bool { return false },
		Loading: func() bool { return false },
		Flags:   &Flags{},
		Traced:  &value.Traced{},
		Full:    &value.Full{},
		formats: make(map[string]*format.Format),
	}
	e.Labels = e.labels()
	return e
}

// Probes gives the probes in the order of their declaration.
func (e *Env) Probes() []*Probe { return e.probes }

// Containers gives the containers by their numbers in the plan, which they
// get when the plan is made.
func (e *Env) Containers() []value.Container { return e.containers }

// An Entry is a builtin: how it is called, what it does.
type Entry struct {
	Name string
	// Family groups entries in the reference.
	Family    string
	Signature string
	Doc       string

	call  func(e *Env, c *call) (starlark.Value, error)
	value starlark.Value // for constants and modules instead of call
}

// A call is one call of a builtin.
type call struct {
	thread *starlark.Thread
	name   string
	args   starlark.Tuple
	kwargs []starlark.Tuple
}

// unpack is starlark.UnpackArgs for the call.
func (c *call) unpack(pairs ...any) error {
	err := starlark.UnpackArgs(c.name, c.args, c.kwargs, pairs...)
	if err != nil {
		return c.argumentHint(err, pairs)
	}
	return nil
}

// foreignArguments are words that one may try for arguments, with ours.
var foreignArguments = map[string][]string{
	"filter": {"where"}, "predicate": {"where"}, "when": {"where"}, "cond": {"where"}, "condition": {"where"},
	"pred":     {"where"},
	"callback": {"handler"}, "fn": {"handler"}, "func": {"handler"}, "function": {"handler"}, "action": {"handler"},
	"user": {"handler"}, "on_event": {"handler"},
	"bpf": {"kernel"}, "on_start": {"start"}, "enter": {"start"}, "entry": {"start"},
	"key": {"by", "key"}, "keys": {"by"}, "columns": {"by"}, "group_by": {"by"}, "max": {"size", "top"},
	"limit": {"size", "top"}, "max_entries": {"size"}, "entries": {"size"},
	"n": {"top"}, "count": {"top"}, "description": {"help"}, "doc": {"help"}, "typ": {"type"}, "kind": {"type"},
	"bits": {"sub"}, "buckets": {"sub"},
	"min": {"lo"}, "low": {"lo"}, "high": {"hi"}, "width": {"step"}, "str": {"string"}, "strlen": {"string"},
	"str_max": {"string"},
}

// argumentHint adds our word to what is said of an argument that is none.
func (c *call) argumentHint(err error, pairs []any) error {
	for _, kw := range c.kwargs {
		if !strings.HasSuffix(err.Error(), "unexpected keyword argument "+kw[0].String()) {
			continue
		}
		for _, ours := range foreignArguments[string(kw[0].(starlark.String))] {
			for i := 0; i < len(pairs); i += 2 {
				if strings.Trim(pairs[i].(string), "?") == ours {
					return fmt.Errorf("%w (did you mean %s?)", err, ours)
				}
			}
		}
	}
	return err
}

// pos is where the script made the call.
func (c *call) pos() plan.Pos {
	if c.thread.CallStackDepth() < 2 {
		return plan.Pos{}
	}
	return c.thread.CallFrame(1).Pos
}

// families is the order of the reference.
var families = [][]Entry{
	probeFamily, pointFamily, containerFamily, outputFamily, timeFamily,
	flagFamily, expressionFamily, machineFamily, numberFamily, labelFamily, kernelFamily, outsideFamily, moduleFamily,
}

// Entries gives all builtins in the order of the reference.
func Entries() []Entry {
	var out []Entry
	for _, f := range families {
		out = append(out, f...)
	}
	return out
}

// Lookup finds a builtin by name.
func Lookup(name string) (Entry, bool) {
	for _, f := range families {
		for _, en := range f {
			if en.Name == name {
				return en, true
			}
		}
	}
	return Entry{}, false
}

// Predeclared gives the builtins as values for scripts.
func (e *Env) Predeclared() starlark.StringDict {
	out := make(starlark.StringDict)
	for _, f := range families {
		for _, en := range f {
			out[en.Name] = en.bind(e)
		}
	}
	return out
}

// bind gives the value of the entry in an environment.
func (en Entry) bind(e *Env) starlark.Value {
	if en.value != nil {
		return en.value
	}
	return starlark.NewBuiltin(en.Name, func(th *starlark.Thread, b *starlark.Builtin, args starlark.Tuple,
		kwargs []starlark.Tuple) (starlark.Value, error) {
		return en.call(e, &call{th, b.Name(), args, kwargs})
	})
}
