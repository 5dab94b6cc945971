// Package mistake prints what goes wrong, in the words of those who use
// startrace: mistakes of scripts with their places, mistakes of the command line,
// and bugs of startrace itself. On terminals the line of the script stands below.
package mistake

import (
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/startrace/startrace/bpfgen/refusal"
	"github.com/startrace/startrace/internal/naming"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/until"
	"github.com/startrace/startrace/starlark/script"
)

// Usage, Script and Bug: mistakes of the command line, of scripts, and of startrace itself (internal error).

// A Usage is a mistake in the command line.
type Usage struct {
	// Err says what is wrong.
	Err error
	Of  string // the tool whose words they are; "" for those of startrace
}

func (e *Usage) Error() string { return e.Err.Error() }
func (e *Usage) Unwrap() error { return e.Err }

// Usagef makes a mistake in the command line.
func Usagef(format string, args ...any) error { return &Usage{Err: fmt.Errorf(format, args...)} }

// Near is a hint for a misspelt word, "" where no word is like it.
func Near(word string, words []string) string {
	if near := naming.Suggest(word, words); near != "" {
		return " (did you mean " + near + "?)"
	}
	return ""
}

// A Script is what is wrong with a script, in lines that begin with their
// place.
type Script struct{ text string }

func (e *Script) Error() string { return e.text }

// Tidy gives errors as they are reported, those of the script with their
// traceback.
func Tidy(err error) error {
	var running script.Errors
	var placed interface {
		error
		Place() plan.Pos
	}
	var compiling refusal.Diags
	switch {
	case errors.As(err, &compiling):
		return &Script{compiling.Error()}
	case errors.As(err, &running):
		lines := make([]string, len(running))
		for i, e := range running {
			lines[i] = e.Traceback()
		}
		return &Script{strings.Join(lines, "\n")}
	case errors.As(err, &placed) && placed.Place().IsValid():
		return &Script{placed.Error()} // a limit, or a program that the kernel refuses
	}
	return err
}

// A Bug is a panic in startrace itself, as a message.
type Bug struct {
	// What is the value of the panic.
	What any
	// Stack is the stack of the goroutine that panicked, as runtime/debug prints it.
	Stack []byte
}

func (e *Bug) Error() string {
	return fmt.Sprintf("internal error: %v; this is a bug in startrace, not in the script (-v shows where)", e.What)
}

// Caught makes a bug of what recover() gave; nil for nil. A panic with a bug of another goroutine keeps the stack of
// that one.
func Caught(p any) *Bug {
	if p == nil {
		return nil
	}
	switch p := p.(type) {
	case *Bug:
		return p
	case *until.Panic:
		return &Bug{p.What, p.Stack}
	}
	return &Bug{p, debug.Stack()}
}
