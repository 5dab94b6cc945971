package value

import (
	"fmt"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/internal/plan"
)

// The entry of a container's map by its key: lookup, update.

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
		likeKeys(&layout.Type, b.key)
		return b.key, nil
	}
	clear(b.key)
	if Encode(&layout.Type, b.dec.Labels.numbered(&layout.Type, likeKept(&layout.Type, k)), b.key) == nil {
		likeKeys(&layout.Type, b.key)
		return b.key, nil
	}
	return nil, fmt.Errorf("key of %s: %w", b, err)
}

func (b *base) encodeValue(v starlark.Value) ([]byte, error) {
	_, layout := b.be.Layout()
	clear(b.val)
	v = b.dec.Labels.numbered(&layout.Type, v)
	err := Encode(&layout.Type, v, b.val)
	if err != nil && readsAsText(&layout.Type) {
		clear(b.val)
		if there := b.asKept(&layout.Type, v); Encode(&layout.Type, there, b.val) == nil {
			return b.val, nil
		}
	}
	if err != nil {
		hint := ""
		if layout.Unsaid {
			hint = "; no kernel half says what the values are: write ints, as 1, or have a kernel half take the " +
				"value with a default of its kind, as .get(key, False) or .get(key, \"\") does"
			if b.decl.Kind == plan.Cell {
				hint = "; no kernel half says what it holds: begin it with a value of its kind, as cell(\"\")"
			}
		}
		return nil, fmt.Errorf("value of %s: %w%s", b, err, hint)
	}
	return b.val, nil
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
