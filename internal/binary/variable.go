package binary

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/startrace/startrace/internal/elffile"
	"github.com/startrace/startrace/internal/mapping"
)

// Where a variable or symbol is in the memory of a process.

// ErrNotLoaded says that a process has nothing of a file in its memory.
var ErrNotLoaded = errors.New("has not loaded")

// Memory is where a variable is in the memory of a process: at Addr, or, where there is a File, so far behind the
// address at which the process has that file (LoadedAt).
type Memory struct {
	Addr uint64
	File string
}

// Variable finds a variable in the memory of the traced process. A command has its memory only once it runs, and where
// its program is position-independent that is at another address each time.
func (f *Finder) Variable(file, name string) (Memory, error) {
	e, _, err := f.file(file)
	if err != nil {
		return Memory{}, err
	}
	v, err := e.Variable(name)
	switch {
	case err != nil:
		return Memory{}, err
	case !e.Moves():
		return Memory{Addr: v.Addr}, nil
	case f.Locate.PID == 0:
		return Memory{v.Addr, e.Path}, nil
	}
	moved, err := loadedAt(f.Locate.PID, e)
	if err != nil {
		return Memory{}, err
	}
	if slot, ok := elffile.SlotOf(e, v.Addr); ok {
		at, err := wordOf(f.Locate.PID, moved+slot)
		return Memory{Addr: at}, err
	}
	return Memory{Addr: moved + v.Addr}, nil
}

// A Symbol is something that has a name in the file Path. Addr is its address there.
type Symbol struct {
	Path string
	Addr uint64
	// Slot is the address of the word that has the address of a variable, which another file of the process may have
	// instead. HasSlot says that there is such a word.
	Slot    uint64
	HasSlot bool
}

// Symbol finds what has a name in a file, or in the file with its debug information.
func (f *Finder) Symbol(file, name string) (Symbol, error) {
	e, _, err := f.file(file)
	if err != nil {
		return Symbol{}, err
	}
	v, err := elffile.Symbol(e, name)
	if debug := f.debugFile(e.Path, e); err != nil && debug != nil {
		if there, none := elffile.Symbol(debug, name); none == nil {
			v, err = there, nil
		}
	}
	if err != nil {
		return Symbol{}, err
	}
	s := Symbol{Path: e.Path, Addr: v.Addr}
	s.Slot, s.HasSlot = elffile.SlotOf(e, v.Addr)
	return s, nil
}

// wordOf reads a word of a process, by its address.
func wordOf(pid int, address uint64) (uint64, error) {
	memory, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		return 0, err
	}
	defer memory.Close()
	word := make([]byte, 8)
	if _, err := memory.ReadAt(word, int64(address)); err != nil {
		return 0, fmt.Errorf("read memory of process %d at %#x: %w", pid, address, err)
	}
	return binary.NativeEndian.Uint64(word), nil
}

// LoadedAt is what a process adds to the addresses of a file.
func LoadedAt(pid int, file string) (uint64, error) {
	e, err := elffile.Open(file, elffile.Options{})
	if err != nil {
		return 0, err
	}
	defer e.Close()
	return loadedAt(pid, e)
}

// loadedAt is what the loader of a process added to the addresses of a file.
func loadedAt(pid int, e *elffile.File) (uint64, error) {
	list, err := mapping.Read(fmt.Sprintf("/proc/%d", pid))
	if err != nil {
		return 0, fmt.Errorf("find where process %d has %s: %w", pid, e.Path, err)
	}
	want, err := os.Stat(e.Path)
	if err != nil {
		return 0, fmt.Errorf("find where process %d has %s: %w", pid, e.Path, err)
	}
	for _, m := range list {
		if !m.File() {
			continue
		}
		have, err := os.Stat(filepath.Join(fmt.Sprintf("/proc/%d/root", pid), m.Path))
		if err != nil || !os.SameFile(have, want) {
			continue
		}
		if addr, ok := e.Addr(m.Offset); ok {
			return m.Start - addr, nil
		}
	}
	return 0, fmt.Errorf("process %d %w %s", pid, ErrNotLoaded, e.Path)
}
