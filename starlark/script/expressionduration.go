package script

import (
	"slices"

	"go.starlark.net/syntax"
)

// Whether the value of an expression of an event is a duration, by how it is written.

// measure is what the number is that an expression gives.
type measure int

const (
	otherMeasure    measure = iota // not known
	plainMeasure                   // a number that is written there
	durationMeasure                // a time in ns, of e.duration
)

// givesDuration reports whether a lambda gives a duration of the event that is its first argument.
func givesDuration(lambda *syntax.LambdaExpr) bool {
	p := lambda.Params[0]
	if withDefault, ok := p.(*syntax.BinaryExpr); ok {
		p = withDefault.X
	}
	event, ok := p.(*syntax.Ident)
	return ok && measureOf(lambda.Body, event.Name) == durationMeasure
}

// measureOf measures an expression in which event is the name of the event. What multiplies or divides a duration may
// be a rate or another unit, e.duration // 1000, so that is not known.
func measureOf(x syntax.Expr, event string) measure {
	switch x := x.(type) {
	case *syntax.ParenExpr:
		return measureOf(x.X, event)
	case *syntax.DotExpr:
		if of, ok := x.X.(*syntax.Ident); ok && of.Name == event && x.Name.Name == "duration" {
			return durationMeasure
		}
	case *syntax.Literal:
		if x.Token == syntax.INT {
			return plainMeasure
		}
	case *syntax.Ident:
		if slices.Contains([]string{"NSEC", "USEC", "MSEC", "SEC"}, x.Name) {
			return plainMeasure
		}
	case *syntax.UnaryExpr:
		if x.Op == syntax.MINUS || x.Op == syntax.PLUS {
			return measureOf(x.X, event)
		}
	case *syntax.BinaryExpr:
		return measureOfTwo(x, event)
	case *syntax.CondExpr:
		return measureOfAll(event, x.True, x.False)
	case *syntax.CallExpr:
		if fn, ok := x.Fn.(*syntax.Ident); ok && slices.Contains([]string{"abs", "min", "max"}, fn.Name) {
			return measureOfAll(event, x.Args...)
		}
	}
	return otherMeasure
}

// measureOfTwo measures what an operator makes of its two sides.
func measureOfTwo(x *syntax.BinaryExpr, event string) measure {
	both := measureOfAll(event, x.X, x.Y)
	switch {
	case x.Op == syntax.PLUS || x.Op == syntax.MINUS:
		return both
	case both == plainMeasure && (x.Op == syntax.STAR || x.Op == syntax.SLASHSLASH):
		return plainMeasure // 5 * MSEC
	}
	return otherMeasure
}

// measureOfAll measures what is one of several, or their sum: a duration if one of them is, beside numbers.
func measureOfAll(event string, xs ...syntax.Expr) measure {
	all := plainMeasure
	for _, x := range xs {
		m := measureOf(x, event)
		if m == otherMeasure {
			return otherMeasure
		}
		all = max(all, m)
	}
	return all
}
