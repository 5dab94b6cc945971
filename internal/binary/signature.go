package binary

import (
	"runtime"

	"github.com/startrace/startrace/internal/elffile"
	"github.com/startrace/startrace/internal/signature"
)

// Signature gives what debug information says of a function's arguments and result; nil
// where there is none, or where it does not tell. What is damaged tells nothing: a probe
// without types is as good as one of a program without them.
func (f *Finder) Signature(at *File, fn Function) *signature.Signature {
	e := f.open[at.Path]
	if e == nil || fn.Inside != 0 {
		return nil
	}
	addr, ok := e.Addr(fn.Start)
	if !ok {
		return nil
	}
	s := f.Types(at, addr)
	if signature.IsClone(fn.Name) {
		return s.Changed()
	}
	return s
}

// Types is Signature by the address of a function that is no clone.
func (f *Finder) Types(at *File, addr uint64) *signature.Signature {
	e := f.open[at.Path]
	if e == nil {
		return nil
	}
	table := f.signatures(at.Path, e)
	if table == nil {
		return nil
	}
	s, err := table.Of(addr)
	if err != nil {
		return nil
	}
	return s
}

// signatures opens the debug information of a file, of its own or in its debug file.
func (f *Finder) signatures(path string, e *elffile.File) *signature.Functions {
	t, known := f.tables[path]
	if known {
		return t
	}
	if _, there, _ := e.Section(".debug_info"); !there {
		if other := e.DebugFile(); other != "" {
			if debug, err := elffile.Open(other, elffile.Options{}); err == nil {
				defer debug.Close()
				e = debug
			}
		}
	}
	t, err := signature.Open(runtime.GOARCH, func(name string) ([]byte, error) {
		s, there, err := e.Section(name)
		if !there || err != nil {
			return nil, err
		}
		return s.Data, nil
	})
	if err != nil {
		t = nil // damaged
	}
	if f.tables == nil {
		f.tables = map[string]*signature.Functions{}
	}
	f.tables[path] = t
	return t
}
