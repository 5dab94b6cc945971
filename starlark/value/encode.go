package value

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/internal/wire"
)

// Values encoded into keys and values of maps, and the message that a value does not fit what kernel halves keep there.

// Encode writes v into buf, which has the size of the layout and is zeroed
// first by the caller. An error says what was wanted: the types of a container
// come from its uses in kernel halves.
func Encode(t *wire.Type, v starlark.Value, buf []byte) error {
	if v == starlark.None || IsFault(v) {
		return encodeAbsent(t, v, buf)
	}
	switch t.Kind {
	case wire.None:
		return wanted(t, v)
	case wire.Str, wire.Bytes:
		return encodeString(t, v, buf[t.Off:t.Off+t.Size])
	case wire.Tuple:
		return encodeTuple(t, v, buf)
	case wire.Record_:
		return encodeRecord(t, v, buf)
	}
	raw, err := rawInt(t, v)
	if err != nil {
		return err
	}
	writeInt(buf[t.Off:], t.Size, raw)
	return nil
}

// encodeAbsent stores None or FAULT: as a tag, as the state of a string or as
// the null pointer.
func encodeAbsent(t *wire.Type, v starlark.Value, buf []byte) error {
	none := v == starlark.None
	if none && !t.MayNone && t.Kind != wire.Pointer && t.Kind != wire.None || !none && !t.MayFault {
		return fmt.Errorf("got %s, want %s: kernel halves keep no %s here", v, shape(t), v)
	}
	switch {
	case t.Kind == wire.Pointer && none: // 0, and no tag, as in kernel halves
	case t.TagOff >= 0 && none:
		buf[t.TagOff] = wire.TagNone
	case t.TagOff >= 0 && v == Unreadable:
		buf[t.TagOff] = wire.TagUnreadable
	case t.TagOff >= 0 && v == Lost:
		buf[t.TagOff] = wire.TagLost
	case t.TagOff >= 0 && v == Unshown:
		buf[t.TagOff] = wire.TagUnshown
	case t.TagOff >= 0:
		buf[t.TagOff] = wire.TagFault
	case (t.Kind == wire.Str || t.Kind == wire.Bytes) && none:
		buf[t.Off+t.Size-1] = wire.StrNone
	case t.Kind == wire.Str || t.Kind == wire.Bytes:
		buf[t.Off+t.Size-1] = wire.StrFault
	}
	return nil
}

func encodeTuple(t *wire.Type, v starlark.Value, buf []byte) error {
	tuple, ok := v.(starlark.Tuple)
	if !ok || len(tuple) != len(t.Elems) {
		return wanted(t, v)
	}
	for i := range t.Elems {
		if err := Encode(&t.Elems[i], tuple[i], buf); err != nil {
			return fmt.Errorf("element %d: %w", i, err)
		}
	}
	return nil
}

func encodeRecord(t *wire.Type, v starlark.Value, buf []byte) error {
	r, ok := v.(*Record)
	if !ok || len(r.names) != len(t.Names) {
		return wanted(t, v)
	}
	for i, name := range t.Names {
		field := r.Get(name)
		if field == nil {
			return wanted(t, v)
		}
		if err := Encode(&t.Elems[i], field, buf); err != nil {
			return fmt.Errorf("field %s: %w", name, err)
		}
	}
	return nil
}

func encodeString(t *wire.Type, v starlark.Value, b []byte) error {
	var s string
	v = OwnBytes(v)
	switch v := v.(type) {
	case starlark.String:
		s = string(v)
	case Bytes:
		s = string(v)
	}
	_, isBytes := v.(Bytes)
	_, isStr := v.(starlark.String)
	if isBytes != (t.Kind == wire.Bytes) || isStr != (t.Kind == wire.Str) {
		return wanted(t, v)
	}
	room := len(b) - 1
	if isBytes {
		room = max(0, len(b)-wire.BytesTail)
	}
	if len(s) > room {
		return fmt.Errorf("got a %s of %d bytes, want at most %d, as kernel halves keep here: cut it, as [:%[3]d] does",
			v.Type(), len(s), room)
	}
	if isStr && strings.IndexByte(s, 0) >= 0 {
		return fmt.Errorf("got a string with a NUL byte, want one without: it would end there")
	}
	copy(b, s)
	if IsCut(s) {
		b[len(b)-1] = wire.StrCut
	}
	if isBytes {
		order.PutUint16(b[room:], uint16(len(s)))
	}
	return nil
}

// rawInt gives the bits of an int, bool or stack in the width of t.
func rawInt(t *wire.Type, v starlark.Value) (uint64, error) {
	switch v := v.(type) {
	case starlark.Bool:
		if t.Kind != wire.Bool {
			break
		}
		if v {
			return 1, nil
		}
		return 0, nil
	case starlark.Float:
		if t.Kind == wire.Float {
			return fitFloat(t, float64(v))
		}
	case Stack:
		if t.Kind == wire.StackID && v.IsMerged() {
			return 0, errors.New("a merged stack stays in user space: keep the stack itself")
		}
		if t.Kind == wire.StackID && t.Label == "" {
			return v.ID, nil
		}
	case starlark.Int:
		if t.Kind == wire.Float { // 100 is 100.0
			return floatOfInt(t, v)
		}
		if n, ok := v.Int64(); t.Kind == wire.Pointer && ok && n < 0 && n >= -wire.MaxErrno { // ERR_PTR
			return uint64(n), nil
		}
		if t.Kind == wire.Int || t.Kind == wire.Pointer {
			return fitInt(t, v)
		}
	}
	return 0, wanted(t, v)
}

// floatOfInt gives the bits of the float that an int is equal to.
func floatOfInt(t *wire.Type, v starlark.Int) (uint64, error) {
	f, way := new(big.Float).SetInt(v.BigInt()).Float64()
	if way != big.Exact {
		return 0, wanted(t, v)
	}
	return fitFloat(t, f)
}

// fitFloat gives the bits of a float. One of 32 bits has only those that lose nothing by it.
func fitFloat(t *wire.Type, v float64) (uint64, error) {
	if t.Size == 8 {
		return math.Float64bits(v), nil
	}
	narrow := float32(v)
	if float64(narrow) != v && !math.IsNaN(v) {
		return 0, fmt.Errorf("got %v, want a float of 32 bits, as kernel halves keep here: this one needs more", v)
	}
	return uint64(math.Float32bits(narrow)), nil
}

// likeKeys makes the floats in an encoded key those that keys have.
func likeKeys(t *wire.Type, key []byte) {
	for i := range t.Elems {
		likeKeys(&t.Elems[i], key)
	}
	if t.Kind != wire.Float {
		return
	}
	at, infinity := key[t.Off:][:t.Size], uint64(math.Float32bits(float32(math.Inf(1))))
	bits := uint64(order.Uint32(at))
	if t.Size == 8 {
		bits, infinity = order.Uint64(at), math.Float64bits(math.Inf(1))
	}
	switch magnitude := bits &^ (1 << (8*t.Size - 1)); {
	case magnitude == 0:
		writeInt(at, t.Size, 0)
	case magnitude > infinity:
		writeInt(at, t.Size, infinity+1)
	}
}

func fitInt(t *wire.Type, v starlark.Int) (uint64, error) {
	bits := 8 * t.Size
	if t.Signed {
		i, ok := v.Int64()
		if !ok || i < math.MinInt64>>(64-bits) || i > math.MaxInt64>>(64-bits) {
			return 0, fmt.Errorf("got %s, want %s", v, shape(t))
		}
		return uint64(i), nil
	}
	u, ok := v.Uint64()
	if !ok || bits < 64 && u>>bits != 0 {
		return 0, fmt.Errorf("got %s, want %s", v, shape(t))
	}
	return u, nil
}

func writeInt(b []byte, size int, v uint64) {
	switch size {
	case 1:
		b[0] = byte(v)
	case 2:
		order.PutUint16(b, uint16(v))
	case 4:
		order.PutUint32(b, uint32(v))
	default:
		order.PutUint64(b, v)
	}
}

func wanted(t *wire.Type, v starlark.Value) error {
	got := v.Type()
	if tuple, ok := v.(starlark.Tuple); ok {
		got = fmt.Sprintf("a tuple of %d", len(tuple))
	}
	return fmt.Errorf("got %s, want %s", got, shape(t))
}

// shape says in words what a layout holds.
func shape(t *wire.Type) string {
	switch t.Kind {
	case wire.None:
		return "None"
	case wire.Bool:
		return "bool"
	case wire.Str:
		return fmt.Sprintf("a string of at most %d bytes", t.Size-1)
	case wire.Bytes:
		if t.Label != "" {
			return textThere(t.Label)
		}
		return fmt.Sprintf("at most %d bytes", t.Size-wire.BytesTail)
	case wire.Pointer:
		return "an address"
	case wire.Float:
		return "a float"
	case wire.StackID:
		return "a stack"
	case wire.Tuple:
		return "(" + shapes(t) + ")"
	case wire.Record_:
		return "record(" + shapes(t) + ")"
	}
	if t.Label == "errno" || t.Label == "signal" { // Labels.OfText
		return fmt.Sprintf("what %s gives, or its number", labelWords(t.Label))
	}
	if t.Label != "" {
		return textThere(t.Label) + ", or its number"
	}
	sign := "an unsigned"
	if t.Signed {
		sign = "a signed"
	}
	return fmt.Sprintf("%s %d-bit int", sign, 8*t.Size)
}

func shapes(t *wire.Type) string {
	parts := make([]string, len(t.Elems))
	for i := range t.Elems {
		parts[i] = shape(&t.Elems[i])
		if i < len(t.Names) {
			parts[i] = t.Names[i] + " = " + parts[i]
		}
	}
	return strings.Join(parts, ", ")
}

// textThere asks for a text of a label that an entry has, so that its number is known.
func textThere(label string) string {
	words := labelWords(label)
	if strings.HasSuffix(words, ")") {
		return fmt.Sprintf("what %s gives, of an entry that is there", words)
	}
	return words + " that an entry has"
}

// labelWords names what readers see of a value with a label as scripts know it.
func labelWords(label string) string {
	name, of, _ := strings.Cut(label, ":")
	switch name = strings.TrimRight(name, "46"); name {
	case "name", "func":
		return "the name of a function or point"
	case "syscall_name":
		return "the name of a system call"
	case "point", "syscall_point":
		return "the name of a point"
	case "names":
		if strings.HasPrefix(of, "#") { // an enum by the number of its type, which scripts do not see
			return "names(…)"
		}
		return fmt.Sprintf("names(…, %q)", of)
	case "strftime":
		return fmt.Sprintf("strftime(%q, …)", of)
	case strList:
		return "a list of strings"
	}
	return name + "(…)"
}
