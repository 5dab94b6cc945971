// Package results makes of what a script has counted, or shows, the tables that
// are printed: values of the interpreter become plain ones.
package results

import (
	"slices"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/render"
	"github.com/startrace/startrace/starlark/value"
)

// Values of a script as tables: aggValue for aggregations, which quantiles are shown (`shownQuantiles`), column names,
// frames.

// Known says what is known of containers besides their values.
type Known struct {
	// Containers are those of the script.
	Containers func() []value.Container
	// Keyed reports whether kernel halves use a container, and if so whether with keys.
	Keyed func(*plan.Container) (keyed, used bool)
	// Stacks say which stacks reports do not tell apart.
	Stacks value.StackSource
}

// Table gives what show() prints: an aggregation, what take() gave, a table,
// a cell, a histogram, a dict. nil means that v is a plain value.
func (k *Known) Table(v starlark.Value) (*render.Table, error) {
	switch v := v.(type) {
	case *value.Agg:
		snapshot, err := v.Snapshot()
		if err != nil {
			return nil, err
		}
		return k.Snapshot(snapshot)
	case *value.Snapshot:
		return k.Snapshot(v)
	case *value.Table:
		return itemsTable(v.Decl().Name, k.keyNames(v.Decl()), "table", v.Items()), nil
	case *starlark.Dict:
		return itemsTable("", nil, "dict", v.Items()), nil
	case *value.Cell:
		held, err := v.Value()
		if err != nil {
			return nil, err
		}
		return &render.Table{Name: v.Decl().Name, Kind: "cell", Columns: make([]render.Column, 1),
			Rows: []render.Row{{Values: []render.Value{Plain(held)}}}}, nil
	case *value.Histogram:
		return &render.Table{Kind: "hist", Columns: []render.Column{{Kind: "hist", Unit: v.UnitName()}},
			Rows: []render.Row{{Values: []render.Value{histOf(v)}}}}, nil
	}
	return nil, nil
}

// Snapshot gives what an aggregation held at one time. Entries with the same stacks are one row.
func (k *Known) Snapshot(snapshot *value.Snapshot) (*render.Table, error) {
	snapshot, err := snapshot.Merged(k.Stacks)
	if err != nil {
		return nil, err
	}
	decl := snapshot.Decl()
	t := &render.Table{Name: decl.Name, Kind: decl.Kind.String(), By: k.keyNames(decl), Keyed: len(decl.By) > 0}
	columns := snapshot.Columns()
	for i, c := range columns {
		col := render.Column{Kind: c.Kind.String(), Unit: c.UnitName}
		if c.Kind == plan.Count { // of events, whatever unit= says
			col.Unit = ""
		}
		if decl.Kind == plan.Group {
			col.Name = decl.Members[i].Name
		}
		t.Columns = append(t.Columns, col)
	}
	var shown plainer
	for _, e := range snapshot.Entries() {
		row := render.Row{}
		if e.Key != nil {
			row.Key, row.Names = shown.keyColumns(e.Key, len(decl.By))
			t.Keyed = true
		}
		for i, c := range columns {
			row.Values = append(row.Values, aggValue(c, &e.States[i]))
		}
		t.Rows = append(t.Rows, row)
	}
	if len(t.Rows) == 0 && !k.keyed(decl) {
		t.Rows = emptyRow(columns)
	}
	nameColumns(t)
	return t, nil
}

// nameColumns takes the names of the columns from keys that are records, where by=
// names none and they all have the same.
func nameColumns(t *render.Table) {
	if t.By != nil || len(t.Rows) == 0 {
		return
	}
	names := t.Rows[0].Names
	for _, r := range t.Rows {
		if !slices.Equal(r.Names, names) {
			return
		}
	}
	t.By = names
}

// keyed reports whether an aggregation has keys, as far as is known before it
// has entries.
func (k *Known) keyed(decl *plan.Container) bool {
	if keyed, used := k.Keyed(decl); used {
		return keyed
	}
	return len(decl.By) > 0
}

// keyNames are the columns of the keys of a container that have names.
func (k *Known) keyNames(decl *plan.Container) []string {
	if all := k.Containers(); decl.ID < len(all) && all[decl.ID].Decl() == decl {
		return all[decl.ID].KeyNames()
	}
	return decl.By
}

// emptyRow shows that nothing was counted: 0 is a result.
func emptyRow(columns []*plan.Container) []render.Row {
	row := render.Row{}
	for _, c := range columns {
		row.Values = append(row.Values, aggValue(c, &value.State{}))
	}
	return []render.Row{row}
}

func itemsTable(name string, by []string, kind string, items []starlark.Tuple) *render.Table {
	t := &render.Table{Name: name, Kind: kind, By: by, Keyed: true, Columns: make([]render.Column, 1)}
	var shown plainer
	for _, kv := range items {
		key, names := shown.keyColumns(kv[0], len(by))
		t.Rows = append(t.Rows, render.Row{Key: key, Names: names, Values: []render.Value{shown.value(kv[1], 0)}})
	}
	nameColumns(t)
	return t
}

// aggValue is the value of an aggregation as render wants it.
func aggValue(c *plan.Container, s *value.State) render.Value {
	v := value.Result(c, s)
	switch v := v.(type) {
	case *value.Histogram:
		if c.Kind == plan.Quantiles {
			return quantilesOf(v)
		}
		return histOf(v)
	case *value.Record:
		return &render.Stats{Count: s.Count, Mean: Plain(v.Get("mean")), Total: Plain(v.Get("total")),
			Lowest: Plain(v.Get("lowest")), Highest: Plain(v.Get("highest"))}
	}
	return Plain(v)
}

func histOf(h *value.Histogram) *render.Hist {
	out := &render.Hist{}
	for _, b := range h.Bars() {
		out.Buckets = append(out.Buckets, render.Bucket{Lo: b.Lo, Hi: b.Hi, Below: !b.HasLo, Above: !b.HasHi,
			Unsigned: b.Unsigned, Divided: b.Divided, Count: b.Count})
	}
	return out
}

// shownQuantiles are what reports have; scripts read any with .quantile(q).
var shownQuantiles = [...]float64{0.5, 0.9, 0.99, 0.999, 1}

func quantilesOf(h *value.Histogram) render.Quantiles {
	out := make(render.Quantiles, len(shownQuantiles))
	for i, q := range shownQuantiles {
		out[i].Q, out[i].Of = q, h.Count()
		if v, ok := h.Quantile(q); ok {
			out[i].Value = v
		}
	}
	return out
}

// A plainer makes plain values, those of one table. It names a frame once, however many stacks have it.
type plainer struct {
	frames map[shownFrame]*render.Frame
}

// A shownFrame is one of a stack that is merged, or not.
type shownFrame struct {
	frame  value.Frame
	merged bool
}

// keyColumns splits a key into columns: those of a record have names. A list of the event is one column, and so is what
// a script has made of one, where by= names one (columns is the number of names).
func (p *plainer) keyColumns(k starlark.Value, columns int) (key []render.Value, names []string) {
	switch k := k.(type) {
	case starlark.Tuple:
		if value.IsList(k) || columns == 1 && len(k) != 1 {
			return []render.Value{p.value(k, 0)}, nil
		}
		return p.values(value.Marked(k), 0), nil
	case *value.Record:
		names, values := k.Fields()
		return p.values(values, 0), names
	}
	return []render.Value{p.value(k, 0)}, nil
}

func (p *plainer) values(in []starlark.Value, depth int) []render.Value {
	out := make([]render.Value, len(in))
	for i, v := range in {
		out[i] = p.value(v, depth)
	}
	return out
}

// maxDepth bounds how deep the parts of a value are shown: each takes a call.
const maxDepth = 1000

// tooDeep is shown in the place of what lies deeper.
var tooDeep = render.Fault{Text: "<nested too deeply>"}

// Plain gives a value of the script without the interpreter.
func Plain(v starlark.Value) render.Value { return new(plainer).value(v, 0) }

// value is Plain of a part at a depth.
func (p *plainer) value(v starlark.Value, depth int) render.Value {
	switch v := v.(type) {
	case nil, starlark.NoneType:
		return nil
	case starlark.Bool:
		return bool(v)
	case starlark.Int:
		return plainInt(v)
	case starlark.Float:
		return float64(v)
	case starlark.String:
		return value.Printed(string(v))
	case value.Bytes:
		if value.IsCut(string(v)) {
			return render.CutBytes(v)
		}
		return []byte(v)
	case value.Stack:
		return p.stack(v)
	case value.Frame:
		return frameNames(v)
	case *value.Histogram:
		return histOf(v)
	}
	if value.IsFault(v) {
		return render.Fault{Text: v.String()}
	}
	if depth == maxDepth {
		return tooDeep
	}
	return p.composite(v, depth+1)
}

func plainInt(i starlark.Int) render.Value {
	if n, ok := i.Int64(); ok {
		return n
	}
	if n, ok := i.Uint64(); ok {
		return n
	}
	return i.BigInt()
}

func (p *plainer) composite(v starlark.Value, depth int) render.Value {
	switch v := v.(type) {
	case starlark.Tuple:
		return render.Tuple(p.values(value.Marked(v), depth))
	case *value.Record:
		names, values := v.Fields()
		o := make(render.Object, len(names))
		for i, name := range names {
			o[i] = render.Field{Name: name, Value: p.value(values[i], depth)}
		}
		return o
	case *starlark.Dict:
		o := render.Object{}
		for _, kv := range v.Items() {
			name, ok := starlark.AsString(kv[0])
			if !ok {
				name = value.Text(kv[0])
			} else {
				name = value.Printed(name)
			}
			o = append(o, render.Field{Name: name, Value: p.value(kv[1], depth)})
		}
		return o
	case starlark.Iterable:
		out := render.Tuple{}
		for e := range starlark.Elements(v) {
			out = append(out, p.value(e, depth))
		}
		return out
	}
	return v.String()
}

// frame names a frame of a stack. Of a merged one an offset that is left tells it from others.
func (p *plainer) frame(f value.Frame, merged bool) *render.Frame {
	f.Addr, f.Source = 0, nil // of which no name tells
	key := shownFrame{f, merged}
	if p.frames[key] == nil {
		names := frameNames(f)
		if merged {
			names.Function = names.Label
		}
		if p.frames == nil {
			p.frames = map[shownFrame]*render.Frame{}
		}
		p.frames[key] = &names
	}
	return p.frames[key]
}

func frameNames(f value.Frame) render.Frame {
	return render.Frame{Function: f.Name, Label: f.Label(), Text: f.Text(), Whole: f.Whole()}
}

// stack names the frames; one without a symbol is its address.
func (p *plainer) stack(s value.Stack) render.Value {
	frames := s.Frames()
	if frames == nil {
		return s.String()
	}
	out := render.Stack{Frames: make([]*render.Frame, len(frames)), Short: s.Short(),
		Unfinished: s.Unfinished()}
	for i, f := range frames {
		out.User = f.User
		out.Frames[i] = p.frame(f, s.IsMerged())
	}
	return out
}
