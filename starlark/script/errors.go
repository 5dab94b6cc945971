package script

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"go.starlark.net/resolve"
	"go.starlark.net/starlark"

	"github.com/startrace/startrace/builtins"
	"github.com/startrace/startrace/internal/escape"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/naming"
	"github.com/startrace/startrace/internal/plan"
)

// Mistakes in scripts with their place and traceback, made of the interpreter's errors; hints about undefined names
// (did you mean) and about numbers (`containerHint`).

// An Error is a mistake in a script.
type Error struct {
	// Pos is the place in the script.
	Pos plan.Pos
	// Msg says what was found, what was wanted, and what to do.
	Msg string
	// Trace is the stack of calls, outermost first, where the mistake showed
	// while the script ran and there was more than one.
	Trace starlark.CallStack
	// Cause is the error of the builtin, if any.
	Cause error
}

func (e *Error) Error() string { return e.Pos.String() + ": " + e.Msg }
func (e *Error) Unwrap() error { return e.Cause }

// Traceback is the error with its stack of calls.
func (e *Error) Traceback() string {
	if len(e.Trace) == 0 {
		return e.Error()
	}
	return e.Trace.String() + e.Error()
}

// Errors are all mistakes that were found at one time, in the order of the
// text.
type Errors []*Error

func (es Errors) Error() string {
	lines := make([]string, len(es))
	for i, e := range es {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives the errors for errors.As.
func (es Errors) Unwrap() []error {
	out := make([]error, len(es))
	for i, e := range es {
		out[i] = e
	}
	return out
}

// Explain is for callers that call functions of the script by themselves:
// errors become Errors with positions.
func (h *Host) Explain(err error) error { return h.explain(err) }

// explain turns what the interpreter returned into Errors. Errors of other
// kinds, and those that end a script on purpose, are passed on.
func (h *Host) explain(err error) error {
	var exit *builtins.ExitError
	var usage *builtins.UsageError
	var found Errors
	var eval *starlark.EvalError
	var placed *builtins.PlacedError
	switch {
	case errors.As(err, &exit):
		return exit
	case errors.As(err, &usage):
		return usage
	case errors.As(err, &found):
		return found
	case errors.As(err, &placed):
		return Errors{{Pos: placed.Pos, Msg: placed.Err.Error(), Cause: placed.Err}}
	case errors.As(err, &eval):
		return Errors{evalError(eval)}
	}
	return err
}

// evalError places an error of the interpreter at the innermost line of a
// script: that of a module, or of a function that a builtin called.
func evalError(e *starlark.EvalError) *Error {
	for inner := e; errors.As(inner.Unwrap(), &inner); {
		e = inner
	}
	stack := slices.Clone(e.CallStack)
	if len(stack) > 1 && notCalled(e.Msg, stack[len(stack)-1]) {
		stack = stack[:len(stack)-1]
	}
	for len(stack) > 0 && stack[len(stack)-1].Pos.Filename() == "<builtin>" {
		stack = stack[:len(stack)-1]
	}
	plain := oneLine(e)
	out := &Error{Msg: plain + runtimeHint(shortened(e.Msg), plain), Cause: e.Unwrap()}
	if len(stack) > 0 {
		if last := stack[len(stack)-1]; last.Name != "<toplevel>" {
			out.Msg += addressHint(plain)
		}
		out.Pos = stack[len(stack)-1].Pos
	}
	if len(stack) > 1 {
		out.Trace = stack
	}
	return out
}

// notCalled reports whether a message is about the arguments of a function, which has not begun then: the mistake is
// where it is called. A function of the command line is the author's, and the call of it the tool's.
func notCalled(msg string, called starlark.CallFrame) bool {
	about, ok := strings.CutPrefix(msg, "function "+called.Name+" ")
	if !ok || strings.HasPrefix(called.Pos.Filename(), "--") {
		return false
	}
	return slices.ContainsFunc([]string{"accepts ", "missing ", "got an unexpected ", "got multiple "},
		func(begin string) bool { return strings.HasPrefix(about, begin) })
}

// oneLine is the message of an error, in which there can be names and strings that were
// traced: escaped, but for what the script itself says by fail().
func oneLine(e *starlark.EvalError) string {
	var own *failure
	if errors.As(e, &own) {
		return own.Error()
	}
	return escape.Line(plainRun(shortened(e.Msg)))
}

// shortened is a message without its middle, if it has a long string in it: much is done to messages.
func shortened(msg string) string {
	const most, begin, end = 64 << 10, 400, 200
	if len(msg) <= most {
		return msg
	}
	return fmt.Sprintf("%s … (%d bytes are left out) … %s",
		strings.ToValidUTF8(msg[:begin], ""), len(msg)-begin-end, strings.ToValidUTF8(msg[len(msg)-end:], ""))
}

// runtimeHint adds what to do where the interpreter's words, and plain ones in
// their place, do not say it.
func runtimeHint(msg, plain string) string {
	if strings.Contains(msg, "frozen") {
		return " (a kernel half uses it as a constant; what changes belongs into a table())"
	}
	return containerHint(plain)
}

// ofInt is a field of a number, as plainRuntime says it.
var ofInt = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^int has no \.(\w+) field or method`) })

// addressHint says what to do about a field of a number that is the address of
// a struct of the kernel, as functions of user space are given it.
func addressHint(plain string) string {
	m := ofInt().FindStringSubmatch(plain)
	if m == nil {
		return ""
	}
	return fmt.Sprintf(" (a struct of the kernel that is kept in user space is its address: "+
		"keep the field, as in e.task.%s)", m[1])
}

// operands are the types that an operator was tried on, as plainRuntime says it.
var operands = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(\w+) \S+ (\w+): (?:values of )?these types have no `)
})

// containerHint says where the number of a container is, for one that stands
// where a number should.
func containerHint(plain string) string {
	m := operands().FindStringSubmatch(plain)
	if m == nil {
		return ""
	}
	for _, name := range m[1:] {
		switch name {
		case "count", "total", "mean", "lowest", "highest", "entry":
			return " (its number is .value)"
		case "cell":
			return " (what it holds is .get())"
		}
	}
	return ""
}

// resolveErrors gives all errors of the resolver with hints.
func (f *file) resolveErrors(err error, names []string) error {
	var list resolve.ErrorList
	if !errors.As(err, &list) {
		return err
	}
	out := make(Errors, len(list))
	hints := map[string]string{} // by the message
	for i, e := range list {
		msg, known := hints[e.Msg]
		if !known {
			near := names
			if len(hints) >= mostSought {
				near = nil // words of other tracers are known at once, a name like this one is sought
			}
			msg = reword(plainResolve(), undefinedHint(e.Msg, near))
			hints[e.Msg] = msg
		}
		out[i] = &Error{Pos: e.Pos, Msg: msg}
	}
	slices.SortStableFunc(out, func(a, b *Error) int {
		if a.Pos.Line != b.Pos.Line {
			return int(a.Pos.Line - b.Pos.Line)
		}
		return int(a.Pos.Col - b.Pos.Col)
	})
	return out
}

// undefinedHint says what an undefined name probably meant. The resolver's
// own hint knows the names of the file only; ours come first where the name
// is a word of another tracer. Without names nothing like it is sought.
func undefinedHint(msg string, names []string) string {
	rest, ok := strings.CutPrefix(msg, "undefined: ")
	if !ok {
		return msg
	}
	name, hint, _ := strings.Cut(rest, " ")
	if short := shorten(name); short != name {
		return "undefined: " + short
	}
	if ours, ok := foreignWords[name]; ok {
		return "undefined: " + name + " (" + ours + ")"
	}
	if hint != "" || names == nil {
		return msg
	}
	if near := didYouMean(name, names); near != "" || name != strings.ToUpper(name) {
		return msg + near
	}
	return msg + didYouMean(name, kernel.ConstantNames())
}

func didYouMean(name string, names []string) string {
	slices.Sort(names)
	if near := naming.Suggest(name, names); near != "" {
		return " (did you mean " + near + "?)"
	}
	return ""
}

// warnRedefined warns about globals that have the name of a builtin.
func (h *Host) warnRedefined(f *file) {
	mod, ok := f.tree.Module.(*resolve.Module)
	if !ok || h.opts.Warn == nil {
		return
	}
	for _, b := range mod.Globals {
		name := b.First.Name
		_, ours := h.predeclared[name]
		_, universal := starlark.Universe[name]
		if ours || universal {
			h.opts.Warn(b.First.NamePos, fmt.Sprintf("%s is a builtin; this file redefines it", name))
		}
	}
}
