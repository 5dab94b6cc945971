package script

import (
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/internal/plan"
)

// The value that stands for what a mistake kept from being made, in the search for further mistakes.

// unknown is what a survey has for a value that a mistake kept from being
// made. Whatever is done with it gives it again.
type unknown struct{}

var (
	_ starlark.HasAttrs  = unknown{}
	_ starlark.Callable  = unknown{}
	_ starlark.HasBinary = unknown{}
	_ starlark.HasUnary  = unknown{}
	_ starlark.Mapping   = unknown{}
	_ starlark.Iterable  = unknown{}
)

func (unknown) String() string                             { return plan.UnknownType }
func (unknown) Type() string                               { return plan.UnknownType }
func (unknown) Freeze()                                    {}
func (unknown) Truth() starlark.Bool                       { return true }
func (unknown) Hash() (uint32, error)                      { return 0, nil }
func (unknown) Name() string                               { return plan.UnknownType }
func (unknown) Attr(string) (starlark.Value, error)        { return unknown{}, nil }
func (unknown) AttrNames() []string                        { return nil }
func (unknown) Unary(syntax.Token) (starlark.Value, error) { return unknown{}, nil }
func (unknown) Iterate() starlark.Iterator                 { return starlark.Tuple{}.Iterate() }
func (unknown) Get(starlark.Value) (starlark.Value, bool, error) {
	return unknown{}, true, nil
}

func (unknown) Binary(syntax.Token, starlark.Value, starlark.Side) (starlark.Value, error) {
	return unknown{}, nil
}

func (unknown) CallInternal(*starlark.Thread, starlark.Tuple, []starlark.Tuple) (starlark.Value, error) {
	return unknown{}, nil
}
