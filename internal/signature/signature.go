// Package signature finds out where the words of a user function's arguments and of its
// result are, and of which size and sign, from debug information (DWARF).
//
// It knows neither files nor processes: it gets sections. It says nothing (nil) where
// debug information does not tell for certain: of clones, whose parameters the compiler
// has moved; of functions of one file that clang changed at its will; of classes of C++
// that are perhaps passed by their address; of structs of languages that promise no
// ABI; of generic functions of Go, which take a dictionary that is not mentioned.
//
// A word is what one register holds, in the order of the declaration: a struct of two
// words, a string of Go, is two. What is read by package debug/dwarf is read when the
// first function is asked for.
package signature

import (
	"debug/dwarf"
	"slices"

	"github.com/startrace/startrace/internal/abi"
	"github.com/startrace/startrace/internal/cpplib"
	"github.com/startrace/startrace/internal/dwarfinfo"
	"github.com/startrace/startrace/internal/gofunc"
	"github.com/startrace/startrace/internal/rustclosure"
	"github.com/startrace/startrace/internal/sourceline"
	"github.com/startrace/startrace/internal/unoptimized"
)

// Signature: what debug information says of the call of a function, by its address.

// A Word is one of those that arguments and results are passed in.
type Word struct {
	abi.Place
	// Size is how many bytes of it mean something, Signed whether they are a signed
	// int; Address: it is one. Unknown: nobody knows where it is.
	Size                     int
	Signed, Address, Unknown bool
}

// A Signature is what is known of a function's call.
type Signature struct {
	// Params are the words in which the arguments are passed, in their order. They are not known if OnlyResult is set.
	Params []Word
	// Result has all words of what it returns. Without any it is a word of which nothing is known, unless Void is set.
	Result []Word
	// Void: it returns nothing. Of Go that is not known: its debug information has nothing of the results of assembly.
	Void bool
	// OnlyResult: where the arguments are is not known, only what is returned.
	OnlyResult bool
	// Open: it takes more than Params, or may: as printf does, and what is written in assembly.
	Open bool
	// Local is what may have been done to the function if its symbol turns out to be local: a linker that optimizes
	// makes functions so that were not.
	Local Alteration
	// Arguments and Results are the same by their names and types. Where the compiler may have changed how the function
	// is called, nobody knows their places.
	Arguments, Results []Value
	// composite: it returns a struct.
	composite bool
	// more gives word n behind Params, for functions that are called with more.
	more func(n int) Word
}

// OfThunk is the signature of a thunk of the function, which is called with the address of a part of the object: where
// the object itself is, is not known. nil: that of the function is not known.
func (s *Signature) OfThunk() *Signature {
	if s == nil {
		return nil
	}
	out := *s
	out.Arguments = slices.Clone(s.Arguments)
	for i := range out.Arguments {
		if out.Arguments[i].Name == "this" {
			out.Arguments[i].Pieces = nil
		}
	}
	return &out
}

// Named is the signature with the names that another one of the function has; false where they do not agree about how
// many arguments there are, or where it does not say where each of them is.
func (s *Signature) Named(as *Signature) (*Signature, bool) {
	if s == nil || s.OnlyResult || len(s.Arguments) != len(as.Arguments) || len(s.Results) != len(as.Results) {
		return nil, false
	}
	out := *s
	out.Arguments = slices.Clone(s.Arguments)
	for i := range out.Arguments {
		v := &out.Arguments[i]
		if !v.found() {
			return nil, false
		}
		v.Name = as.Arguments[i].Name
	}
	return &out, true
}

// Elsewhere is the signature with a mark at the places of its types, which stand in other debug information than those
// of the functions beside it.
func (s *Signature) Elsewhere(mark dwarf.Offset) *Signature {
	out := *s
	out.Arguments, out.Results = slices.Clone(s.Arguments), slices.Clone(s.Results)
	for _, list := range [][]Value{out.Arguments, out.Results} {
		for i := range list {
			list[i].Type |= mark
		}
	}
	return &out
}

// Param gives word n of the arguments; behind those that are declared, as of printf,
// they are ints.
func (s *Signature) Param(n int) Word {
	if n < len(s.Params) {
		return s.Params[n]
	}
	return s.more(n - len(s.Params))
}

// Functions are those of one file.
type Functions struct {
	data *dwarfinfo.Data
	arch string
	// strings are those of C++ of which nobody says what lies in them.
	strings cpplib.Strings
	// unoptimized says which were compiled without optimization.
	unoptimized *unoptimized.Judge
}

// New gives the functions of debug information; nil where it is nil, or where nobody knows how the architecture calls.
func New(arch string, d *dwarfinfo.Data) *Functions {
	if d == nil || abi.Of(arch) == nil {
		return nil
	}
	return &Functions{data: d, arch: arch, strings: cpplib.Strings{Data: d}, unoptimized: unoptimized.New(d)}
}

// Data is the debug information that signatures are read from.
func (t *Functions) Data() *dwarfinfo.Data { return t.data }

// Of gives the signature of the function that begins at an address; nil where it is not
// known.
func (t *Functions) Of(addr uint64) (*Signature, error) {
	return t.of(addr, gofunc.RegisterABI(t.arch))
}

// OnStack is Of for a function of Go that is called with all on the stack: of assembly, and of Go before 1.17.
func (t *Functions) OnStack(addr uint64) (*Signature, error) {
	return t.of(addr, gofunc.StackABI(t.arch))
}

// OnStackUnsaid is the signature of such a function of which nothing is said, of an architecture by its GOARCH: its
// arguments are words, and where its result lies behind them is not known.
func OnStackUnsaid(arch string) *Signature {
	convention := gofunc.StackABI(arch)
	if convention == nil {
		return nil
	}
	return goCalled(convention, []dwarf.Type{}, nil, false)
}

// of is Of, with the convention of Go that the function has if it is one of Go.
func (t *Functions) of(addr uint64, convention *gofunc.ABI) (*Signature, error) {
	f, e, err := t.functionAt(addr)
	if e == nil || err != nil {
		return nil, err
	}
	return f.signature(e, convention)
}

// Definition gives where the function that begins at an address is defined; "" where it is not known.
func (t *Functions) Definition(addr uint64) (file string, line int) {
	_, e, err := t.functionAt(addr)
	if e == nil || err != nil {
		return "", 0
	}
	return sourceline.NewTables(t.data).Declared(t.data.Origins(e))
}

// functionAt gives the entry of the function that begins at an address, nil where none is known, and a finder in its
// unit.
func (t *Functions) functionAt(addr uint64) (*finder, *dwarfinfo.Entry, error) {
	u, err := t.data.UnitOf(addr)
	if u == nil || err != nil {
		return nil, nil, err
	}
	root, err := u.Root()
	if err != nil {
		return nil, nil, err
	}
	f := t.finder(t.data.Entries(), root)
	f.language, _ = root.Val(dwarf.AttrLanguage).(int64)
	for _, everywhere := range []bool{false, true} {
		if err := f.r.Seek(root.Offset); err != nil {
			return nil, nil, err
		}
		if _, err := f.r.Next(); err != nil {
			return nil, nil, err
		}
		e, err := f.function(addr, everywhere)
		if e != nil || err != nil {
			return f, e, err
		}
	}
	return f, nil, nil
}

// The languages (DW_LANG_…) whose functions keep to the ABI of C, with those of which
// structs are classes, and Go.
const (
	langGo   = 0x16
	langRust = 0x1c
)

var languages = map[int64]bool{
	0x01: true, 0x02: true, 0x0c: true, 0x1d: true, 0x2c: true, // C
	0x04: true, 0x1a: true, 0x21: true, 0x2b: true, // C++
	langGo: true, langRust: true, 0x08: true, 0x0e: true, 0x22: true, 0x23: true, // Fortran
}

var fortran = map[int64]bool{0x08: true, 0x0e: true, 0x22: true, 0x23: true}

type finder struct {
	*Functions
	r        *dwarfinfo.Entries
	unit     *dwarfinfo.Entry
	language int64
	types    int // that were read
	// alignments are those of the structs, unions and classes that were read.
	alignments map[*dwarf.StructType]alignment
}

func (t *Functions) finder(r *dwarfinfo.Entries, unit *dwarfinfo.Entry) *finder {
	return &finder{Functions: t, r: r, unit: unit, alignments: map[*dwarf.StructType]alignment{}}
}

// producer is what the unit says of its compiler.
func (f *finder) producer() string {
	text, _ := f.unit.Val(dwarf.AttrProducer).(string)
	return text
}

// function finds the entry of the function at addr in the unit that r is in. Functions of C++ stand in namespaces and
// classes, and everywhere: in functions, as nested ones of GNU C do.
func (f *finder) function(addr uint64, everywhere bool) (*dwarfinfo.Entry, error) {
	depth := 1
	for {
		e, err := f.r.Next()
		if err != nil || e == nil {
			return nil, err
		}
		switch {
		case e.Tag == 0:
			if depth--; depth == 0 {
				return nil, nil
			}
			continue
		case e.Tag == dwarf.TagSubprogram:
			if begins, err := f.begins(e, addr); begins || err != nil {
				return e, err
			}
		case e.Tag == dwarf.TagCompileUnit:
			return nil, nil
		}
		switch {
		case !e.Children:
		case e.Tag == dwarf.TagNamespace || e.Tag == dwarf.TagClassType || e.Tag == dwarf.TagStructType,
			everywhere && (e.Tag == dwarf.TagSubprogram || e.Tag == dwarf.TagLexDwarfBlock):
			depth++
		default:
			f.r.SkipChildren()
		}
	}
}

// begins reports whether a function is entered at addr. One that the compiler has split, so that what seldom runs lies
// elsewhere (NAME.cold), has a list of ranges, of which the first begins at its entry (DWARF 5, 2.17.3 and 2.18).
func (f *finder) begins(e *dwarfinfo.Entry, addr uint64) (bool, error) {
	if low, ok := e.Low(); ok {
		return low == addr, nil
	}
	if e.Val(dwarf.AttrRanges) == nil {
		return false, nil
	}
	ranges, err := e.Ranges()
	return len(ranges) > 0 && ranges[0][0] == addr, err
}

// signature reads the parameters and the result of a function; convention is that of Go.
func (f *finder) signature(e *dwarfinfo.Entry, convention *gofunc.ABI) (*Signature, error) {
	if !languages[f.language] {
		return nil, nil
	}
	if f.saysNoTypes() {
		return nil, nil
	}
	chain := f.data.Origins(e)
	params, results, err := f.parameters(e)
	if err != nil {
		return nil, err
	}
	named, returned, err := f.values(e)
	if err != nil {
		return nil, err
	}
	if f.language == langGo {
		return goCalled(convention, params, results, f.changed(chain)).named(named, returned), nil
	}
	if off, ok := dwarfinfo.Attribute(f.deduced(chain), dwarf.AttrType).(dwarf.Offset); ok {
		returned = []Value{{Type: off}}
	}
	var s *Signature
	if f.language == langRust && tellsChanges(f.producer()) && !f.changed(chain) {
		if s = f.ofRust(e, chain); s != nil && f.mayDropAddress(e, chain) {
			s.loseAddress()
		}
	}
	inRust := s != nil
	if s == nil {
		s, err = f.ofC(params, named, chain)
	}
	switch {
	case err != nil || f.changed(chain):
		return s.After(f.alteration()).named(named, returned), err
	case otherConvention(named, f.drops()):
		return s.After(max(f.alteration(), s.ofOtherConvention())).named(named, returned), nil
	case f.leavesOut(e, chain), !inRust && f.language == langRust && rustclosure.Of(f.data, e) != rustclosure.Told:
		return s.After(ChangedArguments).named(named, returned), nil
	}
	s.Local = f.alteration()
	if s.Local == ChangedArguments || f.language == langRust && f.tellsChange(chain) || f.unoptimized.Is(e) {
		s.Local = Unchanged
	}
	s.Open = !s.OnlyResult && f.open(chain)
	return s.named(named, returned), nil
}

// named gives the values their names and types. Those whose places are known are as many.
func (s *Signature) named(arguments, results []Value) *Signature {
	if s == nil {
		return nil
	}
	with := func(list, places []Value) []Value {
		for i := range list {
			if len(places) == len(list) && !list[i].dropped {
				list[i].Pieces, list[i].Indirect = list[i].withGaps(places[i].Pieces), places[i].Indirect
				list[i].Scattered = places[i].Scattered
			}
		}
		return list
	}
	s.Arguments, s.Results = with(arguments, s.Arguments), with(results, s.Results)
	for i := range s.Results {
		s.Results[i].Result = true
	}
	return s
}

// goCalled is signature for Go; nil where its debug information does not tell all types.
func goCalled(convention *gofunc.ABI, params, results []dwarf.Type, changed bool) *Signature {
	s := goSignature(convention, params, results)
	if s == nil || params == nil && results == nil {
		return nil
	}
	if changed {
		return s.After(ChangedArguments)
	}
	s.Open = len(params)+len(results) == 0 // of assembly nothing is said
	if s.Open && len(convention.Ints) == 0 {
		s.Result = []Word{unknown} // behind arguments of which nobody knows the size
	}
	return s
}

// parameters gives the types of the parameters of e; of Go those of the results stand
// among them, some of them twice, by one name. nil, nil: they are not known.
func (f *finder) parameters(e *dwarfinfo.Entry) (params, results []dwarf.Type, err error) {
	params = []dwarf.Type{}
	seen := map[string]bool{}
	known := true
	err = f.eachParameter(e, func(p *dwarfinfo.Entry) error {
		name, _ := p.Val(dwarf.AttrName).(string)
		if f.language == langGo && seen[name] {
			return nil
		}
		seen[name] = name != "" && name != "_"
		t, err := f.typeOf(f.data.Origins(p))
		if known = known && t != nil; err != nil || !known {
			return err
		}
		if variable, _ := p.Val(dwarf.AttrVarParam).(bool); variable {
			results = append(results, t)
		} else {
			params = append(params, t)
		}
		return nil
	})
	if err != nil || !known {
		return nil, nil, err
	}
	return params, results, nil
}

// open reports whether a function takes arguments that are not declared: those behind the … of C, and the lengths of
// strings of Fortran.
func (f *finder) open(chain []*dwarfinfo.Entry) bool {
	if fortran[f.language] {
		return true
	}
	for _, e := range chain {
		more := false
		err := f.children(e, func(p *dwarfinfo.Entry) error {
			more = more || p.Tag == dwarf.TagUnspecifiedParameters
			return nil
		})
		if more || err != nil {
			return true
		}
	}
	return false
}

func (f *finder) typeOf(chain []*dwarfinfo.Entry) (dwarf.Type, error) {
	off, ok := dwarfinfo.Attribute(chain, dwarf.AttrType).(dwarf.Offset)
	if !ok {
		return nil, nil
	}
	if f.language != langGo {
		return f.typeAt(off, 0)
	}
	return f.goType(off, 0)
}
