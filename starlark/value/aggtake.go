package value

import (
	"errors"
	"fmt"
)

// take() and clear(): the two banks.

// Take reads everything since the last take and begins anew.
func (a *Agg) Take() (*Snapshot, error) {
	a.read = true
	if a.be != nil && a.shape.Banks > 1 {
		return a.takeBank()
	}
	if a.be != nil && a.shape.HasExtremes() {
		return nil, fmt.Errorf("take from %s: extremes have no difference, and its map has no banks", a)
	}
	out, raw, err := a.collect()
	if err != nil {
		return nil, err
	}
	a.local = a.newSnapshot()
	a.taken = raw
	return out, nil
}

// Clear drops everything up to now.
func (a *Agg) Clear() error {
	_, err := a.Take()
	return err
}

// takeBank lets kernel halves go on in the other bank, which is empty, takes
// what is in the old one and empties it for the next time. What was added to
// an entry that the walk missed stays there, and comes with a later take.
func (a *Agg) takeBank() (*Snapshot, error) {
	be, ok := a.be.(BankedBackend)
	if !ok {
		return nil, fmt.Errorf("take from %s: its map has no banks", a)
	}
	bank, err := be.Switch()
	if err != nil {
		return nil, fmt.Errorf("take from %s: %w", a, err)
	}
	a.switched = true
	out := a.newSnapshot()
	var filled [][]byte
	eachErr := be.Each(func(key, val []byte) bool {
		states := a.readStates(val[bank*a.shape.Size:])
		if !a.anyIn(states) {
			return true
		}
		filled = append(filled, append([]byte(nil), key...))
		err = out.merge(a.decodeKey(key), states)
		return err == nil
	})
	err = errors.Join(err, eachErr)
	for _, key := range filled {
		err = errors.Join(err, be.ClearBank(key, bank))
	}
	if err != nil {
		return nil, fmt.Errorf("take from %s: %w", a, err)
	}
	for _, e := range a.local.entries {
		if err := out.merge(e.Key, e.States); err != nil {
			return nil, err
		}
	}
	a.local = a.newSnapshot()
	return out, nil
}

// anyIn reports whether something was added to an entry.
func (a *Agg) anyIn(states []State) bool {
	for i, c := range columnsOf(a.decl) {
		if !states[i].empty(c.Kind) {
			return true
		}
	}
	return false
}
