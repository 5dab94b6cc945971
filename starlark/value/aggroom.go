package value

import (
	"errors"

	"go.starlark.net/starlark"
)

// How many keys an aggregation has room for (size=) in user space.
//
// An aggregation has size= keys, those that kernel halves use and those of user
// code together. A key takes its place for good, also through take() and clear(),
// as in the kernel's map.

// roomFor reports whether an update of a key that user code has not added to since
// the last take() has room.
func (a *Agg) roomFor(key starlark.Value) (bool, error) {
	if key == nil {
		return true, nil
	}
	if raw, err := a.encodeIfShaped(key); err == nil && raw != nil {
		err := a.be.AddInt(raw, 0, 0) // makes the entry, with nothing in it
		return err == nil, a.roomy(err)
	}
	return a.keep(indexKey(key))
}

// keep takes a place for a key that cannot be written to the map: nothing in the
// kernel uses the aggregation, or its keys read as text.
func (a *Agg) keep(key starlark.Value) (bool, error) {
	if _, known, err := a.keys.Get(key); known || err != nil {
		return known, err
	}
	if a.be != nil && a.keys.Len() >= a.recount {
		if err := a.readKeys(); err != nil {
			return false, err
		}
	}
	if _, there, err := a.mapped.Get(key); there || err != nil {
		return there, err
	}
	if a.keys.Len()+a.mapped.Len() >= a.decl.Entries() {
		a.full.dropped(a.decl)
		return false, nil
	}
	return true, a.keys.SetKey(key, starlark.None)
}

// readKeys reads the keys of the map anew, those that have no place here yet. That is done again when half of what was
// free has been taken.
func (a *Agg) readKeys() error {
	if err := a.mapped.Clear(); err != nil {
		return err
	}
	var keyErr error
	err := a.be.Each(func(key, _ []byte) bool {
		if k := a.decodeKey(key); k != nil {
			k = indexKey(k)
			var kept bool
			if _, kept, keyErr = a.keys.Get(k); !kept && keyErr == nil {
				keyErr = a.mapped.SetKey(k, starlark.None)
			}
		}
		return keyErr == nil
	})
	free := a.decl.Entries() - a.keys.Len() - a.mapped.Len()
	a.recount = a.keys.Len() + max(1, free/2)
	return errors.Join(err, keyErr)
}
