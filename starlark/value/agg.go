package value

import (
	"errors"
	"fmt"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/wire"
)

// Aggregations in user space: a[k], iteration, len, what kernel maps and user code have together, and the message about
// weights.

var (
	_ Container          = (*Agg)(nil)
	_ starlark.Mapping   = (*Agg)(nil)
	_ starlark.Container = (*Agg)(nil)
	_ starlark.Sequence  = (*Agg)(nil)
	_ starlark.HasAttrs  = (*Agg)(nil)
)

// NewAgg makes the aggregation or group of a declaration.
func NewAgg(decl *plan.Container) *Agg {
	return &Agg{base: base{decl: decl}, local: newSnapshot(decl, nil)}
}

// Bind is for tables and cells; aggregations need the shape of their values.
func (a *Agg) Bind(be Backend, d *Decoder) error {
	return fmt.Errorf("bind %s: an aggregation is bound with BindAgg", a)
}

// BindAgg moves the aggregation into kernel maps whose values have the given
// shape. What user code added before is from now on under the keys that it would
// have if it were added now.
func (a *Agg) BindAgg(be Backend, d *Decoder, shape *wire.Agg) {
	a.be, a.dec, a.shape = be, d, shape
	if key, _ := be.Layout(); key != nil {
		a.key = make([]byte, key.Size)
	}
	a.val = make([]byte, shape.ValueSize())
	added, kept := a.local.entries, a.keys.Keys()
	a.local = a.newSnapshot()
	_ = a.keys.Clear() // nobody goes over it
	// Both were keys before, so that they can be keys again.
	for _, e := range added {
		_ = a.local.merge(a.asRead(e.Key), e.States)
	}
	for _, k := range kept {
		_ = a.keys.SetKey(indexKey(a.asRead(scriptKey(k))), starlark.None)
	}
}

func (a *Agg) newSnapshot() *Snapshot {
	s := newSnapshot(a.decl, a.parts)
	keyed, known := a.keyed()
	s.keyed, s.of = keyed && known, a
	return s
}

// usable is an error for a member of a group, used without it.
func (a *Agg) usable() error {
	if why := a.decl.Alone(); why != "" {
		return errors.New(why)
	}
	return nil
}

// Used reports whether user code has added to it.
func (a *Agg) Used() bool { return len(a.local.entries) > 0 }

// Snapshot reads everything since the last take or clear.
func (a *Agg) Snapshot() (*Snapshot, error) {
	if err := a.usable(); err != nil {
		return nil, err
	}
	a.read = true
	return a.Peek()
}

// Peek is Snapshot for reports: the aggregation does not count as read.
func (a *Agg) Peek() (*Snapshot, error) {
	out, _, err := a.collect()
	return out, err
}

// collect reads the maps and what user code added. raw has the states of the
// maps by the bytes of their keys, nothing subtracted.
func (a *Agg) collect() (out *Snapshot, raw map[string][]State, err error) {
	out, raw = a.newSnapshot(), make(map[string][]State)
	if a.be != nil {
		eachErr := a.be.Each(func(key, val []byte) bool {
			err = a.collectEntry(out, raw, key, val)
			return err == nil
		})
		if err = errors.Join(err, eachErr); err != nil {
			return nil, nil, fmt.Errorf("read %s: %w", a, err)
		}
	}
	for _, e := range a.local.entries {
		if err := out.merge(e.Key, e.States); err != nil {
			return nil, nil, err
		}
	}
	return out, raw, nil
}

func (a *Agg) collectEntry(out *Snapshot, raw map[string][]State, key, val []byte) error {
	states := a.readValue(val)
	raw[string(key)] = states
	since := a.since(key, states)
	if since == nil {
		return nil
	}
	return out.merge(a.decodeKey(key), since)
}

// since is what was added to the entry of a map since the last take; nil: nothing,
// and the entry is there for its place only.
func (a *Agg) since(key []byte, states []State) []State {
	old, fresh := a.taken[string(key)], false
	out := make([]State, len(states))
	for i, c := range columnsOf(a.decl) {
		out[i] = states[i].clone()
		if old != nil {
			out[i].subtract(&old[i])
		}
		fresh = fresh || !out[i].empty(c.Kind)
	}
	if !fresh && (old != nil || a.switched || a.unkeyed()) {
		return nil
	}
	return out
}

// one reads the entry of a key as it was written; nil where there is none.
func (a *Agg) one(key starlark.Value) ([]State, error) {
	key = foldKey(key, a.parts)
	if err := a.checkKeyed(key); err != nil {
		return nil, err
	}
	if raw, err := a.encodeIfShaped(key); err == nil && raw != nil {
		return a.oneRaw(raw, key)
	}
	// The key, or a part of it, is text for a label: compare with what the keys decode to.
	s, err := a.Snapshot()
	if err != nil {
		return nil, err
	}
	i, err := s.find(a.asRead(key))
	if i < 0 || err != nil {
		return nil, err
	}
	return s.entries[i].States, nil
}

// encodeIfShaped gives the bytes of a key where there is a map with such keys.
func (a *Agg) encodeIfShaped(key starlark.Value) ([]byte, error) {
	if a.be == nil || a.unkeyed() || key == nil {
		return nil, nil
	}
	return a.encodeKey(key)
}

func (a *Agg) oneRaw(raw []byte, key starlark.Value) ([]State, error) {
	a.read = true
	found, err := a.be.Lookup(raw, a.val)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", a, err)
	}
	var out []State
	if found {
		out = a.since(raw, a.readValue(a.val))
	}
	i, err := a.local.find(a.asRead(key))
	if err != nil || i < 0 {
		return out, err
	}
	if out == nil {
		out = make([]State, len(columnsOf(a.decl)))
	}
	for col := range out {
		out[col].Merge(&a.local.entries[i].States[col])
	}
	return out, nil
}

func (a *Agg) unkeyed() bool {
	key, _ := a.be.Layout()
	return key == nil
}

// readValue decodes a map value, of banks both together.
func (a *Agg) readValue(val []byte) []State {
	out := a.readStates(val)
	for bank := 1; bank < a.shape.Banks; bank++ {
		for i, s := range a.readStates(val[bank*a.shape.Size:]) {
			out[i].Merge(&s)
		}
	}
	return out
}

// readStates decodes one bank.
func (a *Agg) readStates(val []byte) []State {
	if a.shape.Kind != wire.AggGroup {
		return []State{readState(a.shape, val)}
	}
	out := make([]State, len(a.shape.Members))
	for i, m := range a.shape.Members {
		out[i] = readState(m.Agg, val)
	}
	return out
}

// add is a[key].add(v, weight) of user code; col is the member of a group.
func (a *Agg) add(key starlark.Value, col int, v Number, weight int64) error {
	if c := columnsOf(a.decl)[col]; weight < 0 && c.Kind.HasBuckets() {
		return fmt.Errorf("a weight of %d: a %s counts values, so that a weight is at least 0", weight, c.Kind)
	}
	if err := a.checkColumns(key); err != nil {
		return err
	}
	if err := a.checkWords("key", key); err != nil {
		return err
	}
	folded := foldKey(key, a.parts)
	if err := a.checkKeyed(folded); err != nil {
		return err
	}
	read := a.asRead(folded)
	i, err := a.local.find(read)
	if i < 0 && err == nil {
		room, err := a.roomFor(folded)
		if !room || err != nil {
			return err
		}
	}
	e, err := a.local.entry(read)
	if err != nil {
		return fmt.Errorf("key of %s: %w", a, err)
	}
	e.States[col].add(columnsOf(a.decl)[col], v, weight)
	return nil
}

// Has is `k in a`: a[k] is an element to add to, also where there is no entry.
func (a *Agg) Has(k starlark.Value) (bool, error) {
	if _, err := k.Hash(); err != nil {
		return false, fmt.Errorf("key of %s: %w", a, err)
	}
	if err := a.usable(); err != nil {
		return false, err
	}
	if folded := foldKey(k, a.parts); folded == nil || a.checkKeyed(folded) != nil {
		return false, nil
	}
	states, err := a.one(k)
	return states != nil, err
}

// Get is a[k]: an element to add to, whether there is an entry or not.
func (a *Agg) Get(k starlark.Value) (starlark.Value, bool, error) {
	if _, err := k.Hash(); err != nil {
		return nil, false, fmt.Errorf("key of %s: %w", a, err)
	}
	if err := a.usable(); err != nil {
		return nil, false, err
	}
	return &element{a, k, a.member()}, true, nil
}

// member is the column that an element of a means: all of a group, or the first.
func (a *Agg) member() int {
	if a.decl.Kind == plan.Group {
		return wholeGroup
	}
	return 0
}

// Len is the number of keys.
func (a *Agg) Len() int {
	s, err := a.Snapshot()
	if err != nil {
		return 0 // len() cannot fail; items() reports it
	}
	return s.Len()
}

// Iterate goes over the keys.
func (a *Agg) Iterate() starlark.Iterator {
	s, err := a.Snapshot()
	if err != nil {
		s = a.newSnapshot() // iteration cannot fail; items() reports it
	}
	return s.Iterate()
}
