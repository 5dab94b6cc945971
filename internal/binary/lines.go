package binary

import (
	"cmp"
	"debug/dwarf"
	"fmt"
	"path"
	"runtime"
	"slices"
	"strings"

	"github.com/startrace/startrace/internal/callframe"
	"github.com/startrace/startrace/internal/dwarfinfo"
	"github.com/startrace/startrace/internal/elffile"
	"github.com/startrace/startrace/internal/gofunc"
	"github.com/startrace/startrace/internal/locals"
	"github.com/startrace/startrace/internal/location"
	"github.com/startrace/startrace/internal/signature"
	"github.com/startrace/startrace/internal/sourceline"
)

// At which instructions of a line of the source probes stand, the variables there, and messages that a line has no code
// or a file no debug information.

// Lines gives the places of a line of a source file in a file: of code that is not optimized one for each block of the
// source that has it, since the others go on with the same statement; of optimized code all, since copies of the
// statement run in its place, as in a loop that was unrolled. A probe at the first line of a function stands behind the
// instructions that store its parameters.
func (f *Finder) Lines(file, source string, line int) ([]Function, *File, error) {
	e, out, err := f.file(file)
	if err != nil {
		return nil, nil, err
	}
	table := f.signatures(out.Path, e)
	if table == nil {
		return nil, out, f.withoutDebugInfo(out)
	}
	places, err := sourceline.Find(table.Data(), source, line)
	switch {
	case err != nil:
		return nil, out, fmt.Errorf("%s: %w", out.Name, err)
	case len(places.List) == 0 && places.After > 0:
		return nil, out, fmt.Errorf("line %d of %s has no code in %s; the next that has some is line %d", line,
			places.File, out.Name, places.After)
	case len(places.List) == 0:
		return nil, out, fmt.Errorf("line %d of %s has no code in %s, nor has one behind it", line, places.File,
			out.Name)
	}
	found, err := f.inBlocks(e, out, table, places, line)
	return found, out, err
}

func (f *Finder) withoutDebugInfo(at *File) error {
	if missing := f.missing[at.Path]; missing != nil {
		return fmt.Errorf("%s: %w", at.Name, missing)
	}
	if e := f.open[at.Path]; e != nil {
		if refused := elffile.Refused(e); refused != "" {
			return fmt.Errorf("%s has no debug information, and it is not in %s: install that of this build", at.Name,
				refused)
		}
	}
	return fmt.Errorf("%s has no debug information: build it with -g, or install the package that has it", at.Name)
}

// leave notes a place that cannot be probed.
func (f *File) leave(why string) {
	if f.Left++; f.Left == 1 {
		f.Why = why
	}
}

// inSourceLost is an error with the files of debug information that are not known, which can have what was not found.
func inSourceLost(d *dwarfinfo.Data, err error) error {
	lost := d.LostUnits()
	if len(lost) == 0 {
		return err
	}
	return fmt.Errorf("%w; some source files of the program have their debug information in files of their own, %s",
		err, dwarfinfo.Tell(lost))
}

// inBlocks keeps, of the places that lie in one block of a function that is not optimized, only the first.
func (f *Finder) inBlocks(e *elffile.File, at *File, table *signature.Functions, places *sourceline.Places, line int) (
	out []Function, err error) {
	finder := f.localsOf(at, e, table)
	source := locals.SourceLine{File: places.File, Number: line}
	seen := map[block]bool{}
	for _, p := range places.List {
		scope, err := finder.At(p.Addr, source)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", at.Name, err)
		}
		if lost, is := table.Data().Split(p.Addr); scope == nil && is {
			at.leave("the debug information of a function with this line is in a file of its own, " +
				dwarfinfo.Tell([]dwarfinfo.Lost{lost}))
		}
		if scope == nil || madeByGo(e, p.Addr, scope) {
			continue // of no function, as of one that the linker took away, or of none of the source
		}
		if b := blockOf(scope); !seen[b] || !scope.Plain && p.Begins && !ofGo(e, p.Addr) {
			seen[b] = true
			if scope.Plain || ofGo(e, p.Addr) {
				p = joined(e, places, p, optimizedByGo(table.Data(), p.Addr), func(addr uint64) bool {
					there, err := finder.At(addr, source)
					return err == nil && there != nil && blockOf(there) == b
				})
			}
			fn, err := linePlace(e, at, p, scope)
			if err != nil {
				at.leave(err.Error())
				continue
			}
			fn.Line = source
			fn.Source = fmt.Sprintf("%s:%d", path.Base(places.File), line)
			out = append(out, fn)
		}
	}
	slices.SortStableFunc(out, func(a, b Function) int { return cmp.Compare(a.Entry, b.Entry) })
	return slices.CompactFunc(out, samePlace), nil
}

// samePlace reports whether a probe stands at one instruction for both: behind the instructions that store parameters
// an inner block can begin.
func samePlace(a, b Function) bool { return a.Addr+a.Inside == b.Addr+b.Inside }

// A block is one of the source, in a function.
type block struct {
	function uint64
	offset   dwarf.Offset
}

func blockOf(scope *locals.Scope) block { return block{scope.Entry, scope.Block} }

// madeByGo reports whether an instruction is the code of a function that the compiler of Go has made, and of none that
// was inlined into it: one that does what a statement defers or starts, or a method as a value. Their code belongs to
// the line of the statement.
func madeByGo(e *elffile.File, addr uint64, scope *locals.Scope) bool {
	return scope.Trampoline && !scope.Inlined && ofGo(e, addr)
}

// joined is the place at which all ways to a line have come together, where its first instruction only jumps there. Of
// a loop in code that Go optimized it is where that is entered.
func joined(e *elffile.File, places *sourceline.Places, p sourceline.Place, byEntry bool,
	own func(uint64) bool) sourceline.Place {
	around, ok := e.At(p.Addr)
	if !ok {
		return p
	}
	code, err := e.Code(around.Addr, around.Size)
	if err != nil || p.Addr-around.Addr >= uint64(len(code)) {
		return p
	}
	flow, err := gofunc.NewFlow(runtime.GOARCH, code)
	if err != nil {
		return p
	}
	ownOffset := func(offset int) bool {
		addr := around.Addr + uint64(offset)
		_, of := places.End(addr)
		return of && own(addr)
	}
	offset := flow.Joined(int(p.Addr-around.Addr), ofGo(e, p.Addr), ownOffset)
	if byEntry {
		offset = flow.Entry(offset, ownOffset)
	}
	if there := around.Addr + uint64(offset); there != p.Addr {
		p.Addr = there
		p.Next, _ = places.End(there)
	}
	return p
}

// optimizedByGo reports whether the code at an address is of Go, and optimized.
func optimizedByGo(d *dwarfinfo.Data, addr uint64) bool {
	u, err := d.UnitOf(addr)
	if err != nil || u == nil {
		return false
	}
	root, err := u.Root()
	if err != nil || root == nil {
		return false
	}
	producer, _ := root.Val(dwarf.AttrProducer).(string)
	return strings.HasPrefix(producer, "Go ") && !slices.Contains(strings.Fields(producer), "-N")
}

// ofGo reports whether Go has compiled an instruction.
func ofGo(e *elffile.File, addr uint64) bool {
	around, ok := e.At(addr)
	return ok && e.Language(around) == elffile.LanguageGo
}

// linePlace is the place of a probe at an instruction.
func linePlace(e *elffile.File, at *File, p sourceline.Place, scope *locals.Scope) (Function, error) {
	addr := p.Addr
	around, ok := e.At(addr)
	ofGo := ok && e.Language(around) == elffile.LanguageGo
	if addr == scope.Entry && !scope.Inlined {
		switch {
		case ofGo:
			described, err := describe(e, at, around)
			if err != nil {
				return Function{}, err
			}
			addr += described.Entry - described.Start // behind the look at the stack, which may run twice
		case !scope.Settled && p.Next != 0 && !turns(e, around, p.Next):
			addr = p.Next
		}
	}
	moved := beside(e, around, addr, p.Next)
	fn, err := atAddress(e, at, fmt.Sprintf("%#x", moved))
	if err != nil {
		return Function{}, insteadOf(e, at, around, addr, err)
	}
	if moved != addr {
		fn.Moved = fmt.Sprintf("its first instruction is %v", steps(e, addr))
	}
	fn.Inlined, fn.Goroutine = scope.Inlined, ofGo
	if scope.Inlined || fn.Inside == 0 && fn.Name == "" {
		fn.Name = elffile.DemangleShort(scope.Function)
	}
	return fn, nil
}

// beside is where a probe stands for the instruction of a line at an address: there, or, where the kernel cannot probe
// that, at an instruction of the line behind it that runs whenever it does, and only then. end is where the next line
// begins.
func beside(e *elffile.File, around elffile.Function, addr, end uint64) uint64 {
	if steps(e, addr) == nil || around.Size == 0 || end <= addr || end > around.Addr+around.Size {
		return addr
	}
	code, err := e.Code(around.Addr, around.Size)
	if err != nil {
		return addr
	}
	flow, err := gofunc.NewFlow(runtime.GOARCH, code)
	if err != nil {
		return addr
	}
	for _, offset := range flow.Straight(int(addr-around.Addr), int(end-around.Addr)) {
		if steps(e, around.Addr+uint64(offset)) == nil {
			return around.Addr + uint64(offset)
		}
	}
	return addr
}

// insteadOf adds to an error, that an instruction cannot be probed, which one behind it can, and runs as often.
func insteadOf(e *elffile.File, at *File, around elffile.Function, addr uint64, err error) error {
	if next := beside(e, around, addr, around.Addr+around.Size); next != addr {
		return fmt.Errorf("%w; uprobe:%s:%#x is behind it, and runs as often", err, at.Name, next)
	}
	return err
}

// localsOf finds variables in a file.
func (f *Finder) localsOf(at *File, e *elffile.File, table *signature.Functions) *locals.Finder {
	if l := f.locals[at.Path]; l != nil {
		return l
	}
	var frames *callframe.Table
	l := &locals.Finder{Data: table.Data(), Arch: runtime.GOARCH}
	l.CFA = func(pc uint64) (*location.Expr, bool) {
		if frames == nil {
			frames = f.frames(at, e)
		}
		return frames.CFA(pc)
	}
	l.Statics = func(name string) ([]uint64, bool) {
		list, known := elffile.Statics(e, name)
		if debug := f.debugFile(at.Path, e); !known && debug != nil {
			return elffile.Statics(debug, name)
		}
		return list, known
	}
	l.Thread = func(offset uint64) (int64, bool) { return elffile.ThreadOffset(e, offset) }
	l.Slot = func(address uint64) (uint64, bool) { return elffile.SlotOf(e, address) }
	l.Import = func(name string) (uint64, bool, bool) { return elffile.ImportOf(e, name) }
	if f.locals == nil {
		f.locals = map[string]*locals.Finder{}
	}
	f.locals[at.Path] = l
	return l
}

// frames are the call frames of a file. Some of a table that is damaged are better than none.
func (f *Finder) frames(at *File, e *elffile.File) *callframe.Table {
	debug := f.debugFile(at.Path, e)
	if debug == nil {
		debug = e
	}
	eh, _, _ := e.Section(".eh_frame") // empty where it has none, or one that is damaged
	frames, _, _ := debug.Section(".debug_frame")
	t, _ := callframe.Read(runtime.GOARCH, eh.Data, eh.Addr, frames.Data)
	return t
}

// Locals gives the variables that are in sight at a place in a function, nil where nobody knows.
func (f *Finder) Locals(at *File, fn Function, inside uint64) ([]locals.Variable, error) {
	l := f.knownLocals(at)
	if l == nil {
		return nil, nil
	}
	scope, err := l.At(fn.Addr+inside, fn.Line)
	if err != nil || scope == nil {
		return nil, err
	}
	return scope.Variables, nil
}

// Length gives how many elements an array has at a place in a function, whose length the program computes, by where the
// debug information speaks of that dimension of it: a variable without a name, which is nowhere where nobody knows.
func (f *Finder) Length(at *File, fn Function, inside uint64, dimension dwarf.Offset) (locals.Variable, error) {
	l := f.knownLocals(at)
	if l == nil {
		return locals.Variable{}, nil
	}
	return l.Length(fn.Addr+inside, fn.Line, dimension)
}

// Global gives the variable of a name outside of functions, as the source of a function sees it; nil where there is
// none, or nobody knows.
func (f *Finder) Global(at *File, fn Function, name string) (*locals.Variable, error) {
	l := f.knownLocals(at)
	if l == nil && f.missing[at.Path] != nil {
		return nil, f.withoutDebugInfo(at)
	}
	if l == nil {
		return nil, nil
	}
	from := locals.Viewpoint{PC: fn.Addr, Line: fn.Line}
	if fn.Copy != nil {
		from.Copy = fn.Copy.Place
	}
	return l.Global(from, name)
}

// knownLocals finds variables in a file that is open; nil where it has no debug information.
func (f *Finder) knownLocals(at *File) *locals.Finder {
	table := f.described(at)
	if table == nil {
		return nil
	}
	return f.localsOf(at, f.open[at.Path], table)
}
