package value

import (
	"errors"
)

// Updates that a full container did not take in user space are counted.

// ErrFull is what a Backend gives that has no room for a new entry.
var ErrFull = errors.New("all entries are in use")

// CountDrops says where the container counts what it has no room for.
func (b *base) CountDrops(f *Full) { b.full = f }

// roomy turns the error of a backend that has no room into a dropped update.
func (b *base) roomy(err error) error {
	if !errors.Is(err, ErrFull) {
		return err
	}
	b.full.dropped(b.decl)
	return nil
}
