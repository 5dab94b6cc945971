package points

import (
	"debug/dwarf"
	"slices"
	"strconv"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/abi"
	"github.com/startrace/startrace/internal/ctypes"
	"github.com/startrace/startrace/internal/gofunc"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/locals"
	"github.com/startrace/startrace/internal/signature"
	"github.com/startrace/startrace/internal/usdt"
)

// Functions that a pattern matched, of the kernel or a program: their parameters, types, variables and places, for the
// compiler.

// Functions are those that a pattern matched, of the kernel or of one program, or places in them.
type Functions struct {
	onePoint
	// Funcs are the functions, or the places in them.
	Funcs []*Function
	Mech  tree.AttachKind // how their programs are attached
	// Binary is the file that has them, "": the kernel. Same is one path for all that the file has. Process is the only
	// process to be probed, 0: all.
	Binary  string
	Same    string
	Process int
	// Returns: the places are those where the functions return.
	Returns bool
	// Bare: see tree.Functions.
	Bare bool
}

func (fs *Functions) points(t *Target) (out []tree.Point) {
	for _, f := range fs.Funcs {
		out = append(out, tree.Point{Name: f.Text, Func: f.Name})
	}
	if len(out) == 0 {
		return fs.onePoint.points(t)
	}
	return out
}

func (fs *Functions) names(t *Target) (out []string) {
	for _, p := range fs.points(t) {
		out = append(out, p.Name)
	}
	return out
}

func (fs *Functions) file() string { return fs.Binary }

func (fs *Functions) Pattern() bool { return len(fs.Funcs) > 1 }

func (fs *Functions) without(t *Target, known map[string]bool) bool {
	if len(fs.Funcs) == 0 {
		return fs.onePoint.without(t, known)
	}
	fs.Funcs = slices.DeleteFunc(fs.Funcs, func(f *Function) bool { return known[f.Text] })
	return len(fs.Funcs) > 0
}

func (fs *Functions) single(t *Target) []*Target {
	if len(fs.Funcs) < 2 {
		return []*Target{t}
	}
	var out []*Target
	for _, f := range fs.Funcs {
		one, of := *t, *fs
		of.Funcs = []*Function{f}
		one.Source, one.Text, one.Name = &of, f.Text, f.Name
		out = append(out, &one)
	}
	return out
}

func (fs *Functions) wholeFunction() string {
	if len(fs.Funcs) != 1 {
		return ""
	}
	f := fs.Funcs[0]
	if f.User || f.Program || f.Place.Module != "" || f.Place.Address != 0 {
		return ""
	}
	return f.Place.Func
}

func (fs *Functions) ArgNames(*kernel.Facts) (out []string) {
	for _, f := range fs.Funcs {
		out = append(out, f.ArgNames()...)
	}
	return out
}

func (fs *Functions) ArgCount(*kernel.Facts) (n int) {
	for _, f := range fs.Funcs {
		n = max(n, f.ArgCount())
	}
	return n
}

// OwnDoing: a process runs its functions itself.
func (fs *Functions) OwnDoing() bool { return fs.Binary != "" }

func (fs *Functions) Entries() []Instruction {
	if fs.Returns {
		return nil
	}
	return []Instruction{{fs.Binary, fs.Funcs[0].Place.Offset}}
}

func (fs *Functions) ReturnsAt() (out []Instruction) {
	if fs.Returns {
		for _, at := range fs.Funcs[0].Ends() {
			out = append(out, Instruction{fs.Binary, at.Offset})
		}
	}
	return out
}

func (fs *Functions) attach(*Target) tree.Attach {
	return tree.Attach{Way: fs.At(fs.PlacesOf(fs.Funcs[0]))}
}

// A Function is one function that a pattern matched.
type Function struct {
	Name string // e.func
	Text string // e.probe
	// Place is where it begins, or the place in it that the point names.
	Place tree.Place
	// Proto has the types of the arguments; nil for user functions and where
	// BTF has none.
	Proto *kernel.Function
	// User: it is a user function; ABI says where Go passes its arguments, nil:
	// as C does. Goroutine: its calls belong to a goroutine, not to a thread.
	User      bool
	ABI       *gofunc.ABI
	Goroutine bool
	// Inside: the place is behind the function's entry, where the arguments are no longer where the caller left them.
	Inside bool
	// Program: it is a BPF program.
	Program bool
	// Returns are the offsets in the file at which it returns, where no probe may
	// be placed on the return address (Go).
	Returns []uint64
	// Others are how many other functions return for it: it jumps to them.
	Others int
	// Site is that of a static probe, with its arguments.
	Site *usdt.Place
	// Operands are the names and types of these arguments, as far as they are known.
	Operands []ctypes.Param
	// call is where the arguments and the result are; nil where nobody knows, or
	// before it was asked for.
	call *abi.Call
	// sig gives what debug information says of a user function; nil: it is not asked.
	sig func() *signature.Signature
	// split gives the file that has the debug information of a user function, and why that is not known; nil: it is not
	// asked.
	split func() (name, why string)
	// typ gives the type at a place in the debug information that sig speaks of.
	typ func(dwarf.Offset) (kernel.TypeID, error)
	// Source is the line of the source that the point names, "cart.c:120"; "" where it names none. Of a copy of a
	// function that was inlined it is where the call stands, "" where that is not known.
	Source string
	// params gives the parameters of such a copy; nil elsewhere. definition gives where another user function is
	// defined, "" where nobody knows; nil elsewhere.
	params     func() ([]locals.Variable, error)
	definition func() string
	// copied is where debug information speaks of the copy; 0 elsewhere.
	copied dwarf.Offset
	// vars gives the variables that are in sight at a place in a user function; nil elsewhere. static is the address of
	// the place in the file: where a program is loaded is the difference to where it stands.
	vars   func() ([]locals.Variable, error)
	static uint64
	// length gives how many elements an array has there whose length the program computes; nil elsewhere.
	length func(dimension dwarf.Offset) (locals.Variable, error)
	// goid gives how far behind the start of a goroutine's g its number lies; nil elsewhere than in functions of Go.
	goid func() (int, error)
	// global gives a variable outside of functions, nil where there is none of that name; nil elsewhere than in user
	// functions.
	global func(name string) (*locals.Variable, error)
}

// HasVariables reports whether variables can be in sight: at places in user functions.
func (p *Function) HasVariables() bool { return p.vars != nil }

// Inlined reports whether it is a copy of a function that was inlined.
func (p *Function) Inlined() bool { return p.params != nil }

// Parameters are those of a copy that was inlined, as they are where it begins.
func (p *Function) Parameters() ([]locals.Variable, error) { return p.params() }

// At is the line of the source at which a function is: where one that was inlined is called, and where another one is
// defined; "" where nobody knows.
func (p *Function) At() string {
	if p.Source == "" && p.definition != nil {
		return p.definition()
	}
	return p.Source
}

// Variables are those that are in sight at the place; none where nobody knows.
func (p *Function) Variables() ([]locals.Variable, error) {
	if p.vars == nil {
		return nil, nil
	}
	return p.vars()
}

// Length is how many elements an array has at the place whose length the program computes, by where the debug
// information speaks of that dimension of it: a variable without a name, which is nowhere where nobody knows, as at the
// entry of a function.
func (p *Function) Length(dimension dwarf.Offset) (locals.Variable, error) {
	if p.length == nil {
		return locals.Variable{}, nil
	}
	return p.length(dimension)
}

// OfGoroutine reports whether the function runs on a goroutine.
func (p *Function) OfGoroutine() bool { return p.goid != nil }

// Goid is how many bytes behind the start of a goroutine's runtime.g its number lies.
func (p *Function) Goid() (int, error) { return p.goid() }

// HasGlobals reports whether variables outside of functions can be asked for.
func (p *Function) HasGlobals() bool { return p.global != nil }

// Global gives the variable of a name outside of functions; nil where there is none.
func (p *Function) Global(name string) (*locals.Variable, error) {
	if p.global == nil {
		return nil, nil
	}
	return p.global(name)
}

// Static is the address of the place in its file.
func (p *Function) Static() uint64 { return p.static }

// TypeAt gives the type at a place in the debug information; void where none is said.
func (p *Function) TypeAt(off dwarf.Offset) (kernel.TypeID, error) {
	if off == 0 {
		return 0, nil
	}
	return p.typ(off)
}

// maxArgs bounds e.args[i] where nobody knows how many there are.
const maxArgs = 12

// Ends are the places of probes of the function's return: all its returns at once, or the
// instructions that return.
func (p *Function) Ends() []tree.Place {
	if len(p.Returns) == 0 {
		return []tree.Place{p.Place}
	}
	var out []tree.Place
	for _, off := range p.Returns {
		at := p.Place
		at.Offset, at.Caller = off, tree.CallerMissing
		out = append(out, at)
	}
	return out
}

// Params are the arguments with their names and types; none where nobody knows them.
func (p *Function) Params() []kernel.Param {
	if !p.Typed() {
		return nil
	}
	return p.Proto.Params
}

// ArgNames are the names of the arguments, as far as they are known.
func (p *Function) ArgNames() []string {
	out := paramNames(p.Params())
	if p.Inlined() {
		list, _ := p.Parameters() // one that cannot be read says so where it is asked
		for i := range list {
			out = append(out, list[i].Name)
		}
	}
	if s := p.Known(); s != nil {
		for i := range s.Arguments {
			if name := s.Arguments[i].Name; name != "" {
				out = append(out, name)
			}
		}
	}
	if p.Site != nil {
		for i := range p.Site.Args {
			out = append(out, p.OperandName(i), Numbered(i))
		}
	}
	return out
}

// OperandName is the name of an argument of a static probe.
func (p *Function) OperandName(i int) string {
	if i < len(p.Operands) {
		return p.Operands[i].Name
	}
	return Numbered(i)
}

// Numbered is the name of an argument of a static probe that has none of its own, and another one of each.
func Numbered(i int) string { return "arg" + strconv.Itoa(i) }

// Typed reports whether the arguments have names and types.
func (p *Function) Typed() bool { return p.Proto != nil && p.Proto.ID != 0 }

// At are places of the functions for one program.
func (fs *Functions) At(places []tree.Place) *tree.Functions {
	return &tree.Functions{Mech: fs.Mech, Binary: fs.Binary, Process: fs.Process, Places: places, Bare: fs.Bare}
}

// PlacesOf are where programs stand at the function. Whatever attaches to functions asks here: place alone is where
// the function begins.
func (fs *Functions) PlacesOf(f *Function) []tree.Place {
	if fs.Returns {
		return f.Ends()
	}
	return []tree.Place{f.Place}
}

// Shares: a program can stand at several functions. A trampoline serves one.
func (fs *Functions) Shares() bool { return !fs.Mech.Trampoline() }

// ArgCount is how many arguments can be asked for.
func (p *Function) ArgCount() int {
	switch s := p.Known(); {
	case p.Inside:
		return 0
	case p.Site != nil:
		return len(p.Site.Args)
	case p.Typed():
		return len(p.Params())
	case s != nil && s.Open:
		return max(maxArgs, len(s.Params))
	case s != nil && !s.OnlyResult:
		return len(s.Params)
	}
	return maxArgs
}

// Known is what debug information says of the function; nil: nothing.
func (p *Function) Known() *signature.Signature {
	if p.sig == nil {
		return nil
	}
	return p.sig()
}

// Split is the file that has the debug information of the function, and why that is not known; "" where it is known, or
// nobody has it.
func (p *Function) Split() (name, why string) {
	if p.split == nil {
		return "", ""
	}
	return p.split()
}

// Type gives the type of an argument or a result of a user function; void where none is said.
func (p *Function) Type(v *signature.Value) (kernel.TypeID, error) {
	return p.TypeAt(v.Type)
}

// places is where the arguments and the result of the function are.
func (p *Function) places() *abi.Call {
	if p.call == nil && p.Proto != nil {
		p.call = p.Proto.Call("")
	}
	return p.call
}

// ArgPlace is where argument i is when the function is called.
func (p *Function) ArgPlace(i int) abi.Location {
	if c := p.places(); c != nil && i < len(c.Params) {
		return c.Params[i]
	}
	return abi.Location{}
}

// ResultPlace is where the result is when it returns.
func (p *Function) ResultPlace() abi.Location {
	if c := p.places(); c != nil {
		return c.Result
	}
	return abi.Location{}
}

func paramNames(params []kernel.Param) (out []string) {
	for _, p := range params {
		out = append(out, p.Name)
	}
	return out
}

// VariableNames are the names of all variables that are in sight at places of the target.
func (t *Target) VariableNames() (out []string) {
	fs, ok := t.Source.(*Functions)
	if !ok {
		return nil
	}
	for _, f := range fs.Funcs {
		list, _ := f.Variables() // one that cannot be read says so where it is asked
		for i := range list {
			out = append(out, list[i].Name)
		}
	}
	return out
}
