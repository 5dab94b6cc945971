package builtins

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/internal/format"
)

// What several builtins ask of an argument: size= (`maxEntries`), a function and its parameters, names of columns
// (`toNames`), no call at the top of a loaded file.

// errModule refuses a call at the top level of a loaded file.
func errModule(name string) error {
	return fmt.Errorf("%s() at the top level of a loaded file: modules declare events and functions; call it in main()",
		name)
}

// orNone is v, or None for an argument that was not given.
func orNone(v starlark.Value) starlark.Value {
	if v == nil {
		return starlark.None
	}
	return v
}

// asked unpacks an int that may not be given: nil then.
func asked(n **int) starlark.Unpacker { return askedInt{n} }

// toFunction checks a function that the compiler or the event path calls with
// n arguments. None gives nil.
func toFunction(what string, v starlark.Value, n int) (*starlark.Function, error) {
	if v == nil || v == starlark.None {
		return nil, nil
	}
	fn, ok := v.(*starlark.Function)
	if !ok {
		if _, callable := v.(starlark.Callable); callable {
			return nil, fmt.Errorf("%s: got builtin %s, want a function of the script: lambda e: %s(…)", what,
				v.(starlark.Callable).Name(), v.(starlark.Callable).Name())
		}
		return nil, fmt.Errorf("%s: got %s, want a function", what, v.Type())
	}
	if got := required(fn); got > n || fn.NumParams() < n && !fn.HasVarargs() {
		return nil, fmt.Errorf("%s: function %s takes %s, it is called with %d: the event", what, fn.Name(),
			format.Count(max(got, fn.NumParams()), "argument"), n)
	}
	return fn, nil
}

// checkSize gives 0 for the default.
func checkSize(n *int) (int, error) {
	switch {
	case n == nil:
		return 0, nil
	case *n < 1 || *n > maxEntries:
		return 0, fmt.Errorf("size: got %d, want 1 to %d", *n, maxEntries)
	}
	return *n, nil
}

// toNames reads a name or a sequence of names.
func toNames(what string, v starlark.Value) ([]string, error) {
	var elems starlark.Iterable
	switch v := v.(type) {
	case nil, starlark.NoneType:
		return nil, nil
	case starlark.String:
		elems = starlark.Tuple{v}
	case *starlark.List:
		elems = v
	case starlark.Tuple:
		elems = v
	default:
		return nil, fmt.Errorf("%s: got %s, want a name or a tuple of names", what, v.Type())
	}
	var out []string
	for elem := range starlark.Elements(elems) {
		s, ok := starlark.AsString(elem)
		if !ok {
			return nil, fmt.Errorf("%s: got %s in the list, want a name", what, elem.Type())
		}
		if strings.ContainsFunc(s, unicode.IsControl) {
			return nil, fmt.Errorf("%s: a name is one line of text, got %q", what, s)
		}
		if slices.Contains(out, s) {
			return nil, fmt.Errorf("%s: %q stands there twice, want different names", what, s)
		}
		out = append(out, s)
	}
	return out, nil
}

// An askedInt takes an int argument, and lets the one who asks tell whether it was given: *to stays nil where it was
// not.
type askedInt struct {
	// to is where the number goes.
	to **int
}

// required counts the parameters without a default.
func required(fn *starlark.Function) int {
	n := fn.NumParams()
	if fn.HasVarargs() {
		n--
	}
	if fn.HasKwargs() {
		n--
	}
	need := 0
	for i := range n {
		if fn.ParamDefault(i) == nil {
			need++
		}
	}
	return need
}

// maxEntries bounds size=: the kernel takes u32 entries, and memory is
// allocated for them.
const maxEntries = 1 << 26
