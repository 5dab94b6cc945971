package unwind

import (
	"encoding/binary"
	"errors"
	"os"
	"testing"

	"github.com/cilium/ebpf"

	"github.com/startrace/startrace/internal/mapping"
	"github.com/startrace/startrace/internal/wire"
	"github.com/startrace/startrace/test/need"
)

// newMaps are maps as programs have them.
func newMaps(tb testing.TB) Maps {
	tb.Helper()
	need.Loading(tb)
	newMap := func(spec *ebpf.MapSpec) *ebpf.Map {
		m, err := ebpf.NewMap(spec)
		if err != nil {
			tb.Fatal(err)
		}
		tb.Cleanup(func() { m.Close() })
		return m
	}
	return Maps{
		Processes: newMap(&ebpf.MapSpec{Type: ebpf.Hash, KeySize: 4, ValueSize: wire.UnwindProcessSize,
			MaxEntries: wire.UnwindProcesses}),
		Tables: newMap(&ebpf.MapSpec{Type: ebpf.Array, KeySize: 4, ValueSize: wire.UnwindTable, MaxEntries: 64}),
		Rows: newMap(&ebpf.MapSpec{Type: ebpf.ArrayOfMaps, KeySize: 4, ValueSize: 4, MaxEntries: wire.UnwindSegments,
			InnerMap: &ebpf.MapSpec{Type: ebpf.Array, KeySize: 4, ValueSize: wire.UnwindChunk,
				MaxEntries: wire.UnwindSegment}}),
	}
}

// open are tables in maps.
func open(tb testing.TB, m Maps) *Keeper {
	tb.Helper()
	t := New(m, Options{})
	tb.Cleanup(func() {
		for _, trouble := range t.Trouble() {
			tb.Error(trouble)
		}
		if err := t.Close(); err != nil {
			tb.Error(err)
		}
	})
	return t
}

// mapped gives the code of a process of this machine, with its files.
func mapped(tb testing.TB, dir string) (list []Mapped) {
	tb.Helper()
	all, err := mapping.Read(dir)
	if err != nil {
		tb.Fatal(err)
	}
	for _, m := range all {
		if !m.Code {
			continue
		}
		c := Mapped{Mapping: m}
		if m.File() {
			c.File, c.Open = m.Path, func() (*os.File, error) { return os.Open(m.Path) }
		}
		list = append(list, c)
	}
	return list
}

// tableOf reads the table of a process out of the maps; nil where it has none.
func tableOf(tb testing.TB, m Maps, pid int) []byte {
	tb.Helper()
	value := make([]byte, wire.UnwindProcessSize)
	if err := m.Processes.Lookup(uint32(pid), value); errors.Is(err, ebpf.ErrKeyNotExist) {
		return nil
	} else if err != nil {
		tb.Fatal(err)
	}
	table := make([]byte, wire.UnwindTable)
	if err := m.Tables.Lookup(binary.NativeEndian.Uint32(value), table); err != nil {
		tb.Fatal(err)
	}
	return table
}

// allChunks reads all segments out of the maps.
func allChunks(tb testing.TB, m Maps) (b []byte) {
	tb.Helper()
	for i := range uint32(wire.UnwindSegments) {
		var segment *ebpf.Map
		if err := m.Rows.Lookup(i, &segment); errors.Is(err, ebpf.ErrKeyNotExist) {
			break
		} else if err != nil {
			tb.Fatal(err)
		}
		chunk := make([]byte, wire.UnwindChunk)
		for k := range uint32(wire.UnwindSegment) {
			if err := segment.Lookup(k, chunk); err != nil {
				tb.Fatal(err)
			}
			b = append(b, chunk...)
		}
		segment.Close()
	}
	return b
}

// What is mapped here comes into the maps: the vdso has rules, and the code of the test itself is Go's, with a table or
// without, but in the table.
func TestKernelMaps(t *testing.T) {
	m := newMaps(t)
	tables := open(t, m)
	pid := os.Getpid()
	if tables.Knows(pid) || tableOf(t, m, pid) != nil {
		t.Error("known before")
	}
	page := mapping.Mapping{Start: 1 << 40, End: 1<<40 + 4096, Code: true, Path: uprobesName, Offset: 1 << 40}
	code := append(mapped(t, "/proc/self"), Mapped{Mapping: page})
	tables.Set(pid, 0, code)
	tables.Await(1 << 40)
	table := tableOf(t, m, pid)
	if table == nil {
		t.Fatal("no table")
	}
	chunks := allChunks(t, m)
	for _, c := range code {
		e, ok := entryIn(table, c.Start)
		switch {
		case int64(c.Start) < 0:
		case !ok:
			t.Errorf("%s is not in the table", c.Path)
		case c.Path == vdsoName && e.chunk == 0:
			t.Error("the vdso has no rules")
		case c.Path == uprobesName:
			rule := ruleIn(chunks[e.chunk*wire.UnwindChunk:], uint32(c.Start+100-e.base))
			if known(rule) != wire.UnwindSP {
				t.Errorf("rule %#x in %s", rule, uprobesName)
			}
		}
	}
	tables.Copy(pid+1, pid)
	if child := tableOf(t, m, pid+1); string(child) != string(table) {
		t.Error("a copy has another table")
	}
	tables.Drop(pid)
	if tableOf(t, m, pid) != nil || tableOf(t, m, pid+1) == nil {
		t.Error("the process that ended has a table, or its copy has none")
	}
}

// The map of chunks cannot be written when it is closed, and nothing goes on.
func TestKernelClosed(t *testing.T) {
	m := newMaps(t)
	tables := New(m, Options{})
	tables.Set(1, 0, mapped(t, "/proc/self"))
	if err := tables.Close(); err != nil {
		t.Fatal(err)
	}
	tables.Set(2, 0, nil)
	tables.Copy(3, 1)
	if tableOf(t, m, 2) != nil || len(tables.Trouble()) > 0 {
		t.Errorf("after the end: %v", tables.Trouble())
	}
}

// What it costs: a file that is new, a process whose files are known, a copy.
func BenchmarkKernelTables(b *testing.B) {
	code := mapped(b, "/proc/self")
	b.Run("process", func(b *testing.B) {
		tables := open(b, newMaps(b))
		tables.Set(1, 0, code)
		tables.Await(1 << 40)
		for i := range b.N {
			tables.Set(2, 0, code[:len(code)-i%2])
		}
	})
	b.Run("copy", func(b *testing.B) {
		tables := open(b, newMaps(b))
		tables.Set(1, 0, code)
		tables.Await(1 << 40)
		for b.Loop() {
			tables.Copy(2, 1)
			tables.Drop(2)
		}
	})
}
