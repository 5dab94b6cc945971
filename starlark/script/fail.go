package script

import (
	"errors"
	"strings"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/starlark/value"
)

// fail(): what it raises, with its text escaped.

// fail is the interpreter's, with its words escaped as print() does.
var fail = starlark.NewBuiltin("fail", func(th *starlark.Thread, b *starlark.Builtin, args starlark.Tuple,
	kwargs []starlark.Tuple) (starlark.Value, error) {
	sep := " "
	if err := starlark.UnpackArgs(b.Name(), nil, kwargs, "sep?", &sep); err != nil {
		return nil, err
	}
	seps := uint64(len(sep)) * uint64(len(args))
	if err := errors.Join(value.TextRoom(th, seps), value.CheckTextOf(th, args...)); err != nil {
		return nil, err
	}
	words := make([]string, len(args))
	for i, v := range args {
		words[i] = value.Screen(v)
	}
	return nil, &failure{"fail: " + strings.Join(words, value.Screen(starlark.String(sep)))}
})

// A failure is what a script says when it fails.
type failure struct{ text string }

func (f *failure) Error() string { return f.text }
