package value

import (
	"fmt"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/internal/plan"
)

// cell() in user space: get, set, add.

// A Cell is one value that both halves set.
type Cell struct {
	base
	local starlark.Value // until Bind
	// filled is set once user code has set the value.
	filled bool
}

var (
	_ Container         = (*Cell)(nil)
	_ starlark.HasAttrs = (*Cell)(nil)
)

// NewCell makes the cell of a declaration with its first value.
func NewCell(decl *plan.Container, init starlark.Value) *Cell {
	return &Cell{base: base{decl: decl}, local: init}
}

// Bind hands the value over.
func (c *Cell) Bind(be Backend, d *Decoder) error {
	c.attach(be, d)
	return c.update(nil, c.local)
}

// Filled implements Container.
func (c *Cell) Filled() bool { return c.filled }

// Holds implements Container.
func (c *Cell) Holds() starlark.Value {
	if c.filled && c.local != starlark.None {
		return c.local
	}
	return nil
}

// Value is the value now.
func (c *Cell) Value() (starlark.Value, error) {
	c.read = true
	if c.be == nil {
		return c.local, nil
	}
	v, err := c.lookup(nil)
	if v == nil && err == nil {
		return nil, fmt.Errorf("%s has no entry", c)
	}
	return v, err
}

// Set stores a value.
func (c *Cell) Set(v starlark.Value) error {
	if c.be == nil {
		if err := c.checkWords("value", v); err != nil {
			return err
		}
		c.local, c.filled = v, true
		return nil
	}
	return c.update(nil, v)
}

// Add adds to an int, atomically with respect to kernel halves.
func (c *Cell) Add(delta starlark.Int) error {
	old, err := c.Value()
	switch {
	case err != nil:
		return err
	case old == starlark.None || IsFault(old):
		return fmt.Errorf("add to %s, which is %s: an int was wanted", c, old)
	}
	sum, err := starlark.Binary(plusToken, old, delta)
	if err != nil {
		return err
	}
	if c.be == nil {
		if err = c.checkResult(plusToken, sum); err == nil {
			c.local = sum
		}
		return err
	}
	_, layout := c.be.Layout()
	from, err := rawInt(&layout.Type, old)
	if err == nil {
		var to uint64
		if to, err = rawInt(&layout.Type, sum); err == nil {
			return c.be.AddInt(nil, layout.Type.Off, int64(to-from))
		}
	}
	return fmt.Errorf("add to %s: %w", c, err)
}

var cellMethods = map[string]methodFunc[*Cell]{
	"get": func(c *Cell, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		if err := starlark.UnpackArgs("get", args, kwargs); err != nil {
			return nil, err
		}
		return c.Value()
	},
	"set": func(c *Cell, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		var v starlark.Value
		if err := starlark.UnpackArgs("set", args, kwargs, "value", &v); err != nil {
			return nil, err
		}
		return starlark.None, c.Set(v)
	},
	"add": func(c *Cell, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		delta := starlark.MakeInt(1)
		if err := starlark.UnpackArgs("add", args, kwargs, "value?", &delta); err != nil {
			return nil, err
		}
		return starlark.None, c.Add(delta)
	},
}

// Attr gives a method.
func (c *Cell) Attr(name string) (starlark.Value, error) {
	return bindMethod(c, cellMethods, name), nil
}

// AttrNames names the methods.
func (c *Cell) AttrNames() []string { return []string{"add", "get", "set"} }
