package value

import (
	"errors"
	"testing"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// Each builtin that goes over all elements of a list ends within some thousand of them once the script is to end, and
// sorted while it compares, too.
func TestBuiltinsStop(t *testing.T) {
	const n = 64 * askEvery
	numbers, err := starlark.Call(new(starlark.Thread), starlark.Universe["range"],
		starlark.Tuple{starlark.MakeInt(n)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	ended := errors.New("interrupted")
	for _, c := range []struct {
		name    string
		f       starlark.Value
		after   int // of how many questions the script is to end
		reverse bool
	}{
		{name: "list", after: 2}, {name: "tuple", after: 2}, {name: "set", after: 2}, {name: "reversed", after: 2},
		{name: "enumerate", after: 2}, {name: "zip", after: 2}, {name: "min", after: 2}, {name: "max", after: 2},
		{name: "all", after: 1}, {name: "any", after: 2}, {name: "dict", after: 2},
		{name: "sorted", f: starlark.NewBuiltin("sorted", Sorted), after: 2},
		{name: "sorted", f: starlark.NewBuiltin("sorted", Sorted), after: 70},
		{name: "sorted", f: starlark.NewBuiltin("sorted", Sorted), after: 70, reverse: true},
	} {
		th, asked := new(starlark.Thread), 0
		SetGoing(th, func() error {
			if asked++; asked == c.after {
				return ended
			}
			return nil
		})
		if c.f == nil {
			c.f = starlark.Universe[c.name]
		}
		var list starlark.Value = numbers
		switch c.name {
		case "all":
			list = starlark.NewList(repeated(n, starlark.True))
		case "any":
			list = starlark.NewList(repeated(n, starlark.False))
		case "dict":
			list = starlark.NewList(repeated(n, starlark.Tuple{starlark.None, starlark.None}))
		}
		var kwargs []starlark.Tuple
		if c.reverse {
			kwargs = []starlark.Tuple{{starlark.String("reverse"), starlark.True}}
		}
		_, err := Stoppable(th, c.f.(*starlark.Builtin), starlark.Tuple{list}, kwargs)
		if !errors.Is(err, ended) || asked != c.after {
			t.Errorf("%s: got %v after %d questions, want the end after %d", c.name, err, asked, c.after)
		}
	}
}

func repeated(n int, v starlark.Value) []starlark.Value {
	out := make([]starlark.Value, n)
	for i := range out {
		out[i] = v
	}
	return out
}

// Sorted is sorted of the interpreter.
func TestSorted(t *testing.T) {
	th := new(starlark.Thread)
	for _, x := range []string{`[3, 1, 2]`, `[]`, `(2, 1)`, `{2: 1, 1: 2}`, `["b", 1]`, `3`, `[3, 1], None, True`,
		`["bb", "a", "cc"], len`, `["bb", "a", "cc"], len, True`, `[(1, 2), (0, 3)], reverse = True`, `[1], 2, 3, 4`,
		`[0.5, float("nan"), 1]`, `range(5), lambda x: -x`, `[2, 1], key = lambda: 1`} {
		eval := func(env starlark.StringDict) (starlark.Value, error) {
			return starlark.EvalOptions(&syntax.FileOptions{}, th, "x", "sorted("+x+")", env)
		}
		want, wantErr := eval(nil)
		got, err := eval(starlark.StringDict{"sorted": starlark.NewBuiltin("sorted", Sorted)})
		if (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() ||
			err == nil && got.String() != want.String() {
			t.Errorf("sorted(%s): got %v, %v, want %v, %v", x, got, err, want, wantErr)
		}
	}
}
