package binary

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/startrace/startrace/internal/elffile"
	"github.com/startrace/startrace/internal/mapping"
	"github.com/startrace/startrace/internal/signature"
	"github.com/startrace/startrace/internal/sourcefunc"
)

// Functions of a file for listings, with inlined copies.

// A Listed is a function of a file, for listings: what costs much to know,
// where it returns, is left out.
type Listed struct {
	Name string // as its author wrote it, without parameters
	Full string // with them, "" if they are not known
	// Alteration is that of a changed copy of a function, as its symbol says.
	Alteration signature.Alteration
	// Addr is the address in the file.
	Addr uint64
	// Size is in bytes, 0 where the file does not say it.
	Size     uint64
	Language string // how it is called: "C", "Go"
	Problem  string // why it cannot be probed, "" if it can
	NoReturn string // why its returns cannot be, "" if they can
	// Copies are those that were inlined. Without code of its own a function has no Addr.
	Copies []CopyPlace
	Inline bool // it has no code of its own
	// Turns: see Function. It is known where the query means mostTurns functions at most.
	Turns bool
	// File is the source file that defines it, by the shortest name that is not that of others, where the query asked
	// for one.
	File string
}

// A CopyPlace is where a copy is, for listings.
type CopyPlace struct {
	// Addr is the address, and In the function that has the code there, "" where that is not known.
	Addr uint64
	In   string
	// Source is where the call stands: "cart.c:120"; "" where that is not known.
	Source string
}

// Names gives the functions of a file that a query means, by name, and where they were inlined.
func (f *Finder) Names(q Query) ([]Listed, *File, error) {
	e, out, err := f.file(q.File)
	if err != nil {
		return nil, nil, err
	}
	list, inSource, err := f.matching(e, out, q)
	if err != nil {
		return nil, nil, err
	}
	found := make([]Listed, 0, len(list))
	for _, fn := range list {
		one := listed(e, fn)
		if len(list) <= mostTurns {
			described, err := outline(e, out, fn)
			one.Turns = err == nil && turns(e, fn, fn.Addr+described.Entry-described.Start)
		}
		found = append(found, one)
	}
	found = f.withCopies(e, out.Path, found, inSource)
	f.nameFiles(e, out, q, inSource, found)
	slices.SortStableFunc(found, func(a, b Listed) int { return strings.Compare(a.Name, b.Name) })
	return found, out, nil
}

func listed(e *elffile.File, fn elffile.Function) Listed {
	out := Listed{Name: fn.Name, Alteration: signature.AlterationOf(fn.Name), Addr: fn.Addr, Size: fn.Size,
		Language: e.Language(fn).String()}
	if elffile.Mangled(fn.Name) {
		out.Name, out.Full = elffile.DemangleShort(fn.Name), elffile.Demangle(fn.Name)
	}
	if fn.IFunc {
		out.Problem = "it is chosen among several when the program starts"
	}
	out.NoReturn = noReturnProbe(e, fn)
	return out
}

// Line gives the place in the source of an address of a file that was found, ""
// if that is not known. The first takes as long as reading the file's debug
// information.
func (f *Finder) Line(at *File, addr uint64) string {
	e := f.open[at.Path]
	if e == nil {
		return ""
	}
	l := f.lines[at.Path]
	if l == nil {
		l = e.Lines()
		if f.lines == nil {
			f.lines = map[string]*elffile.Lines{}
		}
		f.lines[at.Path] = l
	}
	return l.At(addr)
}

// Mapped gives the files that the traced process has mapped as code, its
// program first.
func (f *Finder) Mapped() (out []string, err error) {
	if f.Locate.PID == 0 {
		return nil, errors.New("a program is given by its path or its name; " +
			"of a process, given by -p, patterns list what it has mapped")
	}
	list, err := mapping.Read(fmt.Sprintf("/proc/%d", f.Locate.PID))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no process %d", f.Locate.PID)
	}
	if err != nil {
		return nil, fmt.Errorf("read what process %d has mapped: %w", f.Locate.PID, err)
	}
	for _, m := range list {
		if m.Code && m.File() && !m.Deleted && !slices.Contains(out, m.Path) {
			out = append(out, m.Path)
		}
	}
	return out, nil
}

// withCopies adds to functions that are listed the copies that were inlined, and functions of which there are only
// copies.
func (f *Finder) withCopies(e *elffile.File, program string, found []Listed, inSource []*sourcefunc.Function) []Listed {
	byName := map[string]int{}
	for i := range found {
		if _, known := byName[found[i].Name]; !known {
			byName[found[i].Name] = i
		}
	}
	for _, fn := range inSource {
		name := elffile.DemangleShort(fn.Name)
		places := f.copyPlaces(e, program, fn)
		if len(places) == 0 {
			continue
		}
		i, known := byName[name]
		if !known {
			i = len(found)
			byName[name] = i
			one := Listed{Name: name, Inline: true, Addr: places[0].Addr}
			one.NoReturn = "it was inlined wherever it is called"
			if around, ok := e.At(one.Addr); ok {
				one.Language = e.Language(around).String()
			}
			found = append(found, one)
		}
		found[i].Copies = append(found[i].Copies, places...)
	}
	return found
}

// copyPlaces are where the copies of a function are.
func (f *Finder) copyPlaces(e *elffile.File, program string, fn *sourcefunc.Function) (out []CopyPlace) {
	for i := range fn.Copies {
		c := &fn.Copies[i]
		if _, isCode := e.CodeOffset(c.Entry); !isCode {
			continue
		}
		one := CopyPlace{Addr: c.Entry, Source: f.names.of(program, f.tables[program]).line(c.File, c.Line)}
		if around, ok := e.At(c.Entry); ok {
			one.In = elffile.DemangleShort(around.Name)
		}
		out = append(out, one)
	}
	return out
}
