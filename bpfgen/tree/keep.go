package tree

import "github.com/startrace/startrace/internal/wire"

// The size of an entry of the events that keep= keeps.

// KeepSize is the size of an entry of a probe's KeepMap: the largest of its
// records, what a string that is cut writes behind it, and, at the end, u64
// size of the record that it holds.
func (u *Unit) KeepSize(probe int) int {
	n := wire.HeaderSize
	for _, r := range u.Records {
		if r.Probe == probe {
			n = max(n, r.MaxSize)
		}
	}
	return (n+7)&^7 + 16
}
