package state

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/internal/wire"
	"github.com/startrace/startrace/starlark/value"
)

// A keyed container in a hash map: look-up, update, delete, walks over all entries.

// A table is a keyed container: a preallocated hash map.
type table struct {
	// m is the map. The table does not close it.
	m        *ebpf.Map
	key, val *wire.Fixed // val is nil for an aggregation
	bank     int         // the size of a bank of a value, 0 where there are none
	// opts say what a walk by an iterator needs.
	opts   Options
	access *access // made at first use, like walk and swap
	swap   *swapper
	// operator is made at the first use of Operate.
	operator *operator
	noSwap   bool // the kernel has no compare-and-exchange
	walk     walker
	// settled: no program runs any more, so that plain system calls may read the map.
	settled bool
	// walking is set during Each, which cannot be called within itself.
	walking bool
	written uint64 // how often user space wrote to an entry, maybe a new one
}

// Written is how many entries user space can have put into the table.
func (t *table) Written() uint64 { return t.written }

// A walker is a way to read all entries without disturbing programs.
type walker interface {
	each(f func(key, val []byte) bool) error
	close() error
}

func (t *table) Layout() (key, val *wire.Fixed) { return t.key, t.val }

func (t *table) keyLen() int   { return int(t.m.KeySize()) }
func (t *table) valueLen() int { return int(t.m.ValueSize()) }

// run does one operation by the access program.
func (t *table) run(op uint64, key []byte, off int, delta int64) (bool, error) {
	if err := t.prepare(); err != nil {
		return false, err
	}
	if op == opAdd {
		t.written++
	}
	return t.access.run(op, key, off, delta)
}

func (t *table) prepare() error {
	if t.access != nil {
		return nil
	}
	a, err := newAccess(t.m, t.bank)
	if err == nil {
		t.access = a
	}
	return err
}

func (t *table) Lookup(key, val []byte) (bool, error) {
	if len(val) != t.valueLen() {
		return false, badSize("value", len(val), t.valueLen())
	}
	ok, err := t.run(opLookup, key, 0, 0)
	if ok {
		t.access.load(val, t.keyLen())
	}
	return ok, err
}

// Update replaces the entry as a whole. What a program adds to the old one at
// that moment goes with it, as in any assignment.
func (t *table) Update(key, val []byte) error {
	if len(val) != t.valueLen() {
		return badSize("value", len(val), t.valueLen())
	}
	if err := t.prepare(); err != nil {
		return err
	}
	t.access.store(t.keyLen(), val)
	t.written++
	_, err := t.access.run(opUpdate, key, 0, 0)
	return full(err)
}

// full says of an error that there was no room for a new entry.
func full(err error) error {
	if errors.Is(err, unix.E2BIG) {
		return fmt.Errorf("%w: %w", value.ErrFull, err)
	}
	return err
}

func (t *table) Delete(key []byte) (bool, error) { return t.run(opDelete, key, 0, 0) }

// Pop looks the entry up and removes it within one run of the program, so that as
// little as possible comes between. What a program adds there is lost.
func (t *table) Pop(key, val []byte) (bool, error) {
	if len(val) != t.valueLen() {
		return false, badSize("value", len(val), t.valueLen())
	}
	ok, err := t.run(opPop, key, 0, 0)
	if ok {
		t.access.load(val, t.keyLen())
	}
	return ok, err
}

// addTries bounds how often AddInt begins anew because a program has deleted the entry that it made, or (EEXIST) the
// one that another had made meanwhile.
const addTries = 1000

func (t *table) AddInt(key []byte, off int, delta int64) error {
	if err := checkOffset(off, t.valueLen()); err != nil {
		return err
	}
	var err error
	for range addTries {
		if _, err = t.run(opAdd, key, off, delta); !errors.Is(err, unix.EAGAIN) && !errors.Is(err, unix.EEXIST) {
			break
		}
	}
	return full(err)
}

// Swap is false also where there is no entry.
func (t *table) Swap(key []byte, off int, old, next uint64) (bool, error) {
	if err := checkOffset(off, t.valueLen()); err != nil {
		return false, err
	}
	if err := t.prepareSwap(); err != nil {
		return false, err
	}
	if t.noSwap {
		return true, t.AddInt(key, off, int64(next-old))
	}
	return t.swap.run(t.access, key, off, old, next)
}

func (t *table) prepareSwap() error {
	if err := t.prepare(); err != nil || t.swap != nil || t.noSwap {
		return err
	}
	var err error
	if t.swap, err = newSwapper(t.m, t.access.area); err != nil {
		t.noSwap = true // before 5.12 the verifier refuses the instruction
	}
	return nil
}

// Each gives the entries of one moment, more or less: those that programs
// insert or delete meanwhile can be there or not. f may change the table, but
// not walk over it again.
func (t *table) Each(f func(key, val []byte) bool) error {
	if t.walking {
		return errors.New("a walk over the table is already going on")
	}
	t.walking = true
	defer func() { t.walking = false }()
	if t.settled && t.walk == nil {
		return batches(t.m, f)
	}
	if t.walk == nil {
		w, err := t.newWalker()
		if errors.Is(err, unix.EPERM) { // some kernels let no program walk over a map: then by system calls
			t.settled = true
			return batches(t.m, f)
		}
		if err != nil {
			return fmt.Errorf("prepare reading a table: %w", err)
		}
		t.walk = w
	}
	return t.walk.each(f)
}

// newWalker chooses the way of reading: the fast one if the kernel has it and
// the copy is not too large.
func (t *table) newWalker() (walker, error) {
	if snapshotSize(t.m) > snapshotMax {
		return newIterator(t.m, t.opts)
	}
	s, err := newSnapshot(t.m)
	if err == nil {
		return s, nil
	}
	i, iterErr := newIterator(t.m, t.opts)
	if iterErr != nil {
		return nil, errors.Join(err, iterErr)
	}
	return i, nil
}

// Settle lets Each use system calls, if it has not yet loaded a program.
func (t *table) Settle() { t.settled = true }

func (t *table) Close() error {
	var errs []error
	if t.operator != nil {
		errs = append(errs, t.operator.close())
		t.operator = nil
	}
	if t.swap != nil {
		errs = append(errs, t.swap.close())
		t.swap = nil
	}
	if t.access != nil {
		errs = append(errs, t.access.close())
		t.access = nil
	}
	if t.walk != nil {
		errs = append(errs, t.walk.close())
		t.walk = nil
	}
	return errors.Join(errs...)
}

// Operate makes the word at off of an entry what op and v make of it, if it is from lo to hi, as no other program does
// between. Where the kernel cannot (before 5.12), or there is no such word, it has done nothing.
func (t *table) Operate(key []byte, off int, op value.WordOp, v uint64, lo, hi int64) (bool, error) {
	if err := checkOffset(off, t.valueLen()); err != nil {
		return false, err
	}
	if err := t.prepareSwap(); err != nil || t.noSwap {
		return false, err
	}
	if t.operator == nil {
		var err error
		if t.operator, err = newOperator(t.m, t.access.area); err != nil {
			return false, err
		}
	}
	if len(key) != t.access.keyLen {
		return false, badSize("key", len(key), t.access.keyLen)
	}
	t.access.store(0, key)
	for {
		r, err := runHelper(t.operator.prog, uint64(off), uint64(op), v, uint64(lo), uint64(hi))
		if err != nil || r != ranLate {
			return r == ranOK, err
		}
	}
}
