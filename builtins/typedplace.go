package builtins

import (
	"errors"
	"fmt"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/internal/plan"
)

// Mistakes in what was typed for a flag have their place on the command line.

// A PlacedError is a mistake in what was typed on the command line: it has its place there, Pos, not in the tool that
// works with it. Err says what it is.
type PlacedError struct {
	// Pos is the place.
	Pos plan.Pos
	// Err is what is wrong there.
	Err error
}

func (e *PlacedError) Error() string { return e.Pos.String() + ": " + e.Err.Error() }
func (e *PlacedError) Unwrap() error { return e.Err }

// typed notes that a text is what was given for a flag.
func (e *Env) typed(f *Flag, text string) {
	if e.typedTexts == nil {
		e.typedTexts = make(map[string]string)
	}
	e.typedTexts[text] = f.title()
}

// typedPlace is where a point was typed, if it is all that was given for a flag.
func (e *Env) typedPlace(points starlark.Value) (plan.Pos, bool) {
	text, ok := points.(starlark.String)
	title, found := e.typedTexts[string(text)]
	if !ok || !found {
		return plan.Pos{}, false
	}
	return syntax.MakePosition(&title, 1, 1), true
}

// pointsAt are the points of a probe that is declared at pos.
func (e *Env) pointsAt(points starlark.Value, pos plan.Pos) ([]Point, error) {
	at, typed := e.typedPlace(points)
	if !typed {
		return toPoints(points, pos)
	}
	out, err := toPoints(points, at)
	var several *severalPoints
	if errors.As(err, &several) {
		err = several.typed()
	}
	if err != nil {
		return nil, &PlacedError{at, err}
	}
	return out, nil
}

// A severalPoints error is a text of two points with a comma between them.
type severalPoints struct{ text, first, second string }

func (e *severalPoints) Error() string {
	return fmt.Sprintf("%q: several points are a list: [%q, %q]", e.text, e.first, e.second)
}

// typed is the error on the command line, which has no lists.
func (e *severalPoints) typed() error {
	provider, _, _ := strings.Cut(e.first, ":")
	return fmt.Errorf("%q: want one point; one pattern stands for several names: '%s:{NAME,NAME}'; "+
		"of points of several kinds write a script", e.text, provider)
}
