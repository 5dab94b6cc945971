package infer

import (
	"math"

	"fmt"

	"github.com/startrace/startrace/bpfgen/fold"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/plan"
)

// Expressions of trees made of others: constants, operations, conversions, choices; messages about strings and ints
// that are too large for a kernel half. They know nothing of the walk.

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
	case plan.Float:
		e.Int = int64(math.Float64bits(float64(c)))
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

// intExpr makes the expression of a constant int.
func intExpr(n int64, pos plan.Pos) *tree.Expr { return constExpr(plan.MakeInt(n), pos) }

// binary makes the expression of an operator with two operands.
func operation(op tree.Op, t types.Type, x, y *tree.Expr, pos plan.Pos) *tree.Expr {
	return &tree.Expr{Op: op, Type: t, Args: []*tree.Expr{x, y}, Pos: pos}
}

// maxConst bounds the bytes of a constant: more do not fit into a record.
const maxConst = 8184

func not(e *tree.Expr, pos plan.Pos) *tree.Expr {
	if e.Op == tree.OpLNot {
		return e.Args[0]
	}
	return &tree.Expr{Op: tree.OpLNot, Type: types.Boolean, Args: []*tree.Expr{e}, Pos: pos}
}

func logic(op tree.Op, x, y *tree.Expr, pos plan.Pos) *tree.Expr {
	if y.Op == tree.OpConst {
		if (y.Int != 0) == (op == tree.OpLAnd) {
			return x
		}
		return y
	}
	return &tree.Expr{Op: op, Type: types.Boolean, Args: []*tree.Expr{x, y}, Pos: pos}
}

// conditional is `x if c else y`; with a constant bool on one side it is a
// connective.
func conditional(c, x, y *tree.Expr, pos plan.Pos) *tree.Expr {
	if x.Type.Equal(types.Boolean) {
		switch {
		case y.Op == tree.OpConst && y.Int == 0:
			return logic(tree.OpLAnd, c, x, pos)
		case y.Op == tree.OpConst:
			return logic(tree.OpLOr, not(c, pos), x, pos)
		}
	}
	return &tree.Expr{Op: tree.OpCond, Type: x.Type, Args: []*tree.Expr{c, x, y}, Pos: pos}
}

// convert makes e a t; the types must have joined to t.
func convert(e *tree.Expr, t types.Type) *tree.Expr {
	if e.Type.Equal(t) {
		return e
	}
	if t.Label == types.Name.Label && e.Type.IsName() {
		e = asName(e)
	}
	return &tree.Expr{Op: tree.OpConvert, Type: t, Args: []*tree.Expr{e}, Pos: e.Pos}
}

func as(e *tree.Expr, t types.Type, pos plan.Pos) *tree.Expr {
	return &tree.Expr{Op: tree.OpConvert, Type: t, Args: []*tree.Expr{e}, Pos: pos}
}

// assume gives v without tag where a test has proved that there is a value.
func assume(e *tree.Expr) *tree.Expr {
	if !e.Type.MayNone && !e.Type.MayFault {
		return e
	}
	return &tree.Expr{Op: tree.OpAssume, Type: e.Type.Present(), Args: []*tree.Expr{e}, Pos: e.Pos}
}

// assumeNotNone drops the possibility of None, not that of FAULT.
func assumeNotNone(e *tree.Expr) *tree.Expr {
	if !e.Type.MayNone {
		return e
	}
	t := e.Type
	t.MayNone = false
	return &tree.Expr{Op: tree.OpAssume, Type: t, Args: []*tree.Expr{e}, Pos: e.Pos}
}

// chosen is the type of e as one of several values: a constant that is not negative takes the sign of the others.
func chosen(e *tree.Expr) types.Type {
	t := e.Type
	switch {
	case e.Op == tree.OpConst && t.Equal(types.I64) && e.Int >= 0:
		return types.LiteralOf(width(e))
	case e.Op == tree.OpTuple || e.Op == tree.OpRecord:
		t.Elems = make([]types.Type, len(e.Args))
		for i, a := range e.Args {
			t.Elems[i] = chosen(a)
		}
	}
	return t
}

func sameExpr(x, y *tree.Expr) bool {
	if x == y {
		return true
	}
	if x == nil || y == nil || x.Op != y.Op || x.Int != y.Int || x.Str != y.Str || x.Body != nil || y.Body != nil ||
		x.Bit != y.Bit || x.BitSize != y.BitSize || len(x.Args) != len(y.Args) || !x.Type.Equal(y.Type) {
		return false
	}
	for i := range x.Args {
		if !sameExpr(x.Args[i], y.Args[i]) {
			return false
		}
	}
	return true
}

// mustBeWord refuses constants of more than 64 bits: a kernel half would compute
// with the low ones alone.
func mustBeWord(pos plan.Pos, i plan.Int) {
	if !fold.IsWord(i) {
		refuse(pos, "%s has %d bits: an int of a kernel half has 64", i.Big, fold.Bits(i.Big))
	}
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
	case plan.Float:
		return types.FloatOf(64)
	case plan.String:
		t := types.StrOf(len(c) + 1)
		t.Constant = true
		return t
	case plan.Bytes:
		return types.Type{Kind: types.Bytes, Cap: len(c), Constant: true}
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

// callOne says what to write instead of one of two functions.
const callOne = "call it there, as in g(x) if c else h(x)"

// instead says what to write where a constant cannot be a value.
func instead(c plan.Value) string {
	switch c.(type) {
	case plan.Float:
		return ": compute with ints here, of a smaller unit if need be"
	case plan.List, plan.Range:
		return ": use a tuple, or take one element"
	case plan.Dict:
		return ": look one key up, or use a table"
	case plan.Builtin:
		return ": call it"
	case *plan.Func:
		return ": " + callOne
	}
	return ""
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
	case plan.Range:
		return "a range"
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

func name(c *plan.Container) string {
	if c.Name != "" {
		return c.Name
	}
	return fmt.Sprintf("declared at %s", c.Pos)
}

// asName gives what reads as a name its number among all names.
func asName(e *tree.Expr) *tree.Expr {
	t, label := e.Type, e.Type.Label
	if label == types.Name.Label {
		return e
	}
	name := types.Name
	name.MayNone, name.MayFault = t.MayNone, t.MayFault
	if label == "syscall_name" || label == "syscall_point" {
		low := types.U32
		low.MayNone, low.MayFault = t.MayNone, t.MayFault
		e = &tree.Expr{Op: tree.OpConvert, Type: low, Args: []*tree.Expr{e}, Pos: e.Pos}
	}
	if label == "syscall_point" && !t.MayNone && !t.MayFault {
		wide := &tree.Expr{Op: tree.OpConvert, Type: types.I64, Args: []*tree.Expr{e}, Pos: e.Pos}
		return operation(tree.OpOr, name, wide, intExpr(tree.SyscallPoints, e.Pos), e.Pos)
	}
	return &tree.Expr{Op: tree.OpConvert, Type: name, Args: []*tree.Expr{e}, Pos: e.Pos}
}

// nonNegative reports whether e is known not to be negative.
func nonNegative(e *tree.Expr) bool {
	return !e.Type.Signed || e.Op == tree.OpConst && e.Int >= 0
}

// width is the number of bits that a value of e, which is not negative, fits.
func width(e *tree.Expr) uint8 {
	if e.Op == tree.OpConst && e.Type.Signed {
		for _, n := range []uint8{8, 16, 32} {
			if e.Int < 1<<n {
				return n
			}
		}
		return 64
	}
	return e.Type.Bits
}

// arithType is the type of an operation: + - * give signed values, the
// others keep unsigned ones unsigned. See docs/semantics.md.
func arithType(op tree.Op, l, r *tree.Expr) types.Type {
	lu, ru := nonNegative(l), nonNegative(r)
	switch op {
	case tree.OpAnd:
		// The mathematical result is within every operand that is not negative.
		switch {
		case lu && ru:
			return types.IntOf(min(width(l), width(r)), false)
		case lu:
			return types.IntOf(width(l), false)
		case ru:
			return types.IntOf(width(r), false)
		}
		return types.I64
	case tree.OpOr, tree.OpXor:
		if lu && ru {
			return types.IntOf(max(width(l), width(r)), false)
		}
		return types.I64
	case tree.OpFloorDiv, tree.OpFloorMod:
		if lu && ru && (l.Type.Unsigned64() || r.Type.Unsigned64()) {
			return types.U64
		}
		if lu && ru {
			return types.IntOf(max(width(l), width(r)), false)
		}
		return types.I64
	case tree.OpShl:
		if lu {
			return types.U64
		}
		return types.I64
	case tree.OpShr:
		if lu {
			return types.IntOf(width(l), false)
		}
		return types.I64
	}
	return types.I64
}

// tagsEqual guards a comparison of the values by that of the tags.
func tagsEqual(l, r, values *tree.Expr, pos plan.Pos) *tree.Expr {
	test := func(op tree.Op, e *tree.Expr) *tree.Expr {
		return &tree.Expr{Op: op, Type: types.Boolean, Args: []*tree.Expr{e}, Pos: pos}
	}
	out := values
	for _, t := range []struct {
		op  tree.Op
		may func(types.Type) bool
	}{
		{tree.OpIsNone, func(t types.Type) bool { return t.MayNone && t.Kind != types.Ptr }},
		{tree.OpIsFault, func(t types.Type) bool { return t.MayFault }},
	} {
		lm, rm := t.may(l.Type), t.may(r.Type)
		switch {
		case lm && rm:
			both := logic(tree.OpLAnd, test(t.op, l), test(t.op, r), pos)
			neither := logic(tree.OpLAnd, not(test(t.op, l), pos), not(test(t.op, r), pos), pos)
			out = logic(tree.OpLOr, both, logic(tree.OpLAnd, neither, out, pos), pos)
		case lm:
			out = logic(tree.OpLAnd, not(test(t.op, l), pos), out, pos)
		case rm:
			out = logic(tree.OpLAnd, not(test(t.op, r), pos), out, pos)
		}
	}
	return out
}

func all(pos plan.Pos, list ...*tree.Expr) *tree.Expr {
	out := list[0]
	for _, e := range list[1:] {
		out = operation(tree.OpLAnd, types.Boolean, out, e, pos)
	}
	return out
}

// present is whether a read has succeeded.
func present(e *tree.Expr, pos plan.Pos) *tree.Expr {
	if !e.Type.MayFault {
		return constExpr(plan.Bool(true), pos)
	}
	return not(&tree.Expr{Op: tree.OpIsFault, Type: types.Boolean, Args: []*tree.Expr{e}, Pos: pos}, pos)
}

func plus(e *tree.Expr, n int64, pos plan.Pos) *tree.Expr {
	return operation(tree.OpAdd, types.U64, e, intExpr(n, pos), pos)
}

func register(off int, pos plan.Pos) *tree.Expr {
	return &tree.Expr{Op: tree.OpBuiltin, Type: types.U64, Str: fmt.Sprintf("reg:%d", off), Pos: pos}
}

// nameNumber is the number that stands for the name of the system call with the number e. It has 32 bits, whatever the
// width of e: see kernel.CallNumber.
func nameNumber(e *tree.Expr) *tree.Expr {
	t := types.U32
	t.MayNone, t.MayFault = e.Type.MayNone, e.Type.MayFault
	return &tree.Expr{Op: tree.OpSyscallName, Type: t, Args: []*tree.Expr{e}, Pos: e.Pos}
}

// absentInt is a number that is not there, of the type of those of which one hardly tests that they are: computing with
// it ends the handler.
func absentInt(pos plan.Pos) *tree.Expr {
	return as(constExpr(plan.None{}, pos), types.I64.OrNone().OrFault(), pos)
}
