package mutate

import (
	"errors"
	"fmt"
	"strings"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/bpfgen"
	"github.com/startrace/startrace/bpfgen/infer"
	"github.com/startrace/startrace/builtins"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/starlark/script"
	"github.com/startrace/startrace/stdlib"
)

// A changed script taken through all of startrace but the kernel.

// A Stage is how far a script came.
type Stage int

const (
	Parsing Stage = iota
	Running
	Inferring
	Compiled
	NoProbes // it ran to its end and has nothing for the kernel
	Skipped  // too many points for a test
)

func (s Stage) String() string {
	return [...]string{"parsing", "running", "inferring", "compiled", "no probes", "skipped"}[s]
}

// A Result is what became of a script: the Stage that it has reached, and a Unit, or Err, the message for its author.
type Result struct {
	Stage Stage
	Unit  *bpfgen.Unit
	Err   error
}

// A PanicError is a panic of startrace.
type PanicError struct {
	// What is the value of the panic.
	What  any
	Stack []string // functions, innermost first
}

func (e *PanicError) Error() string {
	return fmt.Sprintf("panic: %v in %s", e.What, strings.Join(e.Stack, " < "))
}

// A StageError is an error, Err, of a Stage that has none for authors of scripts.
type StageError struct {
	Stage string
	Err   error
}

func (e *StageError) Error() string { return e.Stage + ": " + e.Err.Error() }
func (e *StageError) Unwrap() error { return e.Err }

// mostPoints keeps the time down: all system calls take seconds.
const mostPoints = 40

// mostSteps ends loops of the interpreter.
const mostSteps = 200_000

// Compile takes a script through all of startrace but the kernel, and verifies what each pass of the compiler has made.
func Compile(name, text string, facts *kernel.Facts) (res Result) {
	return compileText(name, text, facts, true)
}

// compileText is Compile; where check is false, nothing verifies the passes, as in a run.
func compileText(name, text string, facts *kernel.Facts, check bool) (res Result) {
	defer func() {
		if p := recover(); p != nil {
			res.Err = &PanicError{p, callers()}
		}
	}()
	h := script.New(script.Options{Constant: constants(facts), Runtime: builtins.Idle{}, Std: stdlib.Files()})
	h.Thread().SetMaxExecutionSteps(mostSteps)
	if err := h.ParseText(name, []byte(text)); err != nil {
		return Result{Stage: Parsing, Err: all(h, err, facts)}
	}
	if err := h.Run(nil); err != nil {
		var exit *builtins.ExitError
		if !errors.As(err, &exit) {
			return Result{Stage: Running, Err: all(h, err, facts)}
		}
	}
	if len(h.Plan().Probes) == 0 {
		return Result{Stage: NoProbes}
	}
	return compile(h, facts, check)
}

// all gives all mistakes, as the session does.
func all(h *script.Host, err error, facts *kernel.Facts) error {
	var found script.Errors
	if !errors.As(err, &found) {
		return err
	}
	return h.AllMistakes(found, nil, func(p *plan.Plan) error {
		_, err := infer.Plan(p, facts, infer.Options{Programs: programs{}})
		return err
	})
}

func compile(h *script.Host, facts *kernel.Facts, check bool) Result {
	rolled := map[plan.Pos]bool{}
	res, typed := compileRolled(h, facts, check, rolled)
	for bpfgen.RollMore(res.Err, rolled) {
		again, anew := compileRolled(h, facts, check, rolled)
		if again.Stage == Inferring { // a loop must be written out
			break
		}
		res, typed = again, anew
	}
	if res.Err != nil || res.Stage != Compiled {
		return res
	}
	for _, half := range typed.HalfOf {
		if _, err := h.Specialise(half, starlark.None); err != nil {
			return Result{Stage: Compiled, Err: &StageError{"specialise", err}}
		}
	}
	return res
}

// compileRolled makes the unit of a script; rolled are the loops that are not written out.
func compileRolled(h *script.Host, facts *kernel.Facts, check bool, rolled map[plan.Pos]bool) (Result, *infer.Result) {
	typed, err := infer.Plan(h.Plan(), facts, infer.Options{Programs: programs{}, Rolled: rolled})
	if err != nil {
		return Result{Stage: Inferring, Err: err}, nil
	}
	points := 0
	for _, n := range typed.Points {
		points += n
	}
	if points > mostPoints {
		return Result{Stage: Skipped}, nil
	}
	version, err := kernel.Release()
	if err != nil {
		return Result{Stage: Compiled, Err: &StageError{"release", err}}, nil
	}
	o := bpfgen.For(version)
	o.Check = check
	u, err := bpfgen.Generate(typed.Tree, o)
	if err != nil {
		return Result{Stage: Compiled, Err: &StageError{"generate", err}}, nil
	}
	return Result{Stage: Compiled, Unit: u}, typed
}
