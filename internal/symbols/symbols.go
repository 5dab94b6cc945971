// Package symbols names addresses of user programs: a process's address is
// found in the files that it has mapped, and in their symbol tables.
//
// A process may have ended when its addresses are asked for, and may run
// another program: so a Process stands for one program, and is found when it is
// first seen (SeeStack), where its mappings are known by the kernel's events
// (Tell) or, for what began before these came, read from /proc. Files are read
// through the root of the process (/proc/PID/root), so that those of a
// container are found; those that may not be found later (of a container,
// deleted) are read at once, others are held open.
// Tables are kept by file and by build id: all processes share one of a
// library, and all containers one of each build. What is kept is bounded; the
// least recently used goes.
//
// Files are foreign data; what is wrong with one leaves its addresses without
// names.
//
// A Namer belongs to one goroutine.
package symbols

import (
	"errors"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/startrace/startrace/internal/elffile"
	"github.com/startrace/startrace/internal/python"
	"github.com/startrace/startrace/internal/until"
)

// Namer: an address of a process gets its name; frames of Python (`script`).

// A Namer names addresses of processes. The zero value is ready.
type Namer struct {
	processes processes
	files     files
	jails     jails
	listening bool  // events come
	vdso      *file // that of this machine; nil until needed
	vdsoSize  uint64

	// FullNames gives names of C++ and Rust with their parameters and the arguments of templates.
	FullNames bool
	// Lines keeps what debug information says of files, so that the source of addresses is found. Expand makes
	// frames of functions that were inlined, too.
	Lines, Expand bool
	// Wait is how long an address waits for its name while symbols are read; nil: until they are read.
	Wait *until.Wait
	// Unopened are processes of which a file could not be opened: most had ended by then.
	Unopened map[int]bool
	// Lost says of which files parts of the debug information, or of the names of code that a program compiled itself,
	// were needed and are not known, a sentence each.
	Lost []string
	// Room lets in who reads the table of a file. Unread is called with what is wrong at the first that is not read for
	// lack of memory; it may be nil.
	Room   until.Room
	Unread func(why error)
	// TooLate is how many addresses did not get their names for that. Late is called at the first; it may be nil.
	TooLate uint64
	Late    func()
}

func (t *Namer) unopened(p *Process) {
	if t.Unopened == nil {
		t.Unopened = map[int]bool{}
	}
	t.Unopened[p.pid] = true
}

// late counts an address whose name was not read in time.
func (t *Namer) late() {
	if t.TooLate++; t.TooLate == 1 && t.Late != nil {
		t.Late()
	}
}

// A Frame is what is known of one address.
type Frame struct {
	// Addr is the address as the stack has it.
	Addr     uint64
	Function string // demangled, in short form unless FullNames is set; "" if no symbol has the address
	Offset   uint64 // in the function, else in the file
	Path     string // of the file in the process's mount namespace, [vdso], "" of memory without a file
	// File and Line are where it is in the source; "" where that is not known, or if Expand is not set.
	File string
	Line int
	// Inlined: the code of the function is in that of the next frame.
	Inlined bool
	// At is the address that was looked for: of a caller it is in its call, before Addr.
	At uint64
}

// Module is the file's name without its folder.
func (f Frame) Module() string {
	if f.Path == "" {
		return ""
	}
	return path.Base(f.Path)
}

// String gives `malloc+0x1b`, `libc.so.6+0x2000` where no symbol is, else the
// address.
func (f Frame) String() string {
	name := f.Name()
	switch {
	case f.Function == "" || f.Offset == 0:
		return name
	}
	return name + "+0x" + strconv.FormatUint(f.Offset, 16)
}

// Name gives the function; where there is no symbol the file and the offset
// in it, else the address.
func (f Frame) Name() string {
	switch {
	case f.Function != "":
		return f.Function
	case f.Path != "":
		return f.Module() + "+0x" + strconv.FormatUint(f.Offset, 16)
	}
	return "0x" + strconv.FormatUint(f.Addr, 16)
}

// Name gives the name of the function at an address of a process.
func (t *Namer) Name(pid int, addr uint64) string { return t.Frame(pid, addr).Name() }

// Frame finds an address of a process.
func (t *Namer) Frame(pid int, addr uint64) Frame { return t.frame(t.process(pid, addr), addr, addr) }

// Stack finds the addresses of a stack of a process, the innermost first. All but that are return addresses: they
// stand behind the call, which may be the last instruction of its function, so they are looked for one byte before.
// marked has the numbers of those that are not as others in their place: the first one if it stands behind a system
// call, and others that are where the program was interrupted by a signal, whose handler returns to the frame before.
func (t *Namer) Stack(p *Process, addrs []uint64, marked map[int]bool) []Frame {
	out := make([]Frame, 0, len(addrs))
	inject := false // the frame before is of a function that nobody has called
	for i, addr := range addrs {
		if python.IsFrame(addr) {
			out = append(out, t.script(p, python.Frame(addr)))
			continue
		}
		at, signal := addr, marked[i+1]
		if behind := (i > 0) != marked[i]; behind && at > 0 && (i == 0 || !signal) && !inject {
			at--
		}
		f := t.frame(p, addr, at)
		inject = injects(f.Function)
		if i > 0 && i == len(addrs)-1 && at < addr {
			if last := t.frame(p, addr, addr); last.Function == signalReturn && last.Offset == 0 {
				f, at = last, addr // the stack is cut there, where the mark of the next frame is not seen
			}
		}
		if f.At = at; signal && f.Function == "" {
			f.Function, f.Offset = signalReturn, 0
		}
		if t.Expand {
			out = append(out, t.expand(p, f, at)...)
		} else {
			out = append(out, f)
		}
	}
	return out
}

// injects says whether the runtime of Go lets goroutines call a function where they were interrupted, so that its
// return address does not stand behind a call.
func injects(function string) bool {
	return slices.Contains(elffile.GoInjected(), strings.TrimSuffix(function, ".abi0"))
}

// unknownPython is the function of a frame of Python that could not be read.
const unknownPython = "<unknown Python function>"

// script gives a frame of Python.
func (t *Namer) script(p *Process, at python.Frame) Frame {
	out := Frame{At: uint64(at), Function: unknownPython}
	body := t.bodyOf(p, at)
	if body == nil {
		return out
	}
	out.Addr, out.Function, out.Path = body.Addr, body.Name, body.File
	if place, known := at.Place(); known && place > 0 {
		out.Offset = 2 * uint64(place)
	}
	if t.Expand {
		out.File, out.Line = body.Place(at)
	}
	return out
}

// bodyOf is the function of a frame of Python; nil where it is not known. A copy of a process has what that had.
func (t *Namer) bodyOf(p *Process, at python.Frame) *python.Body {
	for range mostCopies {
		if body := p.scripts.At(at); body != nil || !p.copied {
			return body
		}
		p = t.processes.get(p.parent)
	}
	return nil
}

// mostCopies bounds how many parents of a process are asked.
const mostCopies = 8

// frame finds addr by what lies at the address at.
func (t *Namer) frame(p *Process, addr, at uint64) Frame {
	out := Frame{Addr: addr}
	m := p.mapping(at)
	if m == nil {
		return out
	}
	out.Path = m.Path
	if m.anonymous() {
		if fn, ok := t.compiled(p, at); ok {
			out.Function, out.Offset = fn.name, addr-fn.start
			return out
		}
		if m.Path == "" {
			return out
		}
	}
	offset := at - m.Start + m.Offset
	if f := t.mapped(p, m); f != nil {
		if name, start, ok := f.find(offset); ok {
			out.Function, out.Offset = t.shown(name), offset-start+(addr-at)
			return out
		}
	}
	out.Offset = offset + (addr - at)
	return out
}

// shown is a name of the linker as readers see it.
func (t *Namer) shown(name string) string {
	if t.FullNames {
		return elffile.Demangle(name)
	}
	return elffile.Bare(name)
}

// shownOfSource is a name that debug information gives, which need not be one of the linker.
func (t *Namer) shownOfSource(name string) string {
	if t.FullNames {
		return elffile.Demangle(name)
	}
	return elffile.BareOfSource(name)
}

// Close closes the files that are held.
func (t *Namer) Close() error {
	var errs []error
	for _, h := range t.files.held {
		errs = append(errs, h.Close())
	}
	t.files.held = nil
	for _, j := range t.jails {
		errs = append(errs, j.Close())
	}
	t.jails = nil
	for _, k := range t.files.byID {
		if k.file.sources != nil {
			errs = append(errs, k.file.sources.close())
		}
	}
	return errors.Join(errs...)
}
