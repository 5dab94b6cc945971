package value

import (
	"fmt"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/internal/wire"
)

// Event, the object that gives handlers the fields of the record, and the message that the event itself is used as a
// value.

// An Event gives a handler the fields of the record that is being delivered.
// One Event serves all records one after another: Set moves it on. Fields are
// decoded when they are read, once each.
type Event struct {
	dec   *Decoder
	rec   *wire.Record
	buf   []byte
	cache []starlark.Value
	kept  *Event // the copy that keep gave for this record
}

var (
	_ starlark.Mapping  = (*Event)(nil)
	_ starlark.HasAttrs = (*Event)(nil)
)

// NewEvent makes an event that decodes with d.
func NewEvent(d *Decoder) *Event { return &Event{dec: d} }

// Set makes the event that of a record. buf is the record with its header; it
// is read until the next Set and never written.
func (e *Event) Set(rec *wire.Record, buf []byte) {
	e.rec, e.buf, e.kept = rec, buf, nil
	if n := len(rec.Fields); n <= cap(e.cache) {
		e.cache = e.cache[:n]
		clear(e.cache)
		return
	}
	e.cache = make([]starlark.Value, len(rec.Fields))
}

// Aside frees the event for others; what it gives makes it the present one again.
func (e *Event) Aside() (back func()) {
	was := *e
	e.cache = nil
	return func() { *e = was }
}

// Time is the time of the event: CLOCK_MONOTONIC in ns, 0 before the first.
func (e *Event) Time() int64 {
	if len(e.buf) < wire.HeaderSize {
		return 0
	}
	return int64(order.Uint64(e.buf[wire.HeaderTime:]))
}

// CPU is the CPU on which the event happened.
func (e *Event) CPU() int {
	if len(e.buf) < wire.HeaderSize {
		return 0
	}
	return int(order.Uint32(e.buf[wire.HeaderCPU:]))
}

// Field gives field i.
func (e *Event) Field(i int) (starlark.Value, error) {
	if i < 0 || i >= len(e.cache) {
		return nil, fmt.Errorf("the event has no field number %d", i)
	}
	if v := e.cache[i]; v != nil {
		return v, nil
	}
	v, err := e.dec.decodeRef(&e.rec.Fields[i].Type, e.buf)
	e.cache[i] = v
	return v, err
}

// Keep gives an event that stays this one when the original moves on. All
// callers during one delivery share it.
func (e *Event) Keep() *Event {
	if e.kept == nil {
		e.kept = &Event{dec: e.dec, rec: e.rec, buf: append([]byte(nil), e.buf...),
			cache: append([]starlark.Value(nil), e.cache...)}
		e.kept.kept = e.kept
	}
	return e.kept
}

// Get is e[i], which is what captured expressions are replaced by: field i, or of a negative i width -1-i of the
// record.
func (e *Event) Get(k starlark.Value) (starlark.Value, bool, error) {
	i, ok := k.(starlark.Int)
	if !ok {
		return nil, false, fmt.Errorf("an event has no fields by %s", k.Type())
	}
	n, ok := i.Int64()
	if !ok {
		return nil, false, fmt.Errorf("the event has no field number %s", i)
	}
	if w := -1 - n; n < 0 && w < int64(len(e.rec.Widths)) {
		return starlark.MakeInt(e.rec.Widths[w]), true, nil
	}
	v, err := e.Field(int(n))
	return v, err == nil, err
}

// Attr has keep. Other parts of the event were replaced by the compiler.
func (e *Event) Attr(name string) (starlark.Value, error) {
	if name == "keep" {
		return method("keep", e, func(*starlark.Thread, starlark.Tuple, []starlark.Tuple) (starlark.Value, error) {
			return e.Keep(), nil
		}), nil
	}
	return nil, fmt.Errorf("e.%s was not captured: here the event itself is used as a value; "+
		"pass or store its parts instead", name)
}

func (e *Event) AttrNames() []string   { return nil }
func (e *Event) String() string        { return "<event>" }
func (e *Event) Type() string          { return "event" }
func (e *Event) Freeze()               {}
func (e *Event) Truth() starlark.Bool  { return starlark.True }
func (e *Event) Hash() (uint32, error) { return 0, fmt.Errorf("unhashable: event") }
