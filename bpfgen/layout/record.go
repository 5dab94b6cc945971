package layout

import (
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/wire"
)

// The layout of the record of an event.

// Record is the layout of an event: the header, the fields in order, their
// tag bytes, then the bytes of strings.
func Record(number, probe int, names []string, ts []types.Type) *wire.Record {
	r := &wire.Record{Number: number, Probe: probe}
	p := &placer{off: wire.HeaderSize, record: true}
	for i, t := range ts {
		p.room = 0
		r.Fields = append(r.Fields, wire.Field{Name: names[i], Type: p.leaves(t)})
		r.Fields[i].Room = p.room
	}
	for i, t := range ts {
		p.tags(t, &r.Fields[i].Type)
	}
	r.FixedSize = align(p.off, 8)
	r.MaxSize = r.FixedSize + p.strings
	return r
}
