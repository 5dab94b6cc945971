package diff

import (
	"fmt"
	"strings"
)

// Expr, an expression of a random program, written for both sides.

// Form is how an expression is written.
type Form uint8

// The forms.
const (
	Leaf    Form = iota // Text
	Binary              // (Args[0] Text Args[1])
	Unary               // (Text Args[0])
	Cond                // (Args[1] if Args[0] else Args[2])
	Call                // Text(Args…), Names are keywords
	Method              // Args[0].Text(Args[1:]…)
	Display             // (Args…): a tuple
	Index               // Args[0][Args[1]]
	Attr                // Args[0].Text
	Lambda              // (lambda Names: Args[0])
	Apply               // Args[0](Args[1:]…)
	Given               // Args[0], for the reference Ref(Args…)
	Shape               // Text, with Args where it has a hole
)

// An Expr is an expression.
type Expr struct {
	// Form says what is computed. It decides what the other fields mean.
	Form Form
	// Type is that of the value.
	Type Type
	// Text is a literal, a name or an operator: see Form.
	Text string
	// Args are the operands.
	Args []*Expr
	// Names are the keywords of a Call, or the parameters of a Lambda.
	Names []string
	// Wrap is the function by which the reference makes of a value what the kernel's type makes of it.
	Wrap wrap
	// Ref is the function that the reference calls with Args instead, and with Text as the last one of an Attr.
	Ref string
	// Proof marks a condition after which a variable is known not to be None: Shrink keeps it.
	Proof bool
}

// writer prints a program in one of its two texts.
type writer struct {
	strings.Builder
	ref  bool // the reference
	user bool // the reference of what runs in user space
}

func (w *writer) expr(e *Expr) {
	if w.ref && e.Wrap != exact {
		fmt.Fprintf(w, "%s(", e.Wrap)
		defer w.WriteString(")")
	}
	w.form(e)
}

func (w *writer) form(e *Expr) {
	switch {
	case w.user && e.Ref == "_mem":
		w.parts(e.Args[0], ".mem"+e.Args[1].Text)
	case w.ref && e.Ref != "", w.user && (e.Ref == "_cast" || e.Ref == "_sizeof"):
		w.spelt(e)
	default:
		w.plain(e)
	}
}

// plain writes an expression as the script has it.
func (w *writer) plain(e *Expr) {
	switch e.Form {
	case Leaf:
		w.WriteString(e.Text)
	case Binary:
		if w.ref && e.Text == ">>" { // the interpreter takes any count
			w.parts("_shr(", e.Args[0], ", ", e.Args[1], ")")
			return
		}
		w.parts("(", e.Args[0], " "+e.Text+" ", e.Args[1], ")")
	case Unary:
		w.parts("("+e.Text, e.Args[0], ")")
	case Cond:
		w.parts("(", e.Args[1], " if ", e.Args[0], " else ", e.Args[2], ")")
	case Call:
		w.WriteString(e.Text)
		w.args(e.Args, e.Names)
	case Method:
		w.parts(e.Args[0], "."+e.Text)
		w.args(e.Args[1:], nil)
	case Display:
		w.display(e)
	case Index:
		w.parts(e.Args[0], "[", e.Args[1], "]")
	case Attr:
		w.parts(e.Args[0], "."+e.Text)
	case Lambda:
		w.parts("(lambda "+strings.Join(e.Names, ", ")+": ", e.Args[0], ")")
	case Given:
		w.expr(e.Args[0])
	case Shape:
		if e.Type.Kind != Func {
			w.WriteString("(")
			defer w.WriteString(")")
		}
		for i, part := range strings.Split(e.Text, hole) {
			w.WriteString(part)
			if i < len(e.Args) {
				w.expr(e.Args[i])
			}
		}
	case Apply:
		w.expr(e.Args[0])
		w.args(e.Args[1:], nil)
	}
}

// spelt writes an exception of docs/semantics.md.
func (w *writer) spelt(e *Expr) {
	w.WriteString(e.Ref)
	switch e.Form {
	case Leaf:
	case Attr:
		w.parts("(", e.Args[0], ", \""+e.Text+"\")")
	default:
		w.args(e.Args, nil)
	}
}

// parts writes texts and expressions one after another.
func (w *writer) parts(list ...any) {
	for _, x := range list {
		switch x := x.(type) {
		case string:
			w.WriteString(x)
		case *Expr:
			w.expr(x)
		}
	}
}

// args writes arguments; the last ones have the names that are not empty.
func (w *writer) args(list []*Expr, names []string) {
	w.WriteString("(")
	for i, a := range list {
		if i > 0 {
			w.WriteString(", ")
		}
		if i < len(names) && names[i] != "" {
			w.WriteString(names[i] + " = ")
		}
		w.expr(a)
	}
	w.WriteString(")")
}

// display writes a tuple, or a list where the text says so.
func (w *writer) display(e *Expr) {
	begin, end := "(", ")"
	switch {
	case e.Text == "[":
		begin, end = "[", "]"
	case len(e.Args) == 1:
		end = ",)"
	}
	w.WriteString(begin)
	for i, a := range e.Args {
		if i > 0 {
			w.WriteString(", ")
		}
		w.expr(a)
	}
	w.WriteString(end)
}

func leaf(t Type, s string) *Expr { return &Expr{Form: Leaf, Type: t, Text: s} }

func operator(op string, t Type, x, y *Expr) *Expr {
	return &Expr{Form: Binary, Type: t, Text: op, Args: []*Expr{x, y}}
}

// arith is x op y of ints.
func arith(op string, x, y *Expr) *Expr {
	e := operator(op, Type{Class: binaryClass(op, x.Type.Class, y.Type.Class)}, x, y)
	e.Wrap = wrapTo(e.Type)
	return e
}

func not(x *Expr) *Expr { return &Expr{Form: Unary, Type: boolean, Text: "not ", Args: []*Expr{x}} }

func call(t Type, fn string, args ...*Expr) *Expr {
	return &Expr{Form: Call, Type: t, Text: fn, Args: args}
}

func method(t Type, recv *Expr, name string, args ...*Expr) *Expr {
	return &Expr{Form: Method, Type: t, Text: name, Args: append([]*Expr{recv}, args...)}
}

// choice is the type of one of two values, and what the reference does with it.
func choice(x, y *Expr) (Type, wrap) {
	t := x.Type
	t.Opt = t.Opt || y.Type.Opt
	if t.Kind != Int || x.Type.Class == y.Type.Class {
		return t, exact
	}
	t.Class = joinClass(x.Type.Class, y.Type.Class)
	return t, check
}

func cond(c, x, y *Expr) *Expr {
	t, w := choice(x, y)
	return &Expr{Form: Cond, Type: t, Args: []*Expr{c, x, y}, Wrap: w}
}

var none = leaf(Type{Kind: Func}, "None") // of a kind of its own, so that Shrink leaves it
