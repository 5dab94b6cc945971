// Package locals tells which variables are in sight at an instruction of a program, and where their values are there:
// parameters and locals of the function, those of inner blocks before those of outer ones. In a part of a function that
// was inlined into another one they are those of the former.
package locals

import (
	"debug/dwarf"
	"path"
	"slices"
	"strings"

	"github.com/startrace/startrace/internal/dwarfinfo"
	"github.com/startrace/startrace/internal/location"
	"github.com/startrace/startrace/internal/sourceline"
	"github.com/startrace/startrace/internal/sourcename"
	"github.com/startrace/startrace/internal/unoptimized"
)

// Which variables are in sight at an instruction, and where they are.

// A Variable is one that is in sight.
type Variable struct {
	// Name is as the source writes it.
	Name string
	// Type is its place in the debug information; 0: it is not said.
	Type dwarf.Offset
	// Place is where its value is.
	Place location.Place
}

// A Scope is what is in sight at an instruction.
type Scope struct {
	// Function is the function whose source it is, by its name of the linker, else that of the source; Inlined: it is a
	// part of another one there.
	Function string
	Inlined  bool
	// Entry is the first address of the function of which it is a part.
	Entry uint64
	// Block is the innermost block of the source, by its place in the debug information.
	Block dwarf.Offset
	// Variables are those in sight, outer ones first, each name once.
	Variables []Variable
	// Settled: parameters of the function are where debug information says at its first instruction. Without
	// optimization they are only behind the instructions that put them there.
	Settled bool
	// Plain: the function was not optimized: its variables are in memory, each in one place all the time.
	Plain bool
	// Trampoline: the compiler made the function of which it is a part, only to call another one.
	Trampoline bool
}

// A Finder looks into the debug information of one file.
type Finder struct {
	// Data is the debug information, and Arch the GOARCH of the file.
	Data *dwarfinfo.Data
	Arch string
	// Statics gives the addresses of variables that are local to source files, by the symbol table; false: it has none.
	Statics func(name string) ([]uint64, bool)
	// tables name the files of the source; nil until they were asked.
	tables *sourceline.Tables
	// unoptimized says which functions were compiled without optimization; nil until it was asked.
	unoptimized *unoptimized.Judge
	// names are those of functions; nil until they were asked.
	names *sourcename.Teller
	// functions are those of the units that were looked through.
	functions map[*dwarfinfo.Unit][]functionRange
	// globals are those that were looked up; nil: there is none of that name.
	globals map[globalSeen]*Variable
	// CFA gives the canonical frame address at an instruction; false where it is not known.
	CFA func(pc uint64) (*location.Expr, bool)
	// linked says where variables are that only the process has.
	linked
}

// At gives what is in sight at an instruction that belongs to a line of its source; nil where debug information has no
// function there. Without a line it is the one that debug information says of the instruction.
func (f *Finder) At(pc uint64, line SourceLine) (*Scope, error) {
	w, err := f.walkTo(pc, line)
	if w == nil || err != nil {
		return nil, err
	}
	if !w.scope.Plain && w.source.Number > 0 {
		err = w.scattered(w.within)
	}
	if !w.scope.Plain {
		w.notStored()
	}
	if w.unsettled() {
		for i := range w.scope.Variables {
			w.scope.Variables[i].Place = location.Place{}
		}
	}
	return w.scope, err
}

// walkTo collects the variables at an instruction; nil where debug information has no function there.
func (f *Finder) walkTo(pc uint64, line SourceLine) (*walk, error) {
	within, err := f.path(pc)
	if err != nil || len(within) == 0 {
		return nil, err
	}
	if line.Number == 0 {
		line = f.lineAt(within[0].Unit(), pc)
	}
	within, declared := f.upTo(within, line)
	within, lost, err := f.acrossGap(within, declared, line)
	if err != nil {
		return nil, err
	}
	w := &walk{Finder: f, pc: pc, source: line, function: within[0], within: within, lost: lost,
		scope: &Scope{Settled: true}, seen: map[string]seen{}}
	ranges, err := within[0].Ranges()
	if err != nil || len(ranges) == 0 {
		return nil, err
	}
	w.scope.Entry = ranges[0][0]
	for i, e := range within {
		if err := w.enter(e, i); err != nil {
			return nil, err
		}
	}
	w.scope.Plain = f.unoptimizedOf().Is(w.function)
	w.scope.Trampoline = w.function.Has(dwarf.AttrTrampoline)
	return w, nil
}

// unsettled reports whether variables are not yet, or not known to be, where debug information has them.
func (w *walk) unsettled() bool {
	return w.lost || w.scope.Plain && !w.scope.Settled && w.inPrologue(w.function.Unit(), w.scope.Entry, w.pc)
}

// lineAt is the line that an instruction is of; none where that is not said.
func (f *Finder) lineAt(u *dwarfinfo.Unit, pc uint64) SourceLine {
	rows, err := f.tablesOf().Stretches(u)
	if at := rows.Between(pc, pc+1); err == nil && len(at) > 0 {
		return SourceLine{File: at[0].File, Number: at[0].Line}
	}
	return SourceLine{}
}

// inPrologue reports whether an instruction is one of those that make the frame of a function and store its parameters
// there: the first stretch of the function, where it was not optimized.
func (f *Finder) inPrologue(u *dwarfinfo.Unit, entry, pc uint64) bool {
	rows, err := f.tablesOf().Stretches(u)
	return err == nil && pc >= entry && len(rows.Between(entry, pc+1)) <= 1
}

// upTo leaves out of a path what a line does not belong to. Compilers mix the instructions of a function with those of
// one that they have inlined, so an instruction of a line can lie in a function that the line is no part of. It is part
// of the function whose declaration stands nearest before it, of a recursive one of the innermost of its copies.
// nearest is the line of that declaration; 0: none of the functions in the path is declared before the line.
func (f *Finder) upTo(within []*dwarfinfo.Entry, line SourceLine) (path []*dwarfinfo.Entry, nearest int64) {
	best := -1
	for i, e := range within {
		if declared, ok := f.declaredBefore(e, line); ok && declared >= nearest {
			best, nearest = i, declared
		}
	}
	if best < 0 {
		return within, 0
	}
	for i := best + 1; i < len(within); i++ {
		if within[i].Tag == dwarf.TagInlinedSubroutine {
			return within[:i], nearest
		}
	}
	return within, nearest
}

// declaredIn reports whether an entry is declared in a file.
func (f *Finder) declaredIn(chain []*dwarfinfo.Entry, file string) bool {
	for _, e := range chain {
		if n, ok := e.Val(dwarf.AttrDeclFile).(int64); ok {
			return path.Clean(f.tablesOf().File(e.Unit(), n)) == file
		}
	}
	return false
}

func (f *Finder) tablesOf() *sourceline.Tables {
	if f.tables == nil {
		f.tables = sourceline.NewTables(f.Data)
	}
	return f.tables
}

func (f *Finder) unoptimizedOf() *unoptimized.Judge {
	if f.unoptimized == nil {
		f.unoptimized = unoptimized.New(f.Data)
	}
	return f.unoptimized
}

func (f *Finder) namesOf() *sourcename.Teller {
	if f.names == nil {
		f.names = sourcename.New(f.Data)
	}
	return f.names
}

// path gives the entries that an instruction lies in: its function, and the blocks and inlined functions in it, the
// outermost first.
func (f *Finder) path(pc uint64) ([]*dwarfinfo.Entry, error) {
	unit, err := f.Data.UnitOf(pc)
	if unit == nil || err != nil {
		return nil, err
	}
	root, err := unit.Root()
	if err != nil {
		return nil, err
	}
	if function, err := f.functionAt(unit, root, pc); function != nil || err != nil {
		s := &search{data: f.Data, pc: pc, path: []*dwarfinfo.Entry{function}}
		if err == nil {
			err = s.into(function, 1)
		}
		return s.path, err
	}
	for _, everywhere := range []bool{false, true} {
		s := &search{data: f.Data, pc: pc, everywhere: everywhere}
		if err := s.into(root, 0); err != nil || len(s.path) > 0 {
			return s.path, err
		}
	}
	return nil, nil
}

// A functionRange is code of a function that stands in no class and no namespace.
type functionRange struct {
	low, high uint64
	entry     *dwarfinfo.Entry
}

// functionAt gives the function of a unit that has an instruction; nil where none of those at its top has. They are
// looked through once: a line can have hundreds of places.
func (f *Finder) functionAt(u *dwarfinfo.Unit, root *dwarfinfo.Entry, pc uint64) (*dwarfinfo.Entry, error) {
	list, known := f.functions[u]
	if !known {
		err := f.Data.EachChild(root, func(e *dwarfinfo.Entry) (bool, error) {
			if e.Tag != dwarf.TagSubprogram {
				return true, nil
			}
			ranges, err := e.Ranges()
			for _, r := range ranges {
				list = append(list, functionRange{r[0], r[1], e})
			}
			return true, err
		})
		if err != nil {
			return nil, err
		}
		if f.functions == nil {
			f.functions = map[*dwarfinfo.Unit][]functionRange{}
		}
		f.functions[u] = list
	}
	for _, r := range list {
		if pc >= r.low && pc < r.high {
			return r.entry, nil
		}
	}
	return nil, nil
}

// A search looks for the entries that an instruction lies in.
type search struct {
	data *dwarfinfo.Data
	pc   uint64
	// everywhere: also in functions that do not have the instruction, since those of classes within functions stand
	// there.
	everywhere bool
	path       []*dwarfinfo.Entry
	steps      int
}

// The bounds of a search: foreign files can lead anywhere.
const (
	maxDepth = 64
	maxSteps = 1 << 22
)

// holders are the entries in which functions stand.
var holders = map[dwarf.Tag]bool{
	dwarf.TagNamespace: true, dwarf.TagClassType: true, dwarf.TagStructType: true, dwarf.TagUnionType: true,
	dwarf.TagModule: true, dwarf.TagSubprogram: true, dwarf.TagLexDwarfBlock: true,
}

// blocks are the entries that have instructions.
var blocks = map[dwarf.Tag]bool{
	dwarf.TagSubprogram: true, dwarf.TagLexDwarfBlock: true, dwarf.TagInlinedSubroutine: true,
}

// into looks among the children of an entry.
func (s *search) into(e *dwarfinfo.Entry, depth int) error {
	if depth > maxDepth {
		return nil
	}
	within := len(s.path)
	return s.data.EachChild(e, func(kid *dwarfinfo.Entry) (bool, error) {
		if s.steps++; s.steps > maxSteps {
			return false, nil
		}
		found := false
		if blocks[kid.Tag] {
			var err error
			if found, err = covers(kid, s.pc); err != nil {
				return false, err
			}
		}
		switch {
		case found:
			s.path = append(s.path, kid)
			return false, s.into(kid, depth+1)
		case within > 0, !holders[kid.Tag], !s.everywhere && blocks[kid.Tag]:
			return true, nil
		}
		err := s.into(kid, depth+1)
		return len(s.path) == 0, err
	})
}

// covers reports whether an entry has an instruction.
func covers(e *dwarfinfo.Entry, pc uint64) (bool, error) {
	ranges, err := e.Ranges()
	for _, r := range ranges {
		if pc >= r[0] && pc < r[1] {
			return true, err
		}
	}
	return false, err
}

// A walk collects the variables along the path.
type walk struct {
	*Finder
	pc       uint64
	source   SourceLine
	function *dwarfinfo.Entry
	// within are the entries that the instruction lies in, the function first; lost: those that it belongs to are not
	// known.
	within []*dwarfinfo.Entry
	lost   bool
	scope  *Scope
	// moment is that of the line, nil until it was asked.
	moment *moment
	// declared is the line of the variable that was looked at last.
	declared int64
	// seen are the variables in sight, by their names.
	seen map[string]seen
	// numbered are the names of parameters of a pack, by where the source of their function has them.
	numbered map[dwarf.Offset]string
	// calls: the function is known to call others, or not to; nil: that was not asked.
	calls *bool
}

// seen says of a variable in sight of which block of the path it is, where the source of the function has it, of which
// inlined copies are made, and the line of its declaration there.
type seen struct {
	depth    int
	origin   dwarf.Offset
	declared int64
	// homed: it is a parameter that is said to lie in the frame all the time.
	homed bool
}

// enter adds what an entry of the path, of which it is the one at depth, has.
func (w *walk) enter(e *dwarfinfo.Entry, depth int) error {
	if e.Tag != dwarf.TagLexDwarfBlock {
		w.scope.Function = w.namesOf().Of(w.Data.Origins(e))
		w.scope.Inlined = e.Tag == dwarf.TagInlinedSubroutine
		w.scope.Variables = nil // those of the caller are not in sight
		var err error
		if w.numbered, err = packNames(w.Data, e); err != nil {
			return err
		}
	}
	if begun, err := w.begun(e); err != nil || !begun {
		w.scope.Block = e.Offset
	}
	return w.Data.EachChild(e, func(kid *dwarfinfo.Entry) (bool, error) {
		if kid.Tag != dwarf.TagVariable && kid.Tag != dwarf.TagFormalParameter {
			return true, nil
		}
		return true, w.variable(kid, depth)
	})
}

// variable adds a variable, in the place of one of an outer block with its name.
func (w *walk) variable(e *dwarfinfo.Entry, depth int) error {
	chain := w.Data.Origins(e)
	v := w.named(e, chain)
	declared, of := dwarfinfo.Attribute(chain, dwarf.AttrDeclLine).(int64)
	if made, _ := e.Val(dwarf.AttrArtificial).(bool); made && !of {
		declared = w.declared // clang: auto &[c, d] has the line, and c and d have none
	}
	if w.declared = declared; v.Name == "" {
		return nil
	}
	place, listed, err := w.place(e, chain)
	if err != nil {
		return err
	}
	v.Place = place
	if e.Tag == dwarf.TagFormalParameter && (!listed && place.Kind == location.Memory ||
		listed && unoptimized.KeptByAddress(e, w.function)) {
		w.scope.Settled = false
	}
	later := w.source.Number > 0 && int(declared) >= w.source.Number
	result, _ := e.Val(dwarf.AttrVarParam).(bool) // of Go, which is set to zero behind the first instructions
	if (e.Tag == dwarf.TagVariable || result) && !listed && later && ofTheCall(place) {
		v.Place = location.Place{} // what lies there is not it yet
	}
	if !listed && w.captured(e) && ofTheCall(place) {
		v.Place = location.Place{}
	}
	if name, escaped := strings.CutPrefix(v.Name, "&"); escaped {
		v.Name = name
		v = w.escaped(v)
	}
	w.see(v, seen{depth, origin(chain), declared, w.homed(e, chain, depth, place)})
	return nil
}

// see has a variable in sight, in the place of one of an outer block with its name.
func (w *walk) see(v Variable, as seen) {
	w.seen[v.Name] = as
	if i := w.index(v.Name); i >= 0 {
		w.scope.Variables[i] = v
		return
	}
	w.scope.Variables = append(w.scope.Variables, v)
}

// index says which of the variables in sight has a name; -1: none.
func (w *walk) index(name string) int {
	return slices.IndexFunc(w.scope.Variables, func(v Variable) bool { return v.Name == name })
}

// named is a variable without its place; without a name where it has none of its own, as results of Go, and what only
// the compiler needs.
func (w *walk) named(e *dwarfinfo.Entry, chain []*dwarfinfo.Entry) (v Variable) {
	name, _ := dwarfinfo.Attribute(chain, dwarf.AttrName).(string)
	made, _ := dwarfinfo.Attribute(chain, dwarf.AttrArtificial).(bool)
	if name == "" || name[0] == '~' || name == "_" || made && e.Tag == dwarf.TagVariable && ofCompiler(name) {
		return v
	}
	v.Name = name
	if next := w.numbered[origin(chain)]; next != "" {
		v.Name = next
	}
	v.Type, _ = dwarfinfo.Attribute(chain, dwarf.AttrType).(dwarf.Offset)
	return v
}

// ofCompiler reports whether a compiler has made up a name, as __range1 in a for of C++. Other names of variables that
// compilers make are of the source: clang says of those of auto [a, b] that it made them.
func ofCompiler(name string) bool {
	return strings.HasPrefix(name, "__") || strings.Contains(name, ".")
}

// onStack reports whether a place is memory of the call, and not that of a static variable.
func onStack(p location.Place) bool {
	return p.Kind == location.Memory && p.Value.Op != location.Static
}

// ofTheCall reports whether a place belongs to the call: its memory, or a register.
func ofTheCall(p location.Place) bool {
	return onStack(p) || p.Kind == location.Held && p.Value.Op == location.Register
}

// place gives where a variable is; listed: that depends on the instruction.
func (w *walk) place(e *dwarfinfo.Entry, chain []*dwarfinfo.Entry) (p location.Place, listed bool, err error) {
	for _, x := range chain {
		if p, ok := location.OfConstant(x.Val(dwarf.AttrConstValue)); ok {
			return p, true, nil
		}
	}
	for _, x := range chain {
		expression, listed, err := x.Expression(dwarf.AttrLocation, w.pc)
		if err != nil || listed || expression != nil {
			if listed && err == nil && x.HasViews() {
				expression, err = w.atMoment(x, expression)
			}
			p := location.Of(expression, w.frame(e)).Framed(w.frameRegisters()...)
			if !listed && (p.LostByCalls(w.Arch) && w.hasCalls() || w.onlyAtTimes(p)) {
				return location.Place{}, true, err // gcc says so of one that it lost sight of
			}
			return p, listed, err
		}
	}
	return location.Place{}, true, nil
}

// hasCalls reports whether the function that is compiled here is said to call others.
func (w *walk) hasCalls() bool {
	if w.calls == nil {
		found := false
		w.calls = &found
		w.lookForCalls(w.function, 0)
	}
	return *w.calls
}

// The entries of calls (DW_TAG_call_site, and DW_TAG_GNU_call_site before DWARF 5).
const tagCallSite, tagGNUCallSite = dwarf.Tag(0x48), dwarf.Tag(0x4109)

func (w *walk) lookForCalls(e *dwarfinfo.Entry, depth int) {
	// What is damaged ends the search: then there is no call that it tells of.
	_ = w.Data.EachChild(e, func(kid *dwarfinfo.Entry) (bool, error) {
		switch {
		case kid.Tag == tagCallSite, kid.Tag == tagGNUCallSite:
			*w.calls = true
		case blocks[kid.Tag] && depth < maxDepth:
			w.lookForCalls(kid, depth+1)
		}
		return !*w.calls, nil
	})
}

// frameRegisters are those that lead to the frame of the call.
func (w *walk) frameRegisters() []string {
	out := []string{"sp"}
	if cfa, ok := w.CFA(w.pc); ok {
		for ; cfa.Op == location.Add; cfa = cfa.Args[0] {
		}
		if cfa.Op == location.Register {
			out = append(out, cfa.Name)
		}
	}
	return out
}

// frame is what the expressions of an entry refer to.
func (w *walk) frame(e *dwarfinfo.Entry) location.Frame {
	f := location.Frame{Arch: w.Arch, Address: e.Unit().IndexedAddress, Type: w.typeIn(e.Unit()), Thread: w.Thread}
	f.CFA = func() (*location.Expr, bool) { return w.CFA(w.pc) }
	f.Base = func() (*location.Expr, bool) {
		expression, _, err := w.function.Expression(dwarf.AttrFrameBase, w.pc)
		if err != nil {
			return nil, false
		}
		inner := f
		inner.Base = func() (*location.Expr, bool) { return nil, false }
		p := location.Of(expression, inner)
		return p.Value, p.Kind == location.Held || p.Kind == location.Memory
	}
	return f
}

// The encodings of base types that are ints (DW_ATE_…).
const (
	encodingAddress, encodingBool                       = 1, 2
	encodingSigned, encodingSignedChar                  = 5, 6
	encodingUnsigned, encodingUnsignedChar, encodingUTF = 7, 8, 0x10
	encodingOtherUCS                                    = 0x11
)

// typeIn gives the base types of expressions of a unit.
func (w *walk) typeIn(u *dwarfinfo.Unit) func(uint64) (location.Base, bool) {
	return func(offset uint64) (location.Base, bool) {
		e, err := w.Data.Entry(u.InInfo(offset))
		if err != nil || e == nil || e.Tag != dwarf.TagBaseType {
			return location.Base{}, false
		}
		size, _ := e.Val(dwarf.AttrByteSize).(int64)
		encoding, _ := e.Val(dwarf.AttrEncoding).(int64)
		b := location.Base{Size: int(size)}
		switch encoding {
		case encodingSigned, encodingSignedChar:
			b.Signed = true
		case encodingAddress, encodingBool, encodingUnsigned, encodingUnsignedChar, encodingUTF, encodingOtherUCS:
		default:
			b.Other = true
		}
		return b, true
	}
}

// escaped is a variable of Go that lies on the heap: there is a pointer to it, with & in front of its name.
func (w *walk) escaped(v Variable) Variable {
	e, err := w.Data.Entry(v.Type)
	if err != nil || e == nil || e.Tag != dwarf.TagPointerType {
		v.Place = location.Place{Kind: location.Unreadable}
		return v
	}
	v.Type, _ = e.Val(dwarf.AttrType).(dwarf.Offset)
	switch v.Place.Kind {
	case location.Held:
		v.Place.Kind = location.Memory
	case location.Memory:
		v.Place.Value = &location.Expr{Op: location.Load, Size: 8, Args: []*location.Expr{v.Place.Value}}
	}
	return v
}
