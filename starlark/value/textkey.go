package value

import (
	"fmt"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/internal/wire"
)

// Keys of maps that hold the number of a label, found by its text.
//
// A key of a map may hold the number of a label, of which scripts see the text
// only. The number cannot be computed from the text, so the keys of the map say
// what theirs are: each is remembered by what it reads as, and of a text that
// none has had so far the map is read.

// findKey gives the bytes of the key k, valid until the next call; nil where no
// entry can have it: it is of another kind, or out of the range of all keys.
func (b *base) findKey(k starlark.Value) ([]byte, error) {
	key, err := b.encodeKey(k)
	if err == nil {
		return key, nil
	}
	if layout, _ := b.be.Layout(); k == nil || layout == nil {
		return nil, err
	}
	if _, err := k.Hash(); err != nil {
		return nil, fmt.Errorf("key of %s: %w", b, err)
	}
	return b.keyOfText(k)
}

// keyToWrite gives the bytes of a key that is written to: an entry of such a text
// is changed, but none is made.
func (b *base) keyToWrite(k starlark.Value) ([]byte, error) {
	key, err := b.encodeKey(k)
	if err == nil || k == nil {
		return key, err
	}
	if found, textErr := b.keyOfText(k); found != nil && textErr == nil {
		return found, nil
	}
	return nil, err
}

// keyOfText finds the key of the map that reads as k, nil: none.
func (b *base) keyOfText(k starlark.Value) ([]byte, error) {
	layout, _ := b.be.Layout()
	if layout == nil || !readsAsText(&layout.Type) {
		return nil, nil
	}
	if key, err := b.remembered(k); key != nil || err != nil {
		return key, err
	}
	if err := b.readTexts(); err != nil {
		return nil, err
	}
	return b.remembered(k)
}

func (b *base) remembered(k starlark.Value) ([]byte, error) {
	raw, found, err := b.texts.Get(indexKey(k))
	if !found || err != nil {
		return nil, err
	}
	return append(b.key[:0], raw.(starlark.Bytes)...), nil
}

// readTexts remembers the keys that the map has now, and forgets others.
func (b *base) readTexts() error {
	if err := b.texts.Clear(); err != nil {
		return err
	}
	var setErr error
	err := b.be.Each(func(key, _ []byte) bool {
		setErr = b.texts.SetKey(indexKey(b.decodeKey(key)), starlark.Bytes(key))
		return setErr == nil
	})
	if err == nil {
		err = setErr
	}
	return err
}

// readsAsText reports whether a value of t, or a part of it, has a label.
func readsAsText(t *wire.Type) bool {
	if t.Label != "" {
		return true
	}
	for i := range t.Elems {
		if readsAsText(&t.Elems[i]) {
			return true
		}
	}
	return false
}
