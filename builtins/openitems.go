package builtins

import (
	"fmt"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/internal/plan"
)

// items() of a span or a probe, which gives what is open: the method and its message.

var _ starlark.HasAttrs = (*PointValue)(nil)

// Attr gives items() of a span.
func (p *PointValue) Attr(name string) (starlark.Value, error) {
	if p.kind != "span" || name != "items" {
		return nil, nil
	}
	return openMethod(p, p.items), nil
}

// AttrNames names the methods.
func (p *PointValue) AttrNames() []string {
	if p.kind != "span" {
		return nil
	}
	return []string{"items"}
}

// items gives the starts that wait for their ends.
func (p *PointValue) items() ([]starlark.Value, error) {
	if p.env.Open == nil {
		return nil, fmt.Errorf("items: the span is not loaded yet: this works in callbacks")
	}
	var out []starlark.Value // nothing where no probe uses it
	for _, m := range p.env.planned {
		s, ok := m.seen[p].(*plan.Span)
		if !ok {
			continue
		}
		open, err := p.env.Open(s)
		if err != nil {
			return nil, err
		}
		out = append(out, open...)
	}
	return out, nil
}

// items gives what is open of the spans of a probe.
func (p *Probe) items() ([]starlark.Value, error) {
	if p.control == nil {
		return nil, errNotLoaded
	}
	return p.control.Open()
}

// openMethod is items() of recv.
func openMethod(recv starlark.Value, items func() ([]starlark.Value, error)) *starlark.Builtin {
	return starlark.NewBuiltin("items", func(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple,
		kwargs []starlark.Tuple) (starlark.Value, error) {
		if err := starlark.UnpackArgs(b.Name(), args, kwargs); err != nil {
			return nil, err
		}
		vals, err := items()
		if err != nil {
			return nil, err
		}
		return starlark.NewList(vals), nil
	}).BindReceiver(recv)
}
