package infer

import (
	"strings"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/format"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
)

// e.args and e.ret of tracepoints, system calls and raw tracepoints, by the tracepoint's format or BTF.

// tracepointArgs is e.args by a tracepoint's format.
type tracepointArgs struct{ tp *kernel.Tracepoint }

// names leaves out the header that all tracepoints share.
func (a *tracepointArgs) names() []string {
	var out []string
	for _, f := range a.own() {
		out = append(out, f.Name)
	}
	return out
}

func (a *tracepointArgs) own() []kernel.TracepointField {
	var out []kernel.TracepointField
	for _, f := range a.tp.Fields {
		if !strings.HasPrefix(f.Name, "common_") {
			out = append(out, f)
		}
	}
	return out
}

func (a *tracepointArgs) get(b *body, name string, pos plan.Pos) (val, bool) {
	for _, f := range a.tp.Fields {
		if f.Name == name {
			return a.field(b, f, pos), true
		}
	}
	return val{}, false
}

func (a *tracepointArgs) at(b *body, i int, pos plan.Pos) (val, bool) {
	own := a.own()
	if i < 0 || i >= len(own) {
		return val{}, false
	}
	return a.field(b, own[i], pos), true
}

// argument is argument i of a system call.
func (a *tracepointArgs) argument(b *body, i int, pos plan.Pos) val {
	for _, f := range a.tp.Fields {
		if f.Arg == nil {
			continue
		}
		if i == 0 {
			return a.field(b, f, pos)
		}
		i--
	}
	return noneVal()
}

func ctxPlace(b *body, off int, pos plan.Pos) memPlace {
	return memPlace{&tree.Expr{Op: tree.OpCtx, Type: types.U64, Pos: pos}, int64(off), tree.Ctx, b}
}

// callResult is what a system call returns, at its end.
func callResult(b *body, pos plan.Pos) *tree.Expr {
	off := 8
	if b.prog.Attach.Exact() {
		off = 16
	}
	return load(ctxPlace(b, off, pos), types.I64, pos)
}

// field reads a field of the record that the context is.
func (a *tracepointArgs) field(b *body, f kernel.TracepointField, pos plan.Pos) val {
	at := ctxPlace(b, f.Off, pos)
	switch {
	case f.Arg != nil:
		v := b.argWords().syscallArg(load(at, types.U64, pos), *f.Arg, pos)
		return b.memory().takenArg(v, *f.Arg, func(i int) *tree.Expr { return b.rv(a.argument(b, i, pos), pos) })
	case f.DataLoc || f.RelLoc:
		return b.memory().dataLoc(f, at, pos)
	case f.IsString:
		at.space = tree.Kernel
		return exprVal(b.memory().cstring(at, f.Size+1, f.Size, pos))
	case f.Array:
		return b.memory().tracepointArray(f, at, pos)
	case f.Size > 8:
		refuse(pos, "%s has %d bytes; a kernel half computes with 64 bits", f.Name, f.Size)
	case b.u.facts.IsPointer(f):
		return b.memory().tracepointPointer(f, at, pos)
	}
	e := truthBit(load(at, types.IntOf(uint8(f.Size*8), f.Signed), pos), kernel.Type{Bool: f.CType == "bool"})
	if name, is := strings.CutPrefix(f.CType, "enum "); is {
		b.u.enums[e] = name
	}
	if a.tp.Group == "raw_syscalls" && f.Name == "id" {
		e = b.memory().rawNumber(e, pos)
	}
	return exprVal(e)
}

// tracepointPointer types a pointer by what the format calls it. A const
// char * is a string.
func (b memory) tracepointPointer(f kernel.TracepointField, at memPlace, pos plan.Pos) val {
	p := load(at, types.U64, pos)
	ctype := strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(f.CType), "*"))
	ctype = strings.TrimSpace(strings.TrimPrefix(ctype, "const "))
	if ctype == "char" {
		return exprVal(b.cstring(memPlace{p, 0, tree.Auto, b.body}, b.u.strMax+1, 0, pos))
	}
	t := b.pointerSpelled(f.CType)
	return exprVal(&tree.Expr{Op: tree.OpConvert, Type: t, Args: []*tree.Expr{p}, Pos: pos})
}

func (b memory) tracepointArray(f kernel.TracepointField, at memPlace, pos plan.Pos) val {
	n := f.ArrayLen
	if n <= 0 || f.Size%n != 0 || f.Size/n > 8 {
		refuse(pos, "%s is an array of %s, which have no form as numbers", f.Name, f.CType)
	}
	return objVal(&ctxArray{b.body, at, types.IntOf(uint8(f.Size/n*8), f.Signed), n, f.Name})
}

func (a *ctxArray) element(i int64, pos plan.Pos) val {
	i, ok := within(i, a.len)
	if !ok {
		wrong(pos, "index %d of %s, which has %s", i, a.fname, format.Count(a.len, "element"))
	}
	at := a.at
	at.off += i * int64(a.elem.Bits/8)
	return exprVal(load(at, a.elem, pos))
}

// everything is the array as a tuple of its elements.
func (a *ctxArray) everything(pos plan.Pos) val {
	v := val{comp: true}
	for i := range a.len {
		v.elems = append(v.elems, a.element(int64(i), pos))
	}
	return v
}

// rawArgs is e.args of a raw tracepoint, typed by BTF.
type rawArgs struct{ rt *kernel.RawTracepoint }

func (a *rawArgs) names() []string {
	var out []string
	for _, p := range a.rt.Params {
		if p.Name != "" {
			out = append(out, p.Name)
		}
	}
	return out
}

func (a *rawArgs) get(b *body, name string, pos plan.Pos) (val, bool) {
	for i, p := range a.rt.Params {
		if p.Name == name {
			return a.at(b, i, pos)
		}
	}
	return val{}, false
}

func (a *rawArgs) at(b *body, i int, pos plan.Pos) (val, bool) {
	if i < 0 || i >= len(a.rt.Params) {
		return val{}, false
	}
	raw := load(ctxPlace(b, 8*i, pos), types.U64, pos)
	if a.rt.Name == "sys_enter" && a.rt.Params[i].Name == "id" {
		return exprVal(b.memory().rawNumber(convert(raw, types.I64), pos)), true
	}
	return b.argWords().typedWord(raw, a.rt.Params[i].Type, pos), true
}

// typedWord gives a 64-bit argument the meaning of its C type.
func (b argWords) typedWord(raw *tree.Expr, id kernel.TypeID, pos plan.Pos) val {
	btf := b.u.btf(pos)
	t, err := kernel.Outline(btf, btf.Skip(id))
	if err != nil {
		wrong(pos, "%v", err)
	}
	switch t.Kind {
	case kernel.KindInt, kernel.KindEnum:
		if t.Size > 8 {
			refuse(pos, "a %s has %d bytes; a kernel half computes with 64 bits", btf.TypeName(id), t.Size)
		}
		e := raw
		if t.Size < 8 || t.Signed || t.Kind == kernel.KindEnum || raw.Type.Signed { // which a constant of 64 bits is
			e = orFault(raw, pos, func(there *tree.Expr) *tree.Expr {
				return truthBit(partOf(as(there, types.IntOf(uint8(t.Size*8), t.Signed), pos)), t)
			})
		}
		return exprVal(b.memory().asNamed(e, t, pos))
	case kernel.KindFloat:
		return exprVal(floatIn(raw, t, pos))
	case kernel.KindFwd:
		return unknownKind(pos)
	case kernel.KindPtr:
		if kernel.IsReference(btf, t) {
			return b.memory().read(memPlace{raw, 0, tree.User, b.body}, t.Elem, "the reference", pos)
		}
		if b.memory().isChar(t.Elem, pos) {
			space := b.memory().spaceBehind(t.ID, pos)
			return exprVal(b.memory().cstring(memPlace{raw, 0, space, b.body}, b.u.strMax+1, 0, pos))
		}
		p := b.memory().pointerType(t, pos)
		p.Trusted = p.BTF != 0 && p.Kind == types.Ptr
		return b.memory().asGo(exprVal(as(raw, p, pos)), t.ID, pos)
	case kernel.KindStruct, kernel.KindUnion, kernel.KindArray:
		return objVal(&regStruct{words: []wordIn{{from: b.body, expr: raw}}, id: btf.Skip(id), in: b.body})
	}
	return exprVal(raw)
}

// floatIn is a float of which a word has the bits.
func floatIn(word *tree.Expr, t kernel.Type, pos plan.Pos) *tree.Expr {
	f, ok := floatOf(t)
	if !ok {
		return unreadable(pos)
	}
	bits := types.IntOf(f.Bits, false)
	bits.MayFault = word.Type.MayFault
	f.MayFault = word.Type.MayFault
	return as(as(word, bits, pos), f, pos)
}

// taskArg is argument i of a raw tracepoint, a task_struct.
func (b argWords) taskArg(i int, pos plan.Pos) *tree.Expr {
	return b.asTask(load(ctxPlace(b.body, 8*i, pos), types.U64, pos), pos)
}

// asTask is an address as that of a task_struct.
func (b argWords) asTask(raw *tree.Expr, pos plan.Pos) *tree.Expr {
	return &tree.Expr{Op: tree.OpConvert, Type: b.task(pos).Type, Args: []*tree.Expr{raw}, Pos: pos}
}
