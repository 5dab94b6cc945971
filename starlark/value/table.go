package value

import (
	"errors"
	"fmt"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/internal/plan"
)

// table() in user space: t[k], t[k] = v, items, len, how lru= drops entries there.

// OnClear has f called before the table's map is cleared.
func (t *Table) OnClear(f func()) { t.onClear = f }

// Gone is how many entries made room for others, as lru= says, before Bind.
func (t *Table) Gone() uint64 { return t.gone }

var (
	_ Container                = (*Table)(nil)
	_ starlark.HasSetKey       = (*Table)(nil)
	_ starlark.IterableMapping = (*Table)(nil)
	_ starlark.Sequence        = (*Table)(nil)
	_ starlark.HasAttrs        = (*Table)(nil)
)

// NewTable makes the table of a declaration.
func NewTable(decl *plan.Container) *Table { return &Table{base: base{decl: decl}} }

// Bind hands over what was written before.
func (t *Table) Bind(be Backend, d *Decoder) error {
	t.attach(be, d)
	for _, kv := range t.local.Items() {
		if err := t.update(t.shownKey(kv[0]), kv[1]); err != nil {
			return fmt.Errorf("%s[%s] = %s: %w", t.name(), t.shownKey(kv[0]), kv[1], err)
		}
	}
	return errors.Join(t.unsigned.Clear(), t.local.Clear())
}

// Filled implements Container.
func (t *Table) Filled() bool { return t.local.Len() > 0 }

// Holds implements Container.
func (t *Table) Holds() starlark.Value {
	for _, v := range t.local.Entries() {
		if v != starlark.None {
			return v
		}
	}
	return nil
}

// Get is t[k].
func (t *Table) Get(k starlark.Value) (starlark.Value, bool, error) {
	k = t.foldKey(k)
	if t.be == nil {
		return t.getLocal(k)
	}
	v, err := t.lookup(k)
	return v, v != nil, err
}

// SetKey is t[k] = v.
func (t *Table) SetKey(k, v starlark.Value) error {
	if err := t.checkColumns(k); err != nil {
		return err
	}
	k = t.foldKey(k)
	if t.be == nil {
		return t.setLocal(k, v)
	}
	return t.update(k, v)
}

// getLocal is Get of a table that no kernel half uses. With lru it makes the entry
// the youngest.
func (t *Table) getLocal(k starlark.Value) (starlark.Value, bool, error) {
	k = indexKey(k)
	v, found, err := t.local.Get(k)
	if !found || err != nil || !t.decl.LRU {
		return v, found, err
	}
	return v, true, t.renew(k, v)
}

// renew puts an entry behind all others.
func (t *Table) renew(k, v starlark.Value) error {
	if _, _, err := t.local.Delete(k); err != nil {
		return err
	}
	return t.local.SetKey(k, v)
}

// setLocal is SetKey of such a table. It has as much room as one in the kernel.
func (t *Table) setLocal(k, v starlark.Value) error {
	if err := errors.Join(t.checkWords("key", k), t.checkWords("value", v)); err != nil {
		return err
	}
	written := k
	k = indexKey(k)
	_, found, err := t.local.Get(k)
	if err == nil {
		err = t.wrote(written, k, found)
	}
	switch {
	case err != nil:
		return err
	case found && t.decl.LRU:
		return t.renew(k, v)
	case found || t.local.Len() < t.decl.Entries():
		return t.local.SetKey(k, v)
	case !t.decl.LRU:
		t.full.dropped(t.decl)
		return nil
	}
	if _, _, err := t.deleteLocal(t.oldest()); err != nil {
		return err
	}
	t.gone++
	return t.local.SetKey(k, v)
}

// oldest is the key of the first entry; there is one.
func (t *Table) oldest() (k starlark.Value) {
	it := t.local.Iterate()
	defer it.Done()
	it.Next(&k)
	return k
}

// Remove deletes an entry and says whether there was one.
func (t *Table) Remove(k starlark.Value) (bool, error) {
	k = t.foldKey(k)
	if t.be == nil {
		_, found, err := t.deleteLocal(indexKey(k))
		return found, err
	}
	key, err := t.findKey(k)
	if err != nil || key == nil {
		return false, err
	}
	return t.be.Delete(key)
}

// pop removes an entry and gives its value, nil where there was none: programs may
// have removed it first.
func (t *Table) pop(k starlark.Value) (starlark.Value, error) {
	k = t.foldKey(k)
	if t.be == nil {
		v, found, err := t.deleteLocal(indexKey(k))
		if !found || err != nil {
			return nil, err
		}
		return v, nil
	}
	key, err := t.findKey(k)
	if err != nil || key == nil {
		return nil, err
	}
	found, err := t.be.Pop(key, t.val)
	if !found || err != nil {
		return nil, err
	}
	return t.decodeValue(t.val), nil
}

// Add is t[k] += delta.
func (t *Table) Add(k starlark.Value, delta starlark.Int) error {
	return updateTable(t, k, syntax.PLUS, delta)
}

// Items gives all entries.
func (t *Table) Items() []starlark.Tuple {
	items, err := t.entries()
	if err != nil {
		return nil // Iterate and len have no way to fail; items() and clear() do
	}
	return items
}

func (t *Table) entries() ([]starlark.Tuple, error) {
	t.read = true
	if t.be == nil {
		items := t.local.Items()
		for _, kv := range items {
			kv[0] = t.shownKey(kv[0])
		}
		return items, nil
	}
	var out []starlark.Tuple
	err := t.be.Each(func(key, val []byte) bool {
		out = append(out, starlark.Tuple{t.decodeKey(key), t.decodeValue(val)})
		return true
	})
	return out, err
}

// Clear removes all entries.
func (t *Table) Clear() error {
	if t.be == nil {
		return errors.Join(t.unsigned.Clear(), t.local.Clear())
	}
	if t.onClear != nil {
		t.onClear()
	}
	var keys [][]byte
	err := t.be.Each(func(key, _ []byte) bool {
		keys = append(keys, append([]byte(nil), key...))
		return true
	})
	if err != nil {
		return err
	}
	for _, k := range keys {
		if _, err := t.be.Delete(k); err != nil {
			return err
		}
	}
	return nil
}

// Len is the number of entries now.
func (t *Table) Len() int {
	if t.be == nil {
		return t.local.Len()
	}
	return len(t.Items())
}

// Truth is that of a dict: whether there are entries.
func (t *Table) Truth() starlark.Bool { return t.Len() > 0 }

// Iterate goes over the keys that are there now.
func (t *Table) Iterate() starlark.Iterator {
	items := t.Items()
	keys := make([]starlark.Value, len(items))
	for i, kv := range items {
		keys[i] = kv[0]
	}
	return starlark.NewList(keys).Iterate()
}
