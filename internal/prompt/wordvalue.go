package prompt

import (
	"fmt"

	"go.starlark.net/starlark"
)

// A word of the prompt as a value that can be called.

// A wordValue is a word of the prompt: called it acts, typed alone it says what
// it does.
type wordValue struct {
	name string
	promptWord
	p *prompt
}

var _ starlark.Callable = (*wordValue)(nil)

func (w *wordValue) Name() string { return w.name }

func (w *wordValue) String() string { return "<built-in function " + w.name + ">" }

func (w *wordValue) Type() string { return "builtin_function_or_method" }

func (w *wordValue) Freeze() {}

func (w *wordValue) Truth() starlark.Bool { return true }

func (w *wordValue) Hash() (uint32, error) { return 0, fmt.Errorf("unhashable: %s", w.name) }

func (w *wordValue) text() string {
	if w.name == "help" {
		return w.p.helpText()
	}
	return explained(w.signature, w.doc)
}

// CallInternal calls it.
func (w *wordValue) CallInternal(_ *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value,
	error) {
	var arg starlark.Value
	if err := starlark.UnpackArgs(w.name, args, kwargs, "argument?", &arg); err != nil {
		return nil, err
	}
	return w.call(w.p, arg)
}
