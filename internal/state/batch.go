package state

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/internal/bpf"
)

// A table read by system calls.

// batches reads a table by system calls (5.6), which programs on this CPU
// would suffer from: only for a settled table.
func batches(m *ebpf.Map, f func(key, val []byte) bool) error {
	// The kernel hands out whole buckets; ENOSPC says that one does not fit.
	keyLen, valueLen := int(m.KeySize()), int(m.ValueSize())
	n := min(1024, int(m.MaxEntries()))
	keys, values := make([]byte, n*keyLen), make([]byte, n*valueLen)
	var cursor []byte
	for {
		next := make([]byte, max(4, keyLen))
		got, err := bpf.LookupBatch(m, cursor, next, keys, values, n)
		if errors.Is(err, unix.ENOSPC) && n < int(m.MaxEntries()) {
			n = min(2*n, int(m.MaxEntries()))
			keys, values = make([]byte, n*keyLen), make([]byte, n*valueLen)
			continue
		}
		if err != nil && !errors.Is(err, unix.ENOENT) {
			return fmt.Errorf("read a table: %w", err)
		}
		for i := range min(got, n) {
			if !f(piece(keys, i, keyLen), piece(values, i, valueLen)) {
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
