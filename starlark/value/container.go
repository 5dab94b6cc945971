package value

import (
	"fmt"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/internal/plan"
)

// A Container is a table, cell, aggregation or group as scripts hold it.
type Container interface {
	starlark.Value
	// Decl is the declaration in the plan.
	Decl() *plan.Container
	// Bind moves the container into kernel maps. What user code wrote before
	// is handed over.
	Bind(Backend, *Decoder) error
	// WasRead reports whether the script read the container: then it is not
	// printed at exit.
	WasRead() bool
	// MarkRead says that the script has read it.
	MarkRead()
	// CountDrops says where the container counts what it has no room for.
	CountDrops(*Full)
	// SetKeyParts says which parts of the keys are there: see keyparts.go.
	SetKeyParts(parts []bool)
	// KeyNames are the columns of the keys that by= names.
	KeyNames() []string
}

// base is what all containers have.
type base struct {
	decl *plan.Container
	be   Backend
	dec  *Decoder
	full *Full
	read bool
	// Scratch for one entry, of the sizes of the layout.
	key, val []byte
	parts    []bool        // of the key, those that are there; nil: all. See keyparts.go
	texts    starlark.Dict // what keys of the map read as → their bytes: see textkey.go
}

func (b *base) Decl() *plan.Container { return b.decl }
func (b *base) WasRead() bool         { return b.read }
func (b *base) MarkRead()             { b.read = true }
func (b *base) Type() string          { return b.decl.Kind.String() }
func (b *base) Freeze()               {} // both halves may write at any time
func (b *base) Truth() starlark.Bool  { return starlark.True }
func (b *base) Hash() (uint32, error) {
	return 0, fmt.Errorf("unhashable: %s", b.Type())
}

func (b *base) String() string {
	if b.decl.Name == "" {
		return "<" + b.Type() + ">"
	}
	return "<" + b.Type() + " " + b.decl.Name + ">"
}

func (b *base) attach(be Backend, d *Decoder) {
	b.be, b.dec = be, d
	key, val := be.Layout()
	if key != nil {
		b.key = make([]byte, key.Size)
	}
	b.val = make([]byte, val.Size)
}

// encodeKey gives the bytes of k, valid until the next call. k nil means the
// only entry of an unkeyed container.
func (b *base) encodeKey(k starlark.Value) ([]byte, error) {
	layout, _ := b.be.Layout()
	switch {
	case k == nil && layout == nil:
		return nil, nil
	case k == nil:
		return nil, b.keyMissing()
	case layout == nil:
		return nil, b.keyTooMuch()
	}
	clear(b.key)
	err := Encode(&layout.Type, b.dec.Labels.numbered(&layout.Type, k), b.key)
	if err == nil {
		return b.key, nil
	}
	if negative, huge := signs(k); negative || huge {
		clear(b.key)
		if Encode(&layout.Type, b.dec.Labels.numbered(&layout.Type, otherSign(k)), b.key) == nil {
			return b.key, nil
		}
	}
	return nil, fmt.Errorf("key of %s: %w", b, err)
}

// keyMissing and keyTooMuch are about uses without a key and with one.
func (b *base) keyMissing() error { return fmt.Errorf("%s has keys: write %s[…]", b, b.name()) }

func (b *base) keyTooMuch() error {
	return fmt.Errorf("%s has no keys: write %s without […]", b, b.name())
}

func (b *base) encodeValue(v starlark.Value) ([]byte, error) {
	_, layout := b.be.Layout()
	clear(b.val)
	if err := Encode(&layout.Type, b.dec.Labels.numbered(&layout.Type, v), b.val); err != nil {
		return nil, fmt.Errorf("value of %s: %w", b, err)
	}
	return b.val, nil
}

func (b *base) name() string {
	if b.decl.Name == "" {
		return "x"
	}
	return b.decl.Name
}

// lookup gives the value of an entry, nil where there is none.
func (b *base) lookup(k starlark.Value) (starlark.Value, error) {
	key, err := b.findKey(k)
	if err != nil || key == nil && k != nil {
		return nil, err
	}
	ok, err := b.be.Lookup(key, b.val)
	if err != nil || !ok {
		return nil, err
	}
	return b.decodeValue(b.val), nil
}

func (b *base) decodeValue(val []byte) starlark.Value {
	_, layout := b.be.Layout()
	return b.dec.Decode(&layout.Type, val)
}

func (b *base) decodeKey(key []byte) starlark.Value {
	layout, _ := b.be.Layout()
	if layout == nil {
		return nil
	}
	return b.dec.Decode(&layout.Type, key)
}

func (b *base) update(k, v starlark.Value) error {
	key, err := b.keyToWrite(k)
	if err != nil {
		return err
	}
	val, err := b.encodeValue(v)
	if err != nil {
		return err
	}
	return b.roomy(b.be.Update(key, val))
}

// A methodFunc implements the method of a container.
type methodFunc[C any] func(c C, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error)

// bindMethod looks up name in a table of methods; nil where there is none.
func bindMethod[C starlark.Value](c C, table map[string]methodFunc[C], name string) starlark.Value {
	f, ok := table[name]
	if !ok {
		return nil
	}
	return method(name, c, func(_ *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value,
		error) {
		return f(c, args, kwargs)
	})
}
