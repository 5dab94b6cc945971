package unwind

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"github.com/cilium/ebpf"

	"github.com/startrace/startrace/internal/wire"
)

// The kernel's maps of tables written.

// Maps are those that the programs of a run have for walks. They belong to whoever has loaded the programs.
type Maps struct {
	// Processes has the number of its table for each process.
	Processes *ebpf.Map
	// Tables are the tables of mappings.
	Tables *ebpf.Map
	// Rows has the maps of chunks, which are made as they are needed.
	Rows *ebpf.Map
	// Files are those that are found by what is mapped; nil where the programs do not look for any.
	Files *ebpf.Map
	// Number gives the number by which programs know a process; false where that cannot be known. nil: it is ours.
	Number func(pid int) (number uint32, known bool)
}

// A kernel is what is written to: maps, or a model of them.
type kernel interface {
	// segment makes the map of the chunks from n*wire.UnwindSegment on.
	segment(n int) error
	// chunks writes chunks one behind another, of which the first has a number.
	chunks(first int, b []byte) error
	// table writes one.
	table(slot int, b []byte) error
	// process lets walks of a process use a table while an image runs (wire.UnwindImage).
	process(pid, slot int, image uint64) error
	// forget lets walks of a process use none.
	forget(pid int) error
	// file lets walks find a file whose rows are there by its key, and forgetFile not any more.
	file(key fileKey, value []byte) error
	forgetFile(key fileKey) error
	// settle returns when all programs have ended that ran at the call. Segment 0 is there.
	settle() error
}

// kernelMaps are those of a running kernel.
type kernelMaps struct {
	Maps
	mu       sync.Mutex
	segments [wire.UnwindSegments]*ebpf.Map // by number, nil as long as it is not made
	// numbers are those by which programs know processes that have a table: when one has ended, nobody can tell.
	numbers map[int]uint32
}

var _ kernel = (*kernelMaps)(nil)

func (m *kernelMaps) segment(n int) error {
	made, err := ebpf.NewMap(&ebpf.MapSpec{Name: "unwind_chunks", Type: ebpf.Array, KeySize: 4,
		ValueSize: wire.UnwindChunk, MaxEntries: wire.UnwindSegment})
	if err != nil {
		return fmt.Errorf("make a map of %d kB: %w", wire.UnwindSegment*wire.UnwindChunk>>10, err)
	}
	if err := m.Rows.Put(uint32(n), made); err != nil {
		return errors.Join(err, made.Close())
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.segments[n] = made
	return nil
}

func (m *kernelMaps) chunks(first int, b []byte) error {
	for ; len(b) > 0; first++ {
		m.mu.Lock()
		segment := m.segments[first/wire.UnwindSegment]
		m.mu.Unlock()
		if err := segment.Put(uint32(first%wire.UnwindSegment), b[:wire.UnwindChunk]); err != nil {
			return err
		}
		b = b[wire.UnwindChunk:]
	}
	return nil
}

func (m *kernelMaps) table(slot int, b []byte) error { return m.Tables.Put(uint32(slot), b) }

func (m *kernelMaps) process(pid, slot int, image uint64) error {
	number, known := m.number(pid)
	if !known {
		return nil
	}
	m.mu.Lock()
	m.numbers[pid] = number
	m.mu.Unlock()
	value := make([]byte, wire.UnwindProcessSize)
	binary.NativeEndian.PutUint32(value[wire.UnwindProcessTable:], uint32(slot))
	binary.NativeEndian.PutUint64(value[wire.UnwindProcessImage:], image)
	return m.Processes.Put(number, value)
}

func (m *kernelMaps) forget(pid int) error {
	m.mu.Lock()
	number, known := m.numbers[pid]
	delete(m.numbers, pid)
	m.mu.Unlock()
	if !known {
		return nil
	}
	if err := m.Processes.Delete(number); err != nil && !errors.Is(err, ebpf.ErrKeyNotExist) {
		return err
	}
	return nil
}

func (m *kernelMaps) file(key fileKey, value []byte) error {
	if m.Files == nil {
		return nil
	}
	return m.Files.Put(key[:], value)
}

func (m *kernelMaps) forgetFile(key fileKey) error {
	if m.Files == nil {
		return nil
	}
	if err := m.Files.Delete(key[:]); err != nil && !errors.Is(err, ebpf.ErrKeyNotExist) {
		return err
	}
	return nil
}

func (m *kernelMaps) number(pid int) (number uint32, known bool) {
	if m.Number == nil {
		return uint32(pid), true
	}
	return m.Number(pid)
}

// settle replaces a map of chunks by itself: an update of a map of maps waits until all programs have ended that may
// still use what was there (maybe_wait_bpf_programs, kernel/bpf/syscall.c).
func (m *kernelMaps) settle() error {
	m.mu.Lock()
	first := m.segments[0]
	m.mu.Unlock()
	return m.Rows.Put(uint32(0), first)
}

// close closes what was made here.
func (m *kernelMaps) close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	var errs []error
	for i, s := range m.segments {
		if s != nil {
			errs = append(errs, s.Close())
		}
		m.segments[i] = nil
	}
	return errors.Join(errs...)
}
