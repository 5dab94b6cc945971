package binary

import (
	"slices"

	"github.com/startrace/startrace/internal/abi"
	"github.com/startrace/startrace/internal/location"
	"github.com/startrace/startrace/internal/signature"
)

// Changed is what debug information says of the function at an address, whose calls a compiler may have changed: where
// the ABI does not tell any more where an argument is, it is where debug information has it at the first instruction.
func (f *Finder) Changed(at *File, addr uint64, by signature.Alteration) *signature.Signature {
	return f.toldAtStart(at, addr, f.Types(at, addr).After(by))
}

// toldAtStart gives arguments without a place that of the debug information.
func (f *Finder) toldAtStart(at *File, addr uint64, s *signature.Signature) *signature.Signature {
	if s == nil || !slices.ContainsFunc(s.Arguments, placeless) {
		return s
	}
	l := f.knownLocals(at)
	if l == nil {
		return s
	}
	list, err := l.AtStart(addr)
	if err != nil { // what is damaged tells nothing
		return s
	}
	out := *s
	out.Arguments = slices.Clone(s.Arguments)
	for i := range out.Arguments {
		for k := range list {
			if v := &out.Arguments[i]; placeless(*v) && v.Name == list[k].Name && v.Type == list[k].Type {
				atPlace(v, list[k].Place)
			}
		}
	}
	return &out
}

func placeless(v signature.Value) bool { return len(v.Pieces) == 0 && v.Name != "" }

// atPlace gives a value the place where its function begins: a register, several, a constant, or one that no program of
// the kernel can read.
func atPlace(v *signature.Value, p location.Place) {
	switch p.Kind {
	case location.Held:
		switch p.Value.Op {
		case location.Register:
			v.Pieces = []signature.Piece{inRegister(0, 8, p.Value.Name)}
		case location.Const:
			v.Constant, v.IsConstant = p.Value.N, true
		}
	case location.Unreadable:
		v.Pieces = []signature.Piece{{Place: abi.Place{Where: abi.Other, Bytes: 8}}}
	case location.Split:
		var pieces []signature.Piece
		for _, part := range p.Fragments {
			if part.Kind != location.Held || part.Value.Op != location.Register {
				return
			}
			pieces = append(pieces, inRegister(part.At, part.Bytes, part.Value.Name))
		}
		v.Pieces = pieces
	}
}

func inRegister(at, bytes int, name string) signature.Piece {
	return signature.Piece{At: at, Place: abi.Place{Where: abi.Register, Name: name, Bytes: bytes}}
}
