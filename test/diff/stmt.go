package diff

import (
	"fmt"
	"strings"
)

// Stmt, Function and Program: statements of a random program, and its two texts.

// StmtForm is how a statement is written.
type StmtForm uint8

// The forms.
const (
	Assign  StmtForm = iota // Target = Exprs[0]
	Augment                 // Target Op= Exprs[0]
	If                      // if Exprs[i]: Bodies[i] … else: the last body
	Return                  // return Exprs[0], or return
	Do                      // Exprs[0]
	For                     // for Target in Exprs[0]: Bodies[0]
	Def                     // def Func
	Update                  // Target[Exprs[0]] Op= Exprs[1]
	SetItem                 // Target[Exprs[0]] = Exprs[1]
	Branch                  // Op: break or continue
	Pass
	Lines // of Exprs[0]
)

// A Stmt is a statement.
type Stmt struct {
	// Form says what is done. It decides what the other fields mean.
	Form StmtForm
	// Target is the name that is set or changed.
	Target string
	// Op is an operator, or a word of the statement.
	Op string
	// Exprs are the operands.
	Exprs []*Expr
	// Bodies are the blocks inside.
	Bodies [][]*Stmt
	// Func is the function that is defined here.
	Func *Function
	Wrap wrap // Augment, Update
}

// A Function is a def.
type Function struct {
	// Name is the function's.
	Name string
	// Params are its parameters, without the event.
	Params   []Param
	Defaults []*Expr // of the last parameters
	// Result is the type of what it returns.
	Result Type
	// Body is what it does.
	Body []*Stmt
	// Wraps spells out what the types of arguments do in the kernel.
}

// A Param is a parameter: its Name, and the Type of the arguments that it gets.
type Param struct {
	Name string
	Type Type
}

// A Program is a function of the event with what it uses.
type Program struct {
	Name    string   // of the main function; globals begin with it, too
	Globals []string // statements at the top
	// Helpers are the functions that Main calls.
	Helpers []*Function
	// After are statements at the top behind the helpers, which they call.
	After []string
	// Main is the function of the event.
	Main *Function
	// Span: the event is a span; Key gives the keys of its start and its end, nil: they belong together by thread.
	Span bool
	Key  *Function
	// Site is where it runs; nil: at the raw tracepoint of this package.
	Site *Site
	// Begin is the handler of the start of a call, nil if it has none; BeginName is its name, also in Text.
	Begin     *Function
	BeginName string
	// User: it is for user space, where functions mean what they mean to the interpreter.
	User bool
	// Text is a program that was not generated: both texts are this one, unless RefText is that of the reference.
	Text, RefText string
}

func (w *writer) line(depth int, parts ...any) {
	w.WriteString(strings.Repeat("    ", depth))
	w.parts(parts...)
	w.WriteString("\n")
}

func (w *writer) program(p *Program) {
	for _, g := range p.Globals {
		w.line(0, g)
	}
	for _, f := range p.Helpers {
		w.function(f, 0)
	}
	for _, s := range p.After {
		w.line(0, s)
	}
	if p.Key != nil {
		w.function(p.Key, 0)
	}
	w.function(p.Main, 0)
	if p.Begin != nil {
		w.function(p.Begin, 0)
	}
}

func (w *writer) function(f *Function, depth int) {
	w.WriteString(strings.Repeat("    ", depth) + "def " + f.Name + "(")
	for i, p := range f.Params {
		if i > 0 {
			w.WriteString(", ")
		}
		w.WriteString(p.Name)
		if d := i - (len(f.Params) - len(f.Defaults)); d >= 0 {
			w.parts(" = ", f.Defaults[d])
		}
	}
	w.WriteString("):\n")
	w.body(f.Body, depth+1)
}

func (w *writer) body(list []*Stmt, depth int) {
	if len(list) == 0 {
		w.line(depth, "pass")
	}
	for _, s := range list {
		w.stmt(s, depth)
	}
}

func (w *writer) stmt(s *Stmt, depth int) {
	switch s.Form {
	case Assign:
		w.line(depth, s.Target+" = ", s.Exprs[0])
	case Augment:
		if w.ref && s.Op == ">>" {
			w.line(depth, fmt.Sprintf("%s = _shr(%s, ", s.Target, s.Target), s.Exprs[0], ")")
			return
		}
		if w.ref {
			w.line(depth, fmt.Sprintf("%s = %s(%s %s ", s.Target, s.Wrap, s.Target, s.Op), s.Exprs[0], ")")
			return
		}
		w.line(depth, s.Target+" "+s.Op+"= ", s.Exprs[0])
	case Update:
		if w.ref {
			w.line(depth, fmt.Sprintf("_update(%s, %q, %q, ", s.Target, s.Op, s.Wrap), s.Exprs[0], ", ", s.Exprs[1],
				")")
			return
		}
		w.line(depth, s.Target+"[", s.Exprs[0], "] "+s.Op+"= ", s.Exprs[1])
	case SetItem:
		w.line(depth, s.Target+"[", s.Exprs[0], "] = ", s.Exprs[1])
	case Return:
		w.WriteString(strings.Repeat("    ", depth) + "return")
		if len(s.Exprs) > 0 {
			w.parts(" ", s.Exprs[0])
		}
		w.WriteString("\n")
	case Do:
		w.line(depth, s.Exprs[0])
	case Branch:
		w.line(depth, s.Op)
	case Pass:
		w.line(depth, "pass")
	case Lines:
		text := &writer{ref: w.ref, user: w.user}
		text.expr(s.Exprs[0])
		for line := range strings.Lines(text.String()) {
			w.line(depth, strings.TrimSuffix(line, "\n"))
		}
	default:
		w.compound(s, depth)
	}
}

func (w *writer) compound(s *Stmt, depth int) {
	switch s.Form {
	case If:
		for i, c := range s.Exprs {
			w.line(depth, []string{"if ", "elif "}[min(i, 1)], c, ":")
			w.body(s.Bodies[i], depth+1)
		}
		if len(s.Bodies) > len(s.Exprs) {
			w.line(depth, "else:")
			w.body(s.Bodies[len(s.Exprs)], depth+1)
		}
	case For:
		w.line(depth, "for "+s.Target+" in ", s.Exprs[0], ":")
		w.body(s.Bodies[0], depth+1)
	case Def:
		w.function(s.Func, depth)
	}
}

// Script is the text for startrace.
func (p *Program) Script() string { return p.text(false) }

// Reference is the text for the interpreter: the same lines.
func (p *Program) Reference() string { return p.text(true) }

func (p *Program) text(ref bool) string {
	if ref && p.RefText != "" {
		return p.RefText
	}
	if p.Text != "" {
		return p.Text
	}
	w := &writer{ref: ref && !p.User, user: ref && p.User}
	w.program(p)
	return w.String()
}
