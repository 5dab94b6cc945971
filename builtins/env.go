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
	"context"
	"time"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/internal/escape"
	"github.com/startrace/startrace/internal/format"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/starlark/value"
)

// Env, what the builtins of a script share, and Entry, what a builtin is made of.

// An Env is what the builtins of one script share.
type Env struct {
	// Runtime is what builtins ask of the run.
	Runtime Runtime
	// CallAt tells of a call in the source by the position that a traceback
	// has for it: the name it is assigned to, if any, and where it begins.
	CallAt func(pos plan.Pos) (name string, begin plan.Pos)
	// TextOf gives the first argument of the call at such a position where it is a text as such. nil: nobody knows.
	TextOf func(pos plan.Pos) plan.Literal
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
	// Number gives a type of ints as C spells it: a declared one, or one of the kernel. nil: there are none.
	Number func(name string, declared ...plan.TypesText) (t kernel.Type, ok bool)
	// SizeOf gives the size in bytes of a type as C spells it: of a declared one, or one of the kernel. The error is a
	// mistake in a declaration. nil: nobody knows.
	SizeOf func(name string, declared ...plan.TypesText) (n int, ok bool, err error)
	// ConstantsOf gives the constants of the enums in the last of the texts that were declared. The error is a mistake
	// in a declaration.
	ConstantsOf func(declared ...plan.TypesText) ([]kernel.EnumValue, error)
	// UserSymbol names an address of a process; pid 0 is the one that is
	// traced.
	UserSymbol func(pid int, addr uint64) (string, error)
	// Open gives the entries of a span that are open, as (key, record); nil
	// before the span is loaded.
	Open func(*plan.Span) ([]starlark.Value, error)
	// Expression makes of a text a function that takes the event, as of "e.pid > 1". In messages name stands for its
	// file. parts are the elements of the text as they were written.
	Expression func(name, text string) (fn *starlark.Function, parts Spelling, err error)
	// Wait is called by a builtin that waits for something, and done when it has ended. ctx is done once the script is
	// stopped, so that nothing need be waited for; nil: it never is.
	Wait func() (ctx context.Context, done func())
	// Outside is what proc, write_file and run act on; nil: there is none.
	Outside Outside
	// Escape is applied to the strings that print and printf write.
	Escape escape.How
	// Traced are strings whose line feeds and tabs are not the script's.
	Traced *value.Traced
	// Full counts what containers had no room for in user space.
	Full *value.Full
	// Flags are those of the script, and the arguments that it was given.
	Flags *Flags
	// Muted drops all output: the script runs only for its --help.
	Muted bool

	// planned made the points of all plans so far.
	planned []*pointMaker
	// probes are those that were declared so far, in that order.
	probes []*Probe
	// containers are those of the script, but for members of groups, which live in the group.
	containers []value.Container
	// later are the functions that every(), after() and at_exit() have got so far.
	later []starlark.Callable
	// points makes the points of the plan that is being made.
	points *pointMaker
	// spelled has the elements of functions that Expression has made.
	spelled expressionParts
	// typedTexts are the texts that were given for flags, with the titles of these, for messages about them.
	typedTexts map[string]string
	// strMax is the longest string in bytes, and stacks how many stacks a part keeps, as limits() was given them; 0:
	// nothing was said.
	strMax, stacks int
	// types are the texts of types(), in the order of the calls.
	types []plan.TypesText
	// formats are those of printf that were read so far, by their text, and printed those of them that were the very
	// same string, by where it is: a script's own, again and again.
	formats map[string]*format.Format
	printed map[place]*format.Format
	// families write numbers by the names of constants, by their prefix, for names().
	families map[string]value.LabelFunc
	// fmtArgs are the arguments of the printf that runs. The room is used again.
	fmtArgs []format.Arg
	// out is the text that print or printf is making. The room is used again.
	out []byte
}

// Probes gives the probes in the order of their declaration.
func (e *Env) Probes() []*Probe { return e.probes }

// Containers gives the containers by their numbers in the plan, which they
// get when the plan is made.
func (e *Env) Containers() []value.Container { return e.containers }

// An Entry is a builtin: how it is called, what it does.
type Entry struct {
	// Name is the one by which scripts call it.
	Name string
	// Family groups entries in the reference.
	Family string
	// Signature shows how it is called, for help and messages.
	Signature string
	// Doc is what the reference says of it, in Markdown.
	Doc string
	// Reaches says what the builtin does outside of tracing, for `startrace audit`; "" for nothing.
	Reaches string
	// Needs is the flag that grants it, "" where none is needed.
	Needs string
	// Points says that strings among its arguments are patterns of points, for completion.
	Points bool

	// call does what the builtin does. It is nil for constants and modules.
	call func(e *Env, c *call) (starlark.Value, error)
	// value is the constant or the module. It is nil for what can be called.
	value starlark.Value
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

// Outside is the world outside of the script. The session implements it, and
// refuses what the command line does not grant. Where a script runs only to be
// looked at there is none, and what asks for it comes to nothing.
type Outside interface {
	// Write writes text into a file, at its end if add is set.
	Write(name, text string, add bool) error
	// Run runs a command to its end, and not longer than ctx, and gives its status and what it wrote.
	Run(ctx context.Context, argv []string, limit time.Duration) (status int, out, errs string, err error)
	// Proc reads one of the words of proc(pid); what is not there any more is None.
	Proc(pid int, word string) (starlark.Value, error)
	// FileSystem looks for a type of file systems. It tells the user of one that is not there now. One that can never
	// be there is an error.
	FileSystem(name string) error
	// Disk looks for a disk, in the same way.
	Disk(name string) error
}

// A Spelling is what the text of an expression tells of it.
type Spelling struct {
	Parts    []string // its elements as they were written
	Duration bool     // its value is a duration of the event
}

// expressionParts are the spellings of expressions.
type expressionParts map[starlark.Callable]Spelling
