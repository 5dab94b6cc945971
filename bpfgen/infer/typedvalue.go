package infer

import (
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/abi"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/signature"
)

// Arguments and results of user functions as values of the types that debug information tells, and FAULT where no place
// is known. Types of programs are numbered behind those of the kernel, so fields, elements and strings behind them are
// read as the kernel's are; but memory that a program's pointer leads to is that of a process.

// values are the arguments of a user function that have names and types.
func (a *funcArgs) values() []signature.Value {
	if s := a.f.Known(); s != nil {
		return s.Arguments
	}
	return nil
}

// named is the argument of that name; false where none is known.
func (a *funcArgs) named(b *body, name string, pos plan.Pos) (val, bool) {
	values := a.values()
	for i := range values {
		if values[i].Name != name || name == "" {
			continue
		}
		from := b
		if a.start != nil {
			from = a.start
		}
		return b.argWords().typedValue(from, a.f, &values[i], pos), true
	}
	return val{}, false
}

// typedValue is an argument or a result of a user function, in the program from.
func (b argWords) typedValue(from *body, f *funcView, v *signature.Value, pos plan.Pos) val {
	id, err := f.Type(v)
	if err != nil {
		wrong(pos, "the type of %s is not known: %v", orResult(v.Name), err)
	}
	btf := b.u.btf(pos)
	id = btf.Skip(id)
	t, err := btf.Type(id)
	parts := t.Kind == kernel.KindStruct || t.Kind == kernel.KindUnion || t.Kind == kernel.KindArray
	switch {
	case err != nil:
		wrong(pos, "%v", err)
	case v.IsConstant && !parts && t.Kind != kernel.KindFloat && t.Size <= 8:
		return b.typedWord(intExpr(v.Constant, pos), id, pos)
	case len(v.Pieces) == 0 || v.Pieces[0].Where == abi.Nowhere:
		return b.nowhere(id, t, pos)
	case parts && (v.Indirect || v.InMemory()):
		return b.memory().read(b.placeOf(from, v, pos), id, orResult(v.Name), pos)
	case parts:
		s := &regStruct{id: id, in: b.body}
		for _, p := range v.Pieces {
			s.words = append(s.words, b.pieceOf(from, p, pos))
		}
		return b.memory().inWords(s, pos)
	case v.Pieces[0].Where == abi.Other, t.Kind == kernel.KindFloat:
		return exprVal(unreadable(pos))
	case t.Kind == kernel.KindInt && t.Size == 16:
		return b.wideInt(from, v, t.Signed, pos)
	case t.Size > 8:
		refuse(pos, "%s has %d bytes; a kernel half computes with 64 bits", orResult(v.Name), t.Size)
	}
	word := b.carry(from, from.argWords().wordAt(v.Pieces[0].Place, tree.User, pos))
	if v.Result {
		return b.resultWord(word, t, pos)
	}
	return b.typedWord(word, id, pos)
}

// pieceOf is a word of a struct that registers hold.
func (b argWords) pieceOf(from *body, p signature.Piece, pos plan.Pos) wordIn {
	w := wordIn{from: from, space: tree.User, at: p.At, Place: p.Place}
	if p.Lost {
		w.expr = lost(pos)
	}
	return w
}

// resultWord is a result of one word: the number that it is where no types are known, too. So a bool is 0 or 1, and a
// char * an address.
func (b argWords) resultWord(word *tree.Expr, t kernel.Type, pos plan.Pos) val {
	switch {
	case t.Kind == kernel.KindPtr && !b.memory().isChar(t.Elem, pos):
		return b.typedWord(word, t.ID, pos)
	case t.Kind == kernel.KindPtr || t.Kind == kernel.KindProto: // Go's functions are addresses of what they have
		return exprVal(as(word, types.I64, pos))
	case t.Size != 1 && t.Size != 2 && t.Size != 4 && t.Size != 8:
		return unknownKind(pos)
	}
	return exprVal(b.memory().asNamed(as(word, types.IntOf(uint8(8*t.Size), t.Signed), pos), t, pos))
}

// unknownKind is a value of a type of a program that there is no form for, as a complex number: FAULT, which says that
// it is not shown, and not that it could not be read.
func unknownKind(pos plan.Pos) val {
	return exprVal(&tree.Expr{Op: tree.OpUnreadable, Type: types.I64.OrFault(), Int: tree.Unshown, Pos: pos})
}

// unknownPlace is the value of which nobody knows where it is.
func unknownPlace(pos plan.Pos) val { return exprVal(lost(pos)) }

// lost is the FAULT of what nobody knows any more.
func lost(pos plan.Pos) *tree.Expr {
	return &tree.Expr{Op: tree.OpUnreadable, Type: types.I64.OrFault(), Int: tree.Lost, Pos: pos}
}

// nowhere is a value of a type of which nobody knows where it is: FAULT, and so is all that it leads to.
func (b argWords) nowhere(id kernel.TypeID, t kernel.Type, pos plan.Pos) val {
	btf := b.u.btf(pos)
	switch t.Kind {
	case kernel.KindFloat:
		return exprVal(absentFloat(t, tree.Lost, pos))
	case kernel.KindEnum:
		return exprVal(b.memory().asNamed(lost(pos), t, pos))
	case kernel.KindInt:
		if t.Size == 16 {
			return objVal(&regStruct{id: id, nowhere: true})
		}
	case kernel.KindPtr:
		if kernel.IsReference(btf, t) {
			return b.memory().gone(t.Elem, pos)
		}
		if p := b.memory().pointerType(t, pos); p.Leads() && !b.memory().isChar(t.Elem, pos) {
			gone := &tree.Expr{Op: tree.OpUnreadable, Type: p.OrFault(), Int: tree.Lost, Pos: pos}
			return b.memory().asGo(exprVal(gone), t.ID, pos)
		}
	case kernel.KindArray:
		if _, ok := kernel.CountedAt(btf, id); ok || t.Open {
			at := memPlace{&tree.Expr{Op: tree.OpUnreadable, Type: types.U64.OrFault(), Int: tree.Lost, Pos: pos}, 0,
				tree.User, b.body}
			return b.memory().countedValue(&countedArray{at, t.Elem, lost(pos), true}, pos)
		}
		if t.Len <= maxArray && !b.memory().isChar(t.Elem, pos) {
			return objVal(&regStruct{id: id, nowhere: true})
		}
	case kernel.KindStruct, kernel.KindUnion:
		if _, text := kernel.TextOf(btf, id); !text {
			return b.memory().inWords(&regStruct{id: id, nowhere: true}, pos)
		}
	}
	return unknownPlace(pos)
}

// typedResult is e.ret by its type; of Go, which can return several values, a tuple of them.
func (b argWords) typedResult(f *funcView, results []signature.Value, pos plan.Pos) val {
	if len(results) == 1 {
		v := b.typedValue(b.body, f, &results[0], pos)
		if s, ok := v.obj.(*regStruct); ok {
			s.returned = f.Known().Result
		}
		return v
	}
	out := val{comp: true}
	for _, v := range results {
		v.Result = v.Result && !b.isBool(f, &v, pos) // it is a number only where it is all that e.ret is
		out.elems = append(out.elems, b.typedValue(b.body, f, &v, pos))
	}
	return out
}

// isBool reports whether debug information says that a value is a bool.
func (b argWords) isBool(f *funcView, v *signature.Value, pos plan.Pos) bool {
	id, err := f.Type(v)
	if err != nil {
		return false
	}
	btf := b.u.btf(pos)
	t, err := btf.Type(btf.Skip(id))
	return err == nil && t.Bool
}

// wideInt is an int of 128 bits as a tuple of two, the lower half first.
func (b argWords) wideInt(from *body, v *signature.Value, signed bool, pos plan.Pos) val {
	s := &regStruct{}
	for _, p := range v.Pieces {
		s.words = append(s.words, b.pieceOf(from, p, pos))
	}
	low, ok := s.wordAt(b.body, 0, 8, pos)
	high, ok2 := s.wordAt(b.body, 8, 8, pos)
	if !ok || !ok2 {
		return exprVal(unreadable(pos))
	}
	return inHalves(low, high, signed, pos)
}

// inHalves is an int of 128 bits: the tuple of its halves, the lower one first.
func inHalves(low, high *tree.Expr, signed bool, pos plan.Pos) val {
	if high.Op == tree.OpUnreadable {
		return val{comp: true, elems: []val{exprVal(low), exprVal(high)}}
	}
	return val{comp: true, elems: []val{exprVal(low), exprVal(as(high, types.IntOf(64, signed), pos))}}
}

// placeOf is where a value in memory begins.
func (b argWords) placeOf(from *body, v *signature.Value, pos plan.Pos) memPlace {
	if !v.Indirect {
		sp := b.carry(from, register(kernel.RegisterOffsets("").SP, pos))
		return memPlace{sp, int64(v.Pieces[0].Off), tree.User, b.body}
	}
	word := b.carry(from, from.argWords().wordAt(v.Pieces[0].Place, tree.User, pos))
	return memPlace{word, 0, tree.User, b.body}
}

// orResult names a value in messages.
func orResult(name string) string {
	if name == "" {
		return "the result"
	}
	return name
}

// inWords is a struct or an array that registers hold: a string of its language is a string.
func (b memory) inWords(s *regStruct, pos plan.Pos) val {
	btf := b.u.btf(pos)
	view, ok := kernel.TextOf(btf, s.id)
	if f, is := b.u.arrayIn(s.id, pos); is && f.Type == 0 {
		return val{comp: true}
	} else if is {
		of := *s
		of.off, of.id = s.off+f.Off, btf.Skip(f.Type)
		return objVal(&of)
	}
	if t, err := btf.Type(s.id); err == nil && t.Kind == kernel.KindArray && t.Len > 0 && b.isChar(t.Elem, pos) &&
		!s.nowhere {
		return s.chars(b.body, t.Len, pos)
	}
	if !ok {
		return b.inLanguage(objVal(s), s.id, pos)
	}
	address, known := s.wordAt(b.body, s.off+view.Address, 8, pos)
	length, known2 := s.wordAt(b.body, s.off+view.Length, view.LengthSize, pos)
	switch {
	case known && address.Op == tree.OpUnreadable:
		return exprVal(address)
	case known2 && length.Op == tree.OpUnreadable:
		return exprVal(length)
	case (!known || !known2) && s.split:
		return unknownPlace(pos)
	case !known || !known2:
		return exprVal(unreadable(pos))
	}
	return exprVal(b.text(address, length, view.Ahead, pos))
}

// text is a string of a program that lies ahead bytes behind an address, and of which the length is known.
func (b memory) text(address, length *tree.Expr, ahead int, pos plan.Pos) *tree.Expr {
	e := b.cstring(memPlace{address, int64(ahead), tree.User, b.body}, b.u.strMax+1, 0, pos)
	e.Args, e.Counted = append(e.Args, length), true
	return e
}

// textIn is a string of a program that lies in memory as a struct of its address and its length.
func (b memory) textIn(at memPlace, view kernel.TextView, pos plan.Pos) *tree.Expr {
	address, length := at, at
	address.off += int64(view.Address)
	length.off += int64(view.Length)
	n := load(length, types.IntOf(uint8(8*view.LengthSize), false), pos)
	return b.text(load(address, types.U64, pos), n, view.Ahead, pos)
}

// spaceOf is where a pointer to a type leads.
func (b memory) spaceOf(p types.Type, pos plan.Pos) tree.Space {
	switch to := p.BTF | p.Elem; {
	case p.Trusted:
		return tree.Kernel
	case to != 0 && b.u.btf(pos).OfProgram(to) && !kernel.OfScript(b.u.btf(pos), to):
		return tree.User
	}
	return tree.Auto
}

// spaceBehind is where a pointer leads whose type has the number id.
func (b memory) spaceBehind(id kernel.TypeID, pos plan.Pos) tree.Space {
	if b.u.btf(pos).OfProgram(id) && !kernel.OfScript(b.u.btf(pos), id) {
		return tree.User
	}
	return tree.Auto
}
