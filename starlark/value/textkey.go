package value

import (
	"fmt"
	"slices"

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
	k = b.asRead(k)
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

// asRead is a key as those of the map read, where these hold the numbers of labels: -2 is ENOENT.
func (b *base) asRead(k starlark.Value) starlark.Value {
	if b.be == nil || k == nil {
		return k
	}
	layout, _ := b.be.Layout()
	if layout == nil || !readsAsText(&layout.Type) {
		return k
	}
	if raw, err := b.encodeKey(k); err == nil {
		return b.decodeKey(raw)
	}
	return b.partAsRead(&layout.Type, k)
}

// partAsRead is asRead for a key that no map can have as it is, or a part of such a one: what is text already stays,
// and so does what fits nowhere.
func (b *base) partAsRead(t *wire.Type, k starlark.Value) starlark.Value {
	switch v := k.(type) {
	case starlark.Tuple:
		if t.Kind != wire.Tuple || len(v) != len(t.Elems) {
			return k
		}
		out := make(starlark.Tuple, len(v))
		for i := range v {
			out[i] = b.partAsRead(&t.Elems[i], v[i])
		}
		return likeList(v, out)
	case *Record:
		if len(v.names) != len(t.Names) {
			return k
		}
		out := make([]starlark.Value, len(v.vals))
		for i, name := range v.names {
			out[i] = v.vals[i]
			if at := slices.Index(t.Names, name); at >= 0 {
				out[i] = b.partAsRead(&t.Elems[at], v.vals[i])
			}
		}
		return NewRecord(v.names, out)
	}
	clear(b.key)
	if t.Label == "" || Encode(t, likeKept(t, k), b.key) != nil {
		return k
	}
	return b.dec.Decode(t, b.key)
}

// asKept is the value v with what entries keep of the texts in it: a text of an entry that is there is that of its
// number.
func (b *base) asKept(t *wire.Type, v starlark.Value) starlark.Value {
	switch e := v.(type) {
	case starlark.Tuple:
		if t.Kind == wire.Tuple && len(e) == len(t.Elems) {
			out := make(starlark.Tuple, len(e))
			for i := range e {
				out[i] = b.asKept(&t.Elems[i], e[i])
			}
			return likeList(e, out)
		}
	case *Record:
		if len(e.names) == len(t.Names) {
			out := slices.Clone(e.vals)
			for i, name := range e.names {
				if at := slices.Index(t.Names, name); at >= 0 {
					out[i] = b.asKept(&t.Elems[at], e.vals[i])
				}
			}
			return NewRecord(e.names, out)
		}
	case starlark.String:
		if t.Label != "" {
			return b.numberThere(t, e)
		}
	}
	return v
}

// numberThere is what the first entry keeps at the place of t that reads as text; text where none does.
func (b *base) numberThere(t *wire.Type, text starlark.String) (kept starlark.Value) {
	plain := *t
	plain.Label = ""
	kept = text
	_ = b.be.Each(func(_, val []byte) bool { // without the entries the text is refused
		if found, ok := b.dec.Decode(t, val).(starlark.String); !ok || found != text {
			return true
		}
		kept = b.dec.Decode(&plain, val)
		return false
	})
	return kept
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
