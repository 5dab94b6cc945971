package signature

import (
	"debug/dwarf"
	"fmt"
	"slices"
	"strings"

	"github.com/startrace/startrace/internal/abi"
	"github.com/startrace/startrace/internal/dwarfinfo"
	"github.com/startrace/startrace/internal/entryplace"
	"github.com/startrace/startrace/internal/location"
	"github.com/startrace/startrace/internal/unoptimized"
)

// Value and Piece: an argument with its name, type and places.

// A Value is an argument or a result as its author wrote it: with a name, and of a type.
type Value struct {
	// Name is "" of results of C, and of parameters without one.
	Name string
	// Type is its place in the debug information; 0: it is not said.
	Type dwarf.Offset
	// Pieces are where its bytes are. None: nobody knows.
	Pieces []Piece
	// IsConstant: it is Constant at each call.
	Constant   int64
	IsConstant bool
	// Result: it is returned.
	Result bool
	// gaps are parts of its bytes of which the compiler says of no place that they are there, from the first byte to
	// behind the last.
	gaps [][2]int
	// entry is where the compiler says that it is when the function begins.
	entry location.Place
	// verdict says whether that is where the ABI has it.
	verdict entryplace.Verdict
	// dropped: the compiler says of no place that it is there, so callers may pass nothing for it.
	dropped bool
	// Indirect: the one piece holds the address of the value. Scattered: pieces on the stack do not lie there as in the
	// value.
	Indirect, Scattered bool
}

// A Piece is a part of a value: the bytes from At on are at Place.
type Piece struct {
	At int
	abi.Place
	// Lost: callers need not pass it, as the function does not use it.
	Lost bool
}

// InMemory reports whether the value lies on the stack, whole.
func (v *Value) InMemory() bool {
	return !v.Indirect && !v.Scattered && len(v.Pieces) > 0 && v.Pieces[0].Where == abi.Stack
}

// pieces are those of a value of C at its place.
func pieces(v abi.Value, l abi.Location) (out []Piece) {
	at := 0
	for _, p := range l.Places {
		if !l.Indirect && p.Where != abi.Stack && floats(v, at, p.Bytes) {
			p.Where = abi.Other
		}
		out = append(out, Piece{At: at, Place: p})
		at += p.Bytes
	}
	return out
}

// values are the parameters of a function, and those results of Go that stand among them, without their places.
func (f *finder) values(e *dwarfinfo.Entry) (params, results []Value, err error) {
	seen := map[string]bool{}
	err = f.eachParameter(e, func(p *dwarfinfo.Entry) error {
		chain := f.data.Origins(p)
		v := Value{}
		v.Name, _ = dwarfinfo.Attribute(chain, dwarf.AttrName).(string)
		if f.language == langGo && seen[v.Name] {
			return nil
		}
		for n := 2; seen[v.Name]; n++ { // of a pack
			if name := fmt.Sprintf("%s_%d", v.Name, n); !seen[name] {
				v.Name = name
				break
			}
		}
		seen[v.Name] = v.Name != "" && v.Name != "_"
		v.Type, _ = dwarfinfo.Attribute(chain, dwarf.AttrType).(dwarf.Offset)
		if f.language != langGo {
			f.atEntry(&v, p, e)
		}
		if variable, _ := p.Val(dwarf.AttrVarParam).(bool); variable {
			results = append(results, v)
		} else {
			params = append(params, v)
		}
		return nil
	})
	return params, results, err
}

// atEntry says what the compiler tells of the place of a parameter when its function begins.
func (f *finder) atEntry(v *Value, p, function *dwarfinfo.Entry) {
	lost := false
	v.entry, lost = entryplace.Of(p, function, f.producer(), f.arch)
	if !f.drops() {
		return
	}
	v.gaps = entryplace.Gaps(v.entry)
	if lost = lost && !unoptimized.KeptByAddress(p, function); lost {
		if gaps, inParts := entryplace.LaterGaps(p, function, f.arch); inParts {
			v.gaps, lost = gaps, false
		}
	}
	v.dropped = lost || !p.Has(dwarf.AttrLocation) && !p.Has(dwarf.AttrConstValue)
}

// drops reports whether the compiler leaves arguments out that a function does not use. gcc says nothing of some that
// are there (an __int128 at -O1), and passes all, but where it makes a clone. Go keeps to its ABI, too.
func (f *finder) drops() bool {
	return f.language != langGo && !strings.HasPrefix(f.producer(), "GNU ")
}

// tagParameterPack has the parameters that a pack of C++ has come to (DW_TAG_GNU_formal_parameter_pack).
const tagParameterPack = dwarf.Tag(0x4108)

// eachParameter goes over the parameters of a function.
func (f *finder) eachParameter(e *dwarfinfo.Entry, each func(*dwarfinfo.Entry) error) error {
	return f.children(e, func(p *dwarfinfo.Entry) error {
		switch p.Tag {
		case dwarf.TagFormalParameter:
			return each(p)
		case tagParameterPack:
			return f.eachParameter(p, each)
		}
		return nil
	})
}

// inGap reports whether all of the bytes from at on are nowhere. Of a word of which the function uses a part, callers
// pass the whole.
func (v *Value) inGap(at, bytes int) bool {
	for i := at; i < at+bytes; i++ {
		if !slices.ContainsFunc(v.gaps, func(g [2]int) bool { return i >= g[0] && i < g[1] }) {
			return false
		}
	}
	return true
}

// withGaps marks the pieces that are nowhere.
func (v *Value) withGaps(list []Piece) []Piece {
	for i := range list {
		list[i].Lost = list[i].Where != abi.Other && v.inGap(list[i].At, max(list[i].Bytes, 1))
	}
	return list
}

// found reports whether it is known where each byte is.
func (v *Value) found() bool {
	return len(v.Pieces) > 0 && !v.dropped && !slices.ContainsFunc(v.Pieces, func(p Piece) bool {
		return p.Lost || p.Where == abi.Nowhere
	})
}

// Put gives a value the place where its function begins: a register, several, a constant, or one that no program of
// the kernel can read.
func (v *Value) Put(p location.Place) {
	switch p.Kind {
	case location.Held:
		switch p.Value.Op {
		case location.Register:
			v.Pieces = []Piece{inRegister(0, 8, p.Value.Name)}
		case location.Const:
			v.Constant, v.IsConstant = p.Value.N, true
		}
	case location.Unreadable:
		v.Pieces = []Piece{{Place: abi.Place{Where: abi.Other, Bytes: 8}}}
	case location.Split:
		var pieces []Piece
		for _, part := range p.Fragments {
			if part.Kind != location.Held || part.Value.Op != location.Register {
				return
			}
			pieces = append(pieces, inRegister(part.At, part.Bytes, part.Value.Name))
		}
		v.Pieces = pieces
	}
}

func inRegister(at, bytes int, name string) Piece {
	return Piece{At: at, Place: abi.Place{Where: abi.Register, Name: name, Bytes: bytes}}
}
