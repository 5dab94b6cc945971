// Package binary finds what points in user programs mean: which file, which
// functions and static probes of it, and at which offsets of the file their
// probes stand.
//
// It reads files. What it gives is plain data, for the compiler.
package binary

import (
	"debug/dwarf"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"

	"github.com/startrace/startrace/internal/dwarffile"
	"github.com/startrace/startrace/internal/elffile"
	"github.com/startrace/startrace/internal/gofunc"
	"github.com/startrace/startrace/internal/locals"
	"github.com/startrace/startrace/internal/locate"
	"github.com/startrace/startrace/internal/naming"
	"github.com/startrace/startrace/internal/signature"
	"github.com/startrace/startrace/internal/sourcefunc"
	"github.com/startrace/startrace/internal/usertypes"
)

// Finder, Query, File and Function: which functions of a file a pattern means, where a probe stands, and the message
// that a function cannot be probed.

// ErrNotFound says that there is no file of the name of a program or library.
var ErrNotFound = locate.ErrNotFound

// ErrNotCode says that a file has no code at an address.
var ErrNotCode = elffile.ErrNotCode

// NoProgram is what is said of a point that means the program of the process
// which is traced, where none is.
const NoProgram = "which program? give its path, or trace one process with -p or -c"

// A Function is a function of a file, or a place in one.
type Function struct {
	Name string // as its author wrote it, without parameters
	// Others are more names of it that the pattern matches.
	Others []string
	// Alteration is that of a changed copy of a function, as its symbol says; Name does not say it of C++ and Rust.
	Alteration signature.Alteration
	// Local: its symbol is local to the file.
	Local bool
	// Start is the first byte of the function, in bytes of the file, and Inside how
	// far behind it an address lies that was asked for.
	Start, Inside uint64
	// Addr is the address of Start in the file.
	Addr uint64
	// Source is the line of the source that a place was asked for by, "cart.c:120", and Line is it by the whole name
	// of the file; "" and nothing of others. Inlined: there Name is a part of another function.
	Source  string
	Line    locals.SourceLine
	Inlined bool
	// Copy is set of a copy of the function that was inlined: the place is where that begins. Source is then where the
	// call stands.
	Copy *Copy
	// File is the source file that defines it, by the shortest name that is not that of others, where the query asked
	// for one.
	File string
	// Entry is where a probe at the entry stands, in bytes of the file.
	Entry uint64
	// Returns are the places at which it is left, where no probe may be placed on
	// the return address (see File.NoReturnProbes); Tails of these jump to
	// another function, whose result is not known yet.
	Returns []uint64
	Tails   int
	// Ends are where a call ends whose start is known: as Returns, but those of
	// the functions to which it jumps for the jumps.
	Ends Leaves
	// MakesFrame: at Entry stands an instruction of amd64 by which functions begin that make a frame.
	MakesFrame bool
	// Protected: it is endbr64, which kernels that are not protected so themselves take for no beginning.
	Protected bool
	// Turns: its first instruction is the head of a loop, each turn of which hits a probe there.
	Turns bool
	// Moved says of a place at a line why it stands behind the line's first instruction, "": it does not.
	Moved string
	// NoReturn says why the returns cannot be probed, "" if they can.
	NoReturn string
	// ABI says where Go passes arguments; nil: as C does. Goroutine: its
	// calls belong to a goroutine, which a register names.
	ABI       *gofunc.ABI
	Goroutine bool
}

// A Copy is what debug information says of a copy that was inlined.
type Copy struct {
	// Place is where it speaks of the copy, Around where of the function that has its code. Begin is the address at
	// which it says that the copy begins, and View which of the moments at that (dwarfinfo.EntryView).
	Place, Around dwarf.Offset
	Begin, View   uint64
}

// A File is where functions were found.
type File struct {
	Path string // as we open it
	Name string // as scripts and readers know it
	// Same is the path by which this file was opened first: it can have several.
	Same string
	How  string // how it was found, for -v
	// Replaced: this is the file that the traced process runs, and another one has its name now.
	Replaced bool
	Go       string // the version of the Go that built it, "" if it was not Go
	// NoReturnProbes says why no return address may be replaced, "" if they may.
	NoReturnProbes string
	// Left is how many functions a pattern matched that cannot be probed, and
	// Why the reason of the first.
	Left int
	Why  string
	// Copies is how many copies of functions that matched were inlined and are not among those that were given, and
	// Inlined the names of these functions.
	Copies  int
	Inlined []string
	// Lost says which parts of the debug information are not known and what to do, where copies that were inlined, or
	// functions by their source file, could be in them: "the debug information is in …"; "": all are known.
	Lost string
}

// A Query says which functions of a file are wanted.
type Query struct {
	// File is the program or library; "" is the traced program.
	File string
	// Source is the source file that defines them, or a pattern of it; "" is any.
	Source string
	// Pattern is a name, a pattern of names, or an address, as 0x1234.
	Pattern string
	// Behind: a place behind the beginning of each is wanted.
	Behind bool
	// Copies: copies that were inlined are wanted, too, unless there are more than Most.
	Copies bool
	Most   int
}

// A Finder finds for one run.
type Finder struct {
	// Locate finds the file that a name means.
	Locate locate.Finder
	// Program is the file that a point without one means: that of -p or -c.
	Program string

	// open are the files that were opened in this run, by path. Close closes them.
	open map[string]*elffile.File
	// firsts are all files so far, each with its first path.
	firsts []firstPath
	// debug are the files that have the debug information of these; nil: there is none. tables, types, lines and locals
	// are what was read of it.
	debug map[string]*elffile.File
	// tabled are the functions of C libraries as the headers have them, and headers their types beside those of the
	// debug information.
	tabled  map[string]*signature.Functions
	headers map[string]*usertypes.Types
	// missing are files that programs share, that have parts of the debug information and are not known. others are
	// those that are known.
	missing map[string]*dwarffile.MissingError
	others  []*elffile.File
	tables  map[string]*signature.Functions
	types   map[string]*usertypes.Types
	lines   map[string]*elffile.Lines
	locals  map[string]*locals.Finder
	// names are those of the source files of these.
	names sourceNames
	// asked are functions of the debug information of these that were asked for, by their names.
	asked map[string]map[string][]*sourcefunc.Function
}

// Close closes the files.
func (f *Finder) Close() error {
	var errs []error
	for _, e := range f.open {
		errs = append(errs, e.Close())
	}
	for _, e := range f.others {
		errs = append(errs, e.Close())
	}
	f.open, f.others = nil, nil
	return errors.Join(errs...)
}

// Forget lets a file be opened anew: its name means another one now, or it was written.
func (f *Finder) Forget(path string) error {
	e := f.open[path]
	if e == nil {
		return nil
	}
	var errs []error
	if d := f.debug[path]; d != nil && d != e {
		delete(f.open, d.Path)
		errs = append(errs, d.Close())
	}
	delete(f.open, path)
	delete(f.debug, path)
	delete(f.tables, path)
	delete(f.missing, path)
	delete(f.tabled, path)
	delete(f.headers, path)
	delete(f.types, path)
	delete(f.lines, path)
	delete(f.locals, path)
	delete(f.names, path)
	delete(f.asked, path)
	return errors.Join(append(errs, e.Close())...)
}

// file opens the file of a name; "" is that of the traced program.
func (f *Finder) file(name string) (*elffile.File, *File, error) {
	if name == "" {
		if name = f.Program; name == "" {
			return nil, nil, errors.New(NoProgram)
		}
	}
	at, err := f.Locate.Find(name)
	if err != nil {
		return nil, nil, err
	}
	e := f.open[at.Path]
	if e == nil {
		if e, err = elffile.Open(at.Path, elffile.Options{Root: at.Root}); err != nil {
			return nil, nil, err
		}
		if want := elffile.Machine(runtime.GOARCH); e.Machine != want {
			return nil, nil, errors.Join(&elffile.ArchError{Path: at.Name, Have: e.Machine, Want: want}, e.Close())
		}
		if f.open == nil {
			f.open = map[string]*elffile.File{}
		}
		f.open[at.Path] = e
	}
	out := &File{Path: at.Path, Name: at.Name, Same: f.first(at.Path), How: at.How, Replaced: at.Replaced}
	if g, ok := e.Golang(); ok {
		if out.Go = g.Version; out.Go == "" {
			out.Go = "go"
		}
		out.NoReturnProbes = "Go moves stacks"
	} else if e.Unwinds() {
		out.NoReturnProbes = "exceptions go by return addresses"
	} else if e.SwitchesStacks() {
		out.NoReturnProbes = "the program switches stacks"
	}
	return e, out, nil
}

// first is the path by which a file that is open was opened first.
func (f *Finder) first(path string) string {
	this, err := os.Stat(path)
	if err != nil {
		return path
	}
	for _, one := range f.firsts {
		if os.SameFile(one.info, this) {
			return one.path
		}
	}
	f.firsts = append(f.firsts, firstPath{path, this})
	return path
}

// A firstPath is the path by which a file was opened first.
type firstPath struct {
	path string
	info os.FileInfo
}

// others are the names of a function besides its own that a pattern matches.
func others(e *elffile.File, fn elffile.Function, pattern string) (out []string) {
	g, err := naming.Compile(pattern)
	if err != nil {
		return nil
	}
	for _, name := range e.Aliases(fn.Addr) {
		if name != fn.Name && g.Match(name) {
			out = append(out, name)
		}
	}
	return out
}

func match(e *elffile.File, pattern string) (list []elffile.Function, exact bool, err error) {
	if !naming.IsPattern(pattern) {
		list, err = e.Lookup(pattern)
		return list, true, err
	}
	g, err := naming.Compile(pattern)
	if err != nil {
		return nil, false, err
	}
	list, err = e.Find(g)
	return list, false, err
}

// atAddress is a function, or a place in one, by its address in the file. Where
// the file has no function for it, it is the user's word that one begins there.
func atAddress(e *elffile.File, f *File, text string) (Function, error) {
	addr, err := strconv.ParseUint(text, 0, 64)
	if err != nil {
		return Function{}, fmt.Errorf("%s is no address", text)
	}
	offset, ok := e.CodeOffset(addr)
	if !ok {
		return Function{}, fmt.Errorf("%s: %s is %w, which lies %s", e.Path, text, elffile.ErrNotCode, codeRanges(e))
	}
	fn, ok := e.At(addr)
	if ok && fn.Addr == addr {
		return describe(e, f, fn)
	}
	if err := steps(e, addr); err != nil {
		return Function{}, fmt.Errorf("%s of %s cannot be probed: it is %w", text, e.Path, err)
	}
	switch {
	case ok:
		out := Function{Name: elffile.DemangleShort(fn.Name), Start: fn.Offset, Addr: fn.Addr,
			Inside: addr - fn.Addr, Entry: offset}
		out.NoReturn = text + " is not where it begins"
		return out, nil
	}
	out := Function{Name: text, Start: offset, Addr: addr, Entry: offset}
	if f.NoReturnProbes != "" {
		out.NoReturn = f.NoReturnProbes + ", and where it ends is not known"
	}
	return out, nil
}

// codeRanges says where a file's code lies.
func codeRanges(e *elffile.File) string {
	var parts []string
	for _, r := range e.CodeRanges() {
		parts = append(parts, fmt.Sprintf("from %#x to %#x", r[0], r[1]))
	}
	if len(parts) == 0 {
		return "nowhere"
	}
	return strings.Join(parts, " and ")
}

// describe is a function as it is probed where it begins.
func describe(e *elffile.File, f *File, fn elffile.Function) (Function, error) {
	out, err := outline(e, f, fn)
	if err != nil {
		return out, err
	}
	if err := steps(e, fn.Addr+out.Entry-out.Start); err != nil {
		return out, fmt.Errorf("%s of %s cannot be probed: it begins with %w", fn.Name, e.Path, err)
	}
	return out, nil
}

// outline is a function, whose first instruction is perhaps none that can be probed.
func outline(e *elffile.File, f *File, fn elffile.Function) (Function, error) {
	out := Function{Name: fn.Name, Start: fn.Offset, Addr: fn.Addr, Entry: fn.Offset,
		Local: fn.Local, Alteration: signature.AlterationOf(fn.Name)}
	if elffile.Mangled(fn.Name) {
		out.Name = elffile.DemangleShort(fn.Name)
	}
	if fn.IFunc {
		return out, fmt.Errorf("%s of %s is chosen among several when the program starts, so its calls cannot be "+
			"probed by that name: probe the one that is used (startrace list 'uprobe:%s:*%s*' shows them)",
			fn.Name, e.Path, e.Path, fn.Name)
	}
	out.NoReturn = noReturnProbe(e, fn)
	if out.NoReturn == "" && f.NoReturnProbes == "" && callsBack(e, fn) {
		out.NoReturn = "it calls a function of the program, whose exceptions may pass it; by its name alone it is " +
			"probed at the instructions that return"
	}
	out.MakesFrame, out.Protected = makesFrame(e, fn.Addr)
	switch {
	case f.Go != "":
		return goFunction(e, fn, out)
	case f.NoReturnProbes != "":
		return leave(e, fn, out), nil
	}
	return out, nil
}

// makesFrame reports whether an instruction at an address is push %rbp or endbr64 (is_uprobe_at_func_entry,
// arch/x86/events/core.c), and whether it is the latter: is_endbr is false without CONFIG_X86_KERNEL_IBT
// (arch/x86/include/asm/ibt.h).
func makesFrame(e *elffile.File, addr uint64) (makes, protected bool) {
	if runtime.GOARCH != "amd64" {
		return false, false
	}
	code, err := e.Code(addr, 4)
	if err != nil {
		return false, false
	}
	protected = len(code) >= 4 && [4]byte(code) == [4]byte{0xf3, 0x0f, 0x1e, 0xfa}
	return code[0] == 0x55 || protected, protected
}

// goFunction adds what is different in a Go program. Its C code is left by RET
// instructions, too: no return address in it may be changed.
func goFunction(e *elffile.File, fn elffile.Function, out Function) (Function, error) {
	code, err := e.Code(fn.Addr, fn.Size)
	if err != nil {
		return out, err
	}
	language := e.Language(fn)
	switch language {
	case elffile.LanguageGo:
		out.ABI, out.Goroutine = gofunc.RegisterABI(runtime.GOARCH), true
		behind, err := gofunc.Entry(runtime.GOARCH, code)
		if err != nil {
			return out, fmt.Errorf("%s of %s: %w", fn.Name, e.Path, err)
		}
		out.Entry += uint64(behind)
		out.MakesFrame, out.Protected = makesFrame(e, fn.Addr+uint64(behind))
	case elffile.LanguageGoOnStack:
		out.ABI = gofunc.StackABI(runtime.GOARCH)
	}
	return leave(e, fn, out), nil
}
