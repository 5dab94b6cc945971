package value

import (
	"encoding/binary"
	"fmt"
	"math"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/internal/wire"
)

// Values decoded from the bytes of records and maps: ints, bools, floats, tuples, records, None and FAULT.

// A Decoder makes values of bytes that kernel halves wrote. The session makes
// one and uses it from its goroutine.
type Decoder struct {
	// Labels has the functions of wire.Type.Label; without one the number is
	// what a script sees.
	Labels Labels
	// Stacks gives the frames of stacks by their ids.
	Stacks StackSource
	// Traced, if not nil, learns of strings that could forge lines.
	Traced *Traced

	// interned has the strings that come often, so that each is one value.
	interned map[string]starlark.Value
	// labelled has the texts of labelled ints, by label and int.
	labelled map[labelKey]starlark.Value
	// labelFuncs has the functions of labels that have an argument, once they were made.
	labelFuncs map[string]LabelFunc
}

type labelKey struct {
	label string
	v     uint64
}

// The interned values: most strings are the names of a few programs and
// files, and an interface value for a new one costs two allocations.
const (
	internMax  = 4096 // entries; then the table is emptied
	internSize = 48   // bytes of the longest interned string
)

var order = binary.NativeEndian

// Decode gives the value that lies in a fixed layout. buf holds the layout
// from its start.
func (d *Decoder) Decode(t *wire.Type, buf []byte) starlark.Value {
	switch t.Kind {
	case wire.Str, wire.Bytes:
		return d.fixedString(t, buf[t.Off:t.Off+t.Size])
	case wire.Tuple, wire.Record_:
		if v := absent(t, buf); v != nil {
			return v
		}
		vals := make([]starlark.Value, len(t.Elems))
		for i := range t.Elems {
			vals[i] = d.Decode(&t.Elems[i], buf)
		}
		return compose(t, vals)
	}
	return d.scalar(t, buf)
}

// decodeRef gives a field of a record of the ring; rec is the whole record.
// It fails where a record is not as its layout says.
func (d *Decoder) decodeRef(t *wire.Type, rec []byte) (starlark.Value, error) {
	switch t.Kind {
	case wire.Str, wire.Bytes:
		return d.refString(t, rec)
	case wire.Tuple, wire.Record_:
		if v := absent(t, rec); v != nil {
			return v, nil
		}
		vals := make([]starlark.Value, len(t.Elems))
		for i := range t.Elems {
			var err error
			if vals[i], err = d.decodeRef(&t.Elems[i], rec); err != nil {
				return nil, err
			}
		}
		return compose(t, vals), nil
	}
	if t.Off+t.Size > len(rec) || t.TagOff >= len(rec) {
		return nil, fmt.Errorf("record of %d bytes ends before a field at %d", len(rec), t.Off)
	}
	return d.scalar(t, rec), nil
}

func compose(t *wire.Type, vals []starlark.Value) starlark.Value {
	if t.Kind == wire.Tuple {
		return starlark.Tuple(vals)
	}
	return NewRecord(t.Names, vals)
}

// absent gives None or FAULT where the tag says so, else nil. Layouts without
// a tag have TagOff -1.
func absent(t *wire.Type, buf []byte) starlark.Value {
	if t.TagOff < 0 || t.TagOff >= len(buf) {
		return nil
	}
	switch buf[t.TagOff] {
	case wire.TagNone:
		return starlark.None
	case wire.TagFault:
		return FAULT
	case wire.TagUnreadable:
		return Unreadable
	case wire.TagLost:
		return Lost
	case wire.TagUnshown:
		return Unshown
	}
	return nil
}

func (d *Decoder) scalar(t *wire.Type, buf []byte) starlark.Value {
	if t.Kind == wire.None {
		if v := absent(t, buf); v != nil {
			return v
		}
		return starlark.None
	}
	if v := absent(t, buf); v != nil {
		return v
	}
	raw := readInt(buf[t.Off:], t.Size)
	switch t.Kind {
	case wire.Bool:
		return starlark.Bool(raw != 0)
	case wire.Float:
		return float(raw, t.Size)
	case wire.StackID:
		return Stack{raw, d.Stacks}.view(t.Label)
	case wire.Pointer:
		if raw == 0 {
			return starlark.None
		}
		if n := int64(raw); n < 0 && n >= -wire.MaxErrno { // ERR_PTR
			return starlark.MakeInt64(n)
		}
	}
	if t.Label != "" {
		return d.label(t, extend(raw, t))
	}
	if t.Signed {
		return starlark.MakeInt64(int64(extend(raw, t)))
	}
	return starlark.MakeUint64(raw)
}

// float is the number that the bits of a floating-point number of 4 or 8 bytes mean.
func float(bits uint64, size int) starlark.Float {
	if size == 4 {
		return starlark.Float(math.Float32frombits(uint32(bits)))
	}
	return starlark.Float(math.Float64frombits(bits))
}

// readInt reads an unsigned int of 1, 2, 4 or 8 bytes.
func readInt(b []byte, size int) uint64 {
	switch size {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(order.Uint16(b))
	case 4:
		return uint64(order.Uint32(b))
	}
	return order.Uint64(b)
}

// extend is raw with the sign of t's width.
func extend(raw uint64, t *wire.Type) uint64 {
	if !t.Signed {
		return raw
	}
	shift := 64 - 8*t.Size
	return uint64(int64(raw<<shift) >> shift)
}
