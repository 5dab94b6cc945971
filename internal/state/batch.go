package state

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/internal/bpf"
)

// batches reads the table by system calls (5.6), which programs on this CPU
// would suffer from: only for a settled table.
func (t *table) batches(f func(key, val []byte) bool) error {
	// The kernel hands out whole buckets; ENOSPC says that one does not fit.
	n := min(1024, int(t.m.MaxEntries()))
	keys, values := make([]byte, n*t.keyLen()), make([]byte, n*t.valueLen())
	var cursor []byte
	for {
		next := make([]byte, max(4, t.keyLen()))
		got, err := bpf.LookupBatch(t.m, cursor, next, keys, values, n)
		if errors.Is(err, unix.ENOSPC) && n < int(t.m.MaxEntries()) {
			n = min(2*n, int(t.m.MaxEntries()))
			keys, values = make([]byte, n*t.keyLen()), make([]byte, n*t.valueLen())
			continue
		}
		if err != nil && !errors.Is(err, unix.ENOENT) {
			return fmt.Errorf("read a table: %w", err)
		}
		for i := range min(got, n) {
			if !f(piece(keys, i, t.keyLen()), piece(values, i, t.valueLen())) {
				return nil
			}
		}
		if err != nil {
			return nil
		}
		cursor = next
	}
}

func piece(b []byte, i, size int) []byte { return b[i*size : (i+1)*size : (i+1)*size] }
