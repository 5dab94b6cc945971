package infer

import (
	"fmt"
	"strings"

	"github.com/startrace/startrace/bpfgen/fold"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/plan"
)

// A val is a value during the walk. Exactly one of these holds:
//
//   - c != nil: a constant of the script, a function, a container;
//   - obj != nil: something that only exists while compiling: the event, its
//     args, a row of an aggregation, a method;
//   - elems != nil (or comp): a tuple or record whose parts are known apart;
//   - expr != nil: a typed expression.
//
// A val with start set belongs to the program at the start of a span: its
// expression is evaluated there, and here() brings the result over.
type val struct {
	c     plan.Value
	obj   object
	comp  bool // tuple, or record if names != nil
	elems []val
	names []string
	expr  *tree.Expr
	start *body
	// field is the name by which a value of the span's start was asked for.
	field string
	// at is where a literal was written.
	at plan.Pos
}

// place is where to say that v cannot be used at pos: there, unless that is in the library, as where a verb uses the
// expression of the command line, which is what the author can change.
func (v val) place(pos plan.Pos) plan.Pos {
	at := v.at
	switch {
	case v.expr != nil:
		at = v.expr.Pos
	case len(v.elems) > 0:
		return v.elems[0].place(pos)
	}
	if at.IsValid() && inLibrary(pos) && !inLibrary(at) {
		return at
	}
	return pos
}

func inLibrary(pos plan.Pos) bool { return strings.HasPrefix(pos.Filename(), "std/") }

// object is a compile-time object; see event.go, container.go, struct.go.
type object interface{ what() string }

func intVal(i int64) val       { return constant(plan.MakeInt(i)) }
func boolVal(b bool) val       { return constant(plan.Bool(b)) }
func objVal(o object) val      { return val{obj: o} }
func exprVal(e *tree.Expr) val { return val{expr: e} }
func strVal(s string) val      { return constant(plan.String(s)) }
func noneVal() val             { return constant(plan.None{}) }
func (v val) isNone() bool     { _, ok := v.c.(plan.None); return ok }
func (v val) isRecord() bool   { return v.comp && v.names != nil }
func (v val) constInt() (int64, bool) {
	i, ok := v.c.(plan.Int)
	if !ok || !i.Big.IsInt64() {
		return 0, false
	}
	return i.Big.Int64(), true
}

func (v val) constStr() (string, bool) {
	s, ok := v.c.(plan.String)
	return string(s), ok
}

// constant is a value of the script.
func constant(c plan.Value) val {
	if o, ok := c.(plan.Opaque); ok && o.Type == plan.UnknownType {
		return objVal(poison{})
	}
	return val{c: c}
}

// typ gives the type that v has as a value of a kernel half.
func (v val) typ() types.Type {
	switch {
	case v.expr != nil:
		return v.expr.Type
	case v.comp:
		t := types.Type{Kind: types.Tuple, Names: v.names}
		if v.names != nil {
			t.Kind = types.Record
		}
		for _, e := range v.elems {
			t.Elems = append(t.Elems, e.typ())
		}
		return t
	case v.c != nil:
		return constType(v.c)
	}
	return types.Type{}
}

// constType is the type of a constant; Bot where it has none in the kernel.
func constType(c plan.Value) types.Type {
	switch c := c.(type) {
	case plan.None:
		return types.NoneT
	case plan.Bool:
		return types.Boolean
	case plan.Int:
		if !c.Big.IsInt64() && c.Big.IsUint64() {
			return types.U64
		}
		return types.I64
	case plan.String:
		return types.StrOf(len(c) + 1)
	case plan.Bytes:
		return types.Type{Kind: types.Bytes, Cap: len(c)}
	case plan.Tuple:
		t := types.Type{Kind: types.Tuple}
		for _, e := range c {
			t.Elems = append(t.Elems, constType(e))
		}
		return t
	case plan.Builtin:
		if fold.IsFault(c) {
			return faultT
		}
	case plan.Record:
		t := types.Type{Kind: types.Record}
		for _, f := range c {
			t.Elems = append(t.Elems, constType(f.Value))
			t.Names = append(t.Names, f.Name)
		}
		return t
	}
	return types.Type{}
}

// describe says in words what v is, for messages.
func (v val) describe() string {
	switch {
	case v.obj != nil:
		return v.obj.what()
	case v.c != nil:
		return describeConst(v.c)
	case v.isRecord():
		return "a record"
	case v.comp:
		return "a tuple"
	}
	return inWords(v.expr.Type)
}

func describeConst(c plan.Value) string {
	switch c := c.(type) {
	case plan.None:
		return "None"
	case plan.Bool:
		return "a bool"
	case plan.Int:
		if !fold.IsWord(c) {
			return fmt.Sprintf("an int of %d bits (an int of a kernel half has 64)", fold.Bits(c.Big))
		}
		return "an int"
	case plan.Float:
		return "a float"
	case plan.String:
		return "a string"
	case plan.Bytes:
		return "bytes"
	case plan.Tuple:
		return "a tuple"
	case plan.List:
		return "a list"
	case plan.Dict:
		return "a dict"
	case plan.Record:
		return "a record"
	case plan.Builtin:
		if fold.IsFault(c) {
			return "FAULT"
		}
		return "the builtin " + string(c)
	case plan.Ref:
		return "the " + c.Kind.String() + " " + name(c.Container)
	case plan.PointValue:
		return "a point"
	case plan.Opaque:
		return "a " + c.Type
	case *plan.Func:
		return "the function " + c.Name
	}
	return "a value"
}

// maxConst bounds the bytes of a constant: more do not fit into a record.
const maxConst = 8184

// intExpr makes the expression of a constant int.
func intExpr(n int64, pos plan.Pos) *tree.Expr { return constExpr(plan.MakeInt(n), pos) }

// binary makes the expression of an operator with two operands.
func operation(op tree.Op, t types.Type, x, y *tree.Expr, pos plan.Pos) *tree.Expr {
	return &tree.Expr{Op: op, Type: t, Args: []*tree.Expr{x, y}, Pos: pos}
}

// constExpr makes the expression of a constant.
func constExpr(c plan.Value, pos plan.Pos) *tree.Expr {
	e := &tree.Expr{Op: tree.OpConst, Type: constType(c), Pos: pos}
	switch c := c.(type) {
	case plan.None:
	case plan.Bool:
		if c {
			e.Int = 1
		}
	case plan.Int:
		mustBeWord(pos, c)
		e.Int = fold.Word(c.Big)
	case plan.String:
		if len(c) > maxConst {
			wrong(pos, "a string of %d bytes; a kernel half takes %d", len(c), maxConst)
		}
		e.Str = string(c)
	case plan.Bytes:
		e.Str = string(c)
	case plan.Tuple:
		e.Op = tree.OpTuple
		for _, x := range c {
			e.Args = append(e.Args, constExpr(x, pos))
		}
	case plan.Record:
		e.Op = tree.OpRecord
		for _, f := range c {
			e.Args = append(e.Args, constExpr(f.Value, pos))
		}
	case plan.Builtin:
		if !fold.IsFault(c) {
			refuse(pos, "%s cannot be a value in a kernel half%s", describeConst(c), instead(c))
		}
	default:
		refuse(pos, "%s cannot be a value in a kernel half%s", describeConst(c), instead(c))
	}
	return e
}

// instead says what to write where a constant cannot be a value.
func instead(c plan.Value) string {
	switch c.(type) {
	case plan.Float:
		return ": compute with ints here, of a smaller unit if need be"
	case plan.List:
		return ": use a tuple, or take one element"
	case plan.Dict:
		return ": look one key up, or use a table"
	case plan.Builtin:
		return ": call it"
	}
	return ""
}
