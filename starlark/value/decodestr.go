package value

import (
	"bytes"
	"fmt"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/internal/wire"
)

// Strings decoded from records and maps.

// fixedString decodes a string of a fixed layout: padded with NULs, the last
// byte says whether it is whole.
func (d *Decoder) fixedString(t *wire.Type, b []byte) starlark.Value {
	if len(b) == 0 {
		return starlark.String("")
	}
	state := b[len(b)-1]
	switch state {
	case wire.StrNone:
		return starlark.None
	case wire.StrFault:
		return FAULT
	}
	if t.Kind == wire.Bytes {
		return d.bytesValue(t, fixedBytes(b), state == wire.StrCut)
	}
	return d.text(trim(b[:len(b)-1]), state == wire.StrCut)
}

// fixedBytes is as many bytes of a fixed layout as their length says.
func fixedBytes(b []byte) []byte {
	room := max(0, len(b)-wire.BytesTail)
	if room == 0 {
		return nil
	}
	return b[:min(room, int(order.Uint16(b[room:])))]
}

// refString decodes a string of a record: u16 offset, u16 length and flags.
func (d *Decoder) refString(t *wire.Type, rec []byte) (starlark.Value, error) {
	if t.Off+4 > len(rec) {
		return nil, fmt.Errorf("record of %d bytes ends before a string at %d", len(rec), t.Off)
	}
	off, flags := int(order.Uint16(rec[t.Off:])), order.Uint16(rec[t.Off+2:])
	switch {
	case flags&wire.RefNone != 0:
		return starlark.None, nil
	case flags&wire.RefFault != 0:
		return FAULT, nil
	}
	end := off + int(flags&wire.RefLen)
	if end > len(rec) {
		return nil, fmt.Errorf("string at %d..%d lies outside of a record of %d bytes", off, end, len(rec))
	}
	if t.Kind == wire.Bytes {
		return d.bytesValue(t, rec[off:end], flags&wire.RefCut != 0), nil
	}
	return d.text(trim(rec[off:end]), flags&wire.RefCut != 0), nil
}

// trim ends a string at its first NUL. A kernel half may send an array of
// characters as it is, without looking for the end.
func trim(b []byte) []byte {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		return b[:i]
	}
	return b
}

// text makes a string value, the same one for the same short text.
func (d *Decoder) text(b []byte, cut bool) starlark.Value {
	if cut || len(b) > internSize {
		return boxed(d.Traced.Text(string(b), cut))
	}
	if v, ok := d.interned[string(b)]; ok {
		return v
	}
	if d.interned == nil || len(d.interned) >= internMax {
		d.interned = make(map[string]starlark.Value)
	}
	s := d.Traced.Text(string(b), false)
	d.interned[string(s)] = s
	return s
}
