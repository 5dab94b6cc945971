package signature

import (
	"debug/dwarf"
	"fmt"
	"slices"
	"strings"

	"github.com/ianlancetaylor/demangle"

	"github.com/startrace/startrace/internal/abi"
	"github.com/startrace/startrace/internal/dwarfinfo"
	"github.com/startrace/startrace/internal/entryplace"
)

// Whether the compiler has moved the arguments of a function, as of clones .isra and .constprop.

// changed reports whether the compiler may have moved the parameters of a function: gcc
// and clang do so with functions that only their own unit calls. gcc gives what it makes
// another name (AlterationOf), clang tells nobody.
func (f *finder) changed(chain []*dwarfinfo.Entry) bool {
	if f.language == langGo {
		name, _ := dwarfinfo.Attribute(chain, dwarf.AttrName).(string)
		return strings.Contains(name, "[") // a dictionary takes a register
	}
	producer := f.producer()
	if convention, _ := dwarfinfo.Attribute(chain, dwarf.AttrCalling).(int64); otherConventions[convention] {
		return true
	}
	external, _ := dwarfinfo.Attribute(chain, dwarf.AttrExternal).(bool)
	return !external && !strings.HasPrefix(producer, "GNU ") && !f.tellsChange(chain) && !f.unoptimized.Is(chain[0])
}

// tellsChange reports whether the compiler would say so if it had changed a function. LLVM says nothing of one that the
// description of a type declares, as the methods of Rust.
func (f *finder) tellsChange(chain []*dwarfinfo.Entry) bool {
	return tellsChanges(f.producer()) && !slices.ContainsFunc(chain, func(e *dwarfinfo.Entry) bool {
		return e.Has(dwarf.AttrSpecification)
	})
}

// saysNoTypes reports whether the unit describes functions without their parameters and results, as that of gcc -g1 and
// of rustc -C debuginfo=1: nothing in it has a type, and its compiler would have told some.
func (f *finder) saysNoTypes() bool {
	if f.language == langGo {
		return false
	}
	level, llvm := debugLevel(f.producer()), !strings.HasPrefix(f.producer(), "GNU ")
	none, tells := true, level > 1
	// Of what is damaged nothing is said. Other units have a type among the first.
	_ = f.data.EachChild(f.unit, func(e *dwarfinfo.Entry) (bool, error) {
		none = (typeless[e.Tag] || level == 1 && e.Tag == dwarf.TagImportedUnit) && !e.Has(dwarf.AttrType)
		// Compilers say the one, and LLVM the other, only where they say what a function returns.
		tells = tells || level == 0 && e.Tag == dwarf.TagSubprogram && (e.Has(dwarf.AttrPrototyped) ||
			llvm && e.Has(dwarf.AttrExternal))
		return none, nil
	})
	return none && !tells
}

// typeless are entries of units that need not know any type: gcc -g1 has variables without one, and the base types of
// those that a header declares, to which nothing refers.
var typeless = map[dwarf.Tag]bool{dwarf.TagSubprogram: true, dwarf.TagNamespace: true, dwarf.TagLexDwarfBlock: true,
	dwarf.TagVariable: true, dwarf.TagBaseType: true}

// debugLevel is how much debug information gcc was told to write, by the flags that it notes: 1 is without types. 0: it
// is not gcc, or notes none. A flag without a level means 2 at least.
func debugLevel(producer string) (level int) {
	if !strings.HasPrefix(producer, "GNU ") {
		return 0
	}
	for _, flag := range strings.Fields(producer) {
		rest, ok := strings.CutPrefix(flag, "-g")
		rest = strings.TrimPrefix(rest, "gdb")
		switch {
		case !ok:
		case rest == "" || rest == "dwarf" || strings.HasPrefix(rest, "dwarf-"):
			level = max(level, 2)
		case len(rest) == 1 && rest[0] >= '0' && rest[0] <= '3':
			level = int(rest[0] - '0')
		}
	}
	return level
}

// leavesOut reports whether debug information has less parameters than the linker's name of the function, as clang at
// -O0 says nothing of one that is passed by its address and not used. Then nobody knows which ones it has.
func (f *finder) leavesOut(e *dwarfinfo.Entry, chain []*dwarfinfo.Entry) bool {
	if !f.cpp() {
		return false
	}
	name, _ := dwarfinfo.Attribute(chain, dwarf.AttrLinkageName).(string)
	want, ok := parametersOf(name)
	if !ok {
		return false
	}
	has := 0
	err := f.eachParameter(e, func(p *dwarfinfo.Entry) error {
		if made, _ := dwarfinfo.Attribute(f.data.Origins(p), dwarf.AttrArtificial).(bool); !made {
			has++
		}
		return nil
	})
	return err == nil && has < want
}

// parametersOf is how many parameters a name of C++ tells of, without the object of a method; false where it does not
// tell.
func parametersOf(name string) (n int, ok bool) {
	parsed, err := demangle.ToAST(name, demangle.MaxLength(maxMangled))
	if err != nil {
		return 0, false
	}
	typed, ok := parsed.(*demangle.Typed)
	if !ok {
		return 0, false
	}
	is := typed.Type
	if m, ok := is.(*demangle.MethodWithQualifiers); ok {
		is = m.Method
	}
	function, ok := is.(*demangle.FunctionType)
	if !ok {
		return 0, false
	}
	for _, a := range function.Args {
		switch a := a.(type) {
		case *demangle.PackExpansion:
			return 0, false
		case *demangle.ExprList: // those of a pack
			n += len(a.Exprs)
			continue
		case *demangle.BuiltinType:
			if a.Name == "..." {
				continue
			}
		}
		n++
	}
	return n, true
}

// maxMangled bounds the bytes of a name that is taken apart, as a power of two.
const maxMangled = 16

// otherConventions are those that the ABI of C does not describe (DW_CC_…): nocall, by which a function does not keep
// to the convention of its type, and of LLVM vectorcall, those of Windows, of Intel's OpenCL, and of Swift, regcall,
// preserve_none and those of vectors of RISC-V and of calls of Swift that end a function.
var otherConventions = map[int64]bool{3: true, 0xc0: true, 0xc1: true, 0xc5: true, 0xc8: true, 0xcb: true, 0xcd: true,
	0xce: true, 0xcf: true}

// otherConvention reports whether parameters are where the ABI does not have them. marked: the compiler marks functions
// that have other registers.
func otherConvention(named []Value, marked bool) bool {
	seen := map[entryplace.Verdict]bool{}
	for i := range named {
		seen[named[i].verdict] = true
	}
	return seen[entryplace.Foreign] || !marked && seen[entryplace.Moved] && !seen[entryplace.Same]
}

// ofOtherConvention is what is unknown of a function that has one: of most of them results of one register are where
// those of C are, structs are not.
func (s *Signature) ofOtherConvention() Alteration {
	if s.composite {
		return ChangedResult
	}
	return ChangedArguments
}

// mayDropAddress reports whether a function of Rust may keep to itself where it put its result. LLVM does not say so of
// those that are private: the caller knows the address, so that it need not come back in a register.
func (f *finder) mayDropAddress(e *dwarfinfo.Entry, chain []*dwarfinfo.Entry) bool {
	external, _ := dwarfinfo.Attribute(chain, dwarf.AttrExternal).(bool)
	return !external && !f.unoptimized.Is(e)
}

// loseAddress says of a result in memory that nobody knows where it is.
func (s *Signature) loseAddress() {
	for i := range s.Results {
		if v := &s.Results[i]; v.Indirect {
			v.Pieces[0].Where = abi.Nowhere
			s.Result[i].Unknown = true
		}
	}
}

// alteration is what an optimizer may have done to a function of which it changes the calls: that of LLVM takes a
// result away, too, that no caller uses.
func (f *finder) alteration() Alteration {
	if f.language == langGo || strings.HasPrefix(f.producer(), "GNU ") {
		return ChangedArguments
	}
	return ChangedResult
}

// tellsChanges reports whether a compiler says so of functions that it changed, as Rust 1.95 does: with optimization of
// all that are private, since its LLVM may call them as it likes.
func tellsChanges(producer string) bool {
	_, text, found := strings.Cut(producer, "rustc version ")
	var major, minor int
	_, err := fmt.Sscanf(text, "%d.%d", &major, &minor)
	return found && err == nil && (major > 1 || minor >= 95)
}

// An Alteration is what the compiler may have done to how a function is called.
type Alteration uint8

// What may have changed.
const (
	// Unchanged: it is called as its type says.
	Unchanged Alteration = iota
	// ChangedArguments: nobody knows where its arguments are.
	ChangedArguments
	// ChangedResult: nor whether it returns what its type says: gcc takes a result away that no caller uses.
	ChangedResult
)

// alterations are what the compilers' marks in the names of symbols mean.
var alterations = []struct {
	mark string
	is   Alteration
}{
	{".isra.", ChangedResult}, {".part.", ChangedResult},
	{".constprop.", ChangedArguments}, {".cold", ChangedArguments}, {".llvm.", ChangedArguments},
}

// coroutineParts end the names of the functions that clang makes of a coroutine of C++, where that goes on and ends.
// They get the coroutine's frame, though debug information has the parameters of the source.
var coroutineParts = []string{".resume", ".destroy", ".cleanup"}

// AlterationOf is what the name of a symbol says: gcc and clang mark copies of functions that they have changed.
func AlterationOf(symbol string) (most Alteration) {
	ends := func(part string) bool { return strings.HasSuffix(symbol, part) }
	if strings.HasPrefix(symbol, "_Z") && slices.ContainsFunc(coroutineParts, ends) {
		return ChangedArguments
	}
	for _, a := range alterations {
		if strings.Contains(symbol, a.mark) {
			most = max(most, a.is)
		}
	}
	return most
}
