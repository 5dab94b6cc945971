// Package value has the values that both halves of a script share, as the
// interpreter sees them: containers, records, events, stacks, FAULT.
//
// A container starts as a declaration. Until the plan is loaded what user code
// writes is kept in a Go map; at load it is bound to a Backend and what was
// written is handed over. A container that no kernel half uses stays a Go map.
package value

import "github.com/startrace/startrace/internal/wire"

// Backend, what a container asks of its kernel map.

// A Backend is where a loaded container keeps its entries: kernel maps.
// Keys and values are bytes in the layouts; an unkeyed container has one
// entry with a nil key. All calls come from the session's goroutine.
type Backend interface {
	// Layout gives how keys and values lie. Key is nil for an unkeyed one.
	Layout() (key, val *wire.Fixed)
	// Lookup copies the entry of key into val and says whether there is one.
	Lookup(key, val []byte) (bool, error)
	// Update sets the entry; without room for a new one it gives ErrFull, as AddInt.
	Update(key, val []byte) error
	// Delete removes the entry and says whether there was one.
	Delete(key []byte) (bool, error)
	// Pop is Lookup and Delete: of several that want an entry it is true for one.
	Pop(key, val []byte) (bool, error)
	// AddInt adds delta to the 64-bit int at off in the value, atomically with
	// respect to the kernel halves; an absent entry starts at zero.
	AddInt(key []byte, off int, delta int64) error
	// Swap sets the 64-bit int at off of an entry from old to next, atomically, and
	// says whether it was old. Where the kernel cannot (before 5.12) it adds the
	// difference.
	Swap(key []byte, off int, old, next uint64) (bool, error)
	// Each calls f with every entry until it returns false. The slices are
	// valid during the call only. It makes no program miss events.
	Each(f func(key, val []byte) bool) error
}

// A BankedBackend has values of two banks, of which kernel halves of the
// script fill one: see wire.Agg.
type BankedBackend interface {
	Backend
	// Switch makes kernel halves fill the other bank and waits until none is
	// left that fills the old one, whose number (0 or 1) it gives.
	Switch() (old int, err error)
	// ClearBank makes the bank of an entry zero that nobody fills.
	ClearBank(key []byte, bank int) error
}
