package plan

import (
	"math/big"

	"go.starlark.net/syntax"
)

// Values of scripts as the compiler sees them, and Func, a function with its captures.

// A Value is a value of the script as the compiler sees it: what a function
// captured, a default of a parameter, an argument of a declaration. It is one
// of the types below, always frozen.
type Value interface{ isValue() }

// The plain values.
type (
	None struct{}
	Bool bool
	// Int is an int of any size, which Big has.
	Int    struct{ Big *big.Int }
	Float  float64
	String string
	Bytes  string
	Tuple  []Value
	List   []Value
	// Range is what a range goes over.
	Range []Value
	// Dict is a constant dict, in the order of insertion.
	Dict []DictEntry
	// Record is a constant record, its fields in the order of declaration.
	Record []RecordField
)

// DictEntry is one entry of a Dict: Key and Value.
type DictEntry struct{ Key, Value Value }

// RecordField is one field of a Record: its Name and its Value.
type RecordField struct {
	Name  string
	Value Value
}

// Builtin is a predeclared or universal function or module by name: "cstr",
// "len", "json". What it means in a kernel half is the compiler's business.
type Builtin string

// Ref is a container.
type Ref struct{ *Container }

// PointValue is an event, span or first() held by a variable.
type PointValue struct{ Point }

// Opaque is a value that only user space can use, of which the name of its Starlark type is known: Type.
//
// Of is the container of a method that was taken from it, as t.set, else nil, and Method the name of that.
type Opaque struct {
	Type   string
	Of     Value
	Method string
}

// UnknownType is the type of values that a mistake kept from being made, in
// plans that are compiled only to find more mistakes.
const UnknownType = "unknown value"

// A Func is a function or lambda of the script: its syntax tree and what it
// captured. Closures of one lambda in a loop are several Funcs. A Func may be
// reached from its own captures (a global that names itself), so walks must
// remember where they were.
type Func struct {
	// ID is its number among the functions that were captured, from 0.
	ID   int
	Name string // "lambda" for anonymous functions
	// Pos is where the def or the lambda begins.
	Pos Pos
	// Doc is the docstring of a def, "" if it has none.
	Doc string
	// Def or Lambda is the tree, resolved by go.starlark.net/resolve: each
	// Ident's Binding is set. `x[k] op= v` has been rewritten to a call of
	// UpdateBuiltin (see starlark/script).
	Def    *syntax.DefStmt
	Lambda *syntax.LambdaExpr
	// Defaults holds the default of each parameter, nil where it has none.
	Defaults []Value
	// Free holds the captured cells by the index of resolve.Function.FreeVars.
	Free []Value
	// Names holds the values of Global, Predeclared and Universal names that
	// the tree uses. A global that has no value yet is absent.
	Names map[string]Value
}

// UpdateBuiltin is the name of the function to which the host rewrites
// `x[k] op= v`: a call with x, k, the operator as a string ("+", "|" …), v.
const UpdateBuiltin = "$update"

// ParamNames gives the names of the parameters in order (without * and **).
func (f *Func) ParamNames() []string {
	var out []string
	for _, p := range f.Params() {
		switch p := p.(type) {
		case *syntax.Ident:
			out = append(out, p.Name)
		case *syntax.BinaryExpr:
			out = append(out, p.X.(*syntax.Ident).Name)
		}
	}
	return out
}

// Params gives the parameters as the parser left them.
func (f *Func) Params() []syntax.Expr {
	if f.Def != nil {
		return f.Def.Params
	}
	return f.Lambda.Params
}

func (None) isValue()       {}
func (Bool) isValue()       {}
func (Int) isValue()        {}
func (Float) isValue()      {}
func (String) isValue()     {}
func (Bytes) isValue()      {}
func (Tuple) isValue()      {}
func (List) isValue()       {}
func (Range) isValue()      {}
func (Dict) isValue()       {}
func (Record) isValue()     {}
func (Builtin) isValue()    {}
func (Ref) isValue()        {}
func (PointValue) isValue() {}
func (Opaque) isValue()     {}
func (*Func) isValue()      {}

// Inside gives the values that a list, a tuple, a dict or a record has. It gives none of others.
func Inside(v Value) (out []Value) {
	switch v := v.(type) {
	case List:
		return v
	case Tuple:
		return v
	case Dict:
		for _, e := range v {
			out = append(out, e.Value)
		}
	case Record:
		for _, f := range v {
			out = append(out, f.Value)
		}
	}
	return out
}

// MakeInt makes an Int, but not by big.NewInt. That stores the sign in fresh memory by SETcc, and the emulator of QEMU
// 7.2 loses it where the store faults: a plain program of Go lost 439 of 7.6 million. So -2 was 2 in a guest now and
// then.
func MakeInt(i int64) Int { return Int{new(big.Int).SetInt64(i)} }
