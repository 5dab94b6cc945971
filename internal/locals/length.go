package locals

import (
	"debug/dwarf"

	"github.com/startrace/startrace/internal/dwarfinfo"
	"github.com/startrace/startrace/internal/location"
)

// The length of arrays that the program computes. Compilers keep the number, or the highest index, for the debugger.
// The entry of the dimension has an expression that computes it, or refers to the entry of a variable that the compiler
// has made for it:
//
//	gcc -O0     DW_AT_upper_bound  DW_OP_fbreg -88, DW_OP_deref
//	gcc -O2     DW_AT_upper_bound  → DW_TAG_variable, artificial, with a list of places
//	clang       DW_AT_count        → DW_TAG_variable __vla_expr0, artificial

// Length gives how many elements a dimension of an array has at an instruction, of a dimension by its place in the
// debug information. It is a variable without a name, Held, or Nowhere where the number is not kept.
func (f *Finder) Length(pc uint64, line SourceLine, dimension dwarf.Offset) (Variable, error) {
	nowhere := Variable{}
	d, err := f.Data.Entry(dimension)
	if err != nil || d == nil {
		return nowhere, err
	}
	w, err := f.walkTo(pc, line)
	if w == nil || err != nil || w.unsettled() {
		return nowhere, err
	}
	n, err := w.bound(d, dwarf.AttrCount)
	if n != nil || err != nil {
		return held(n), err
	}
	if n, err = w.bound(d, dwarf.AttrUpperBound); n != nil {
		n = location.Plus(n, 1)
	}
	return held(n), err
}

// held is a number as a variable; nil: it is nowhere.
func held(n *location.Expr) Variable {
	if n == nil {
		return Variable{}
	}
	return Variable{Place: location.Place{Kind: location.Held, Value: n}}
}

// bound is the number that an attribute of a dimension stands for; nil where it has none, or it is not kept.
func (w *walk) bound(d *dwarfinfo.Entry, attribute dwarf.Attr) (*location.Expr, error) {
	switch of := d.Val(attribute).(type) {
	case []byte: // the expression gives the number, and not where it is
		if p := location.Of(of, w.frame(d)); p.Kind == location.Memory || p.Kind == location.Held {
			return p.Value, nil
		}
	case dwarf.Offset:
		e, err := w.instance(of)
		if err != nil || e == nil {
			return nil, err
		}
		return w.number(e)
	}
	return nil, nil
}

// instance is the entry that the code here has of one that is referred to: of a function that was inlined each copy has
// its own.
func (w *walk) instance(of dwarf.Offset) (found *dwarfinfo.Entry, err error) {
	for _, e := range w.within {
		err = w.Data.EachChild(e, func(kid *dwarfinfo.Entry) (bool, error) {
			if kid.Tag != dwarf.TagVariable && kid.Tag != dwarf.TagFormalParameter {
				return true, nil
			}
			for _, x := range w.Data.Origins(kid) {
				if x.Offset == of {
					found = kid
				}
			}
			return true, nil
		})
		if err != nil {
			return nil, err
		}
	}
	if found != nil {
		return found, nil
	}
	return w.Data.Entry(of)
}

// number is the value of a variable that is an int; nil where it is not kept.
func (w *walk) number(e *dwarfinfo.Entry) (*location.Expr, error) {
	chain := w.Data.Origins(e)
	p, _, err := w.place(e, chain)
	if err != nil || p.Address {
		return nil, err
	}
	off, _ := dwarfinfo.Attribute(chain, dwarf.AttrType).(dwarf.Offset)
	size, signed, err := w.intType(off)
	if err != nil || size == 0 {
		return nil, err
	}
	n := p.Value
	switch p.Kind {
	case location.Memory:
		n = &location.Expr{Op: location.Load, Size: size, Args: []*location.Expr{n}}
	case location.Held:
	default:
		return nil, nil
	}
	if size == 8 {
		return n, nil
	}
	return &location.Expr{Op: location.Extend, Size: size, Signed: signed, Args: []*location.Expr{n}}, nil
}

// intType is of how many bytes a type of ints is, behind names of it, and whether it has a sign; 0 for other types.
func (w *walk) intType(off dwarf.Offset) (size int, signed bool, err error) {
	for range maxDepth {
		e, err := w.Data.Entry(off)
		if err != nil || e == nil {
			return 0, false, err
		}
		if e.Tag == dwarf.TagBaseType {
			n, _ := e.Val(dwarf.AttrByteSize).(int64)
			encoding, _ := e.Val(dwarf.AttrEncoding).(int64)
			if n != 1 && n != 2 && n != 4 && n != 8 {
				n = 0
			}
			return int(n), encoding == encodingSigned || encoding == encodingSignedChar, nil
		}
		next, ok := e.Val(dwarf.AttrType).(dwarf.Offset)
		if !ok {
			break
		}
		off = next
	}
	return 0, false, nil
}
