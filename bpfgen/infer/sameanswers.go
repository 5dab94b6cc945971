package infer

import (
	"debug/dwarf"
	"fmt"
	"strings"

	"github.com/startrace/startrace/bpfgen/points"
	"github.com/startrace/startrace/internal/signature"
)

// What a walk asks about a function (arguments, variables), so that functions with the same answers share one program.

// A question is what a walk asks about a function or a system call. What it is about stands beside the name of the
// program's argument or variable, because a program may give these any name: goid, ret, func. The zero value asks for
// all.
type question struct {
	about aspect
	// name is that of the argument or variable.
	name string
	// at is the argument's number, or the place in the debug information of an array's length.
	at int64
}

// An aspect is what a question is about.
type aspect int

const (
	aboutAll        aspect = iota // everything
	aboutArgument                 // the argument of a name
	aboutArgumentAt               // the argument of a number
	aboutResult                   // e.ret
	aboutName                     // e.func and e.probe
	aboutSource                   // e.source
	aboutCaller                   // where the caller is found
	aboutGoid                     // e.goid
	aboutOperands                 // the arguments of a static probe
	aboutLoading                  // where the place is in its file, which tells where the program is loaded
	aboutVariables                // all of e.vars
	aboutVariable                 // the variable of a name
	aboutGlobal                   // the variable of a name outside of functions
	aboutLength                   // the length of an array
	aboutInterface                // the interface that a system call came by
)

// argument asks for the argument of a name.
func argument(name string) question { return question{about: aboutArgument, name: name} }

// argumentAt asks for argument i.
func argumentAt(i int) question { return question{about: aboutArgumentAt, at: int64(i)} }

// functionAnswer gives what a program depends on: see access.
func functionAnswer(p *points.Function, q question) string {
	switch q.about {
	case aboutName:
		return p.Text + " " + p.Name // places of one line can be in several functions
	case aboutSource:
		return p.At()
	case aboutCaller:
		return fmt.Sprint(p.Place.Caller)
	case aboutGoid:
		return fmt.Sprint(p.Goid())
	case aboutOperands:
		return fmt.Sprint(p.Site.Text, p.Operands)
	case aboutResult:
		return resultAnswer(p)
	case aboutLoading:
		return fmt.Sprint(p.Static())
	case aboutGlobal:
		v, err := p.Global(q.name)
		return fmt.Sprint(v, err, p.Static())
	case aboutLength:
		return lengthAnswer(p, dwarf.Offset(q.at))
	case aboutVariables, aboutVariable:
		return variableAnswer(p, q)
	}
	switch {
	case p.Inlined():
		return copyAnswer(p, q)
	case q.about == aboutAll:
		return signatureOf(p)
	case p.User:
		return argumentAnswer(p, q)
	}
	for i, arg := range p.Params() {
		if q == argument(arg.Name) || q == argumentAt(i) {
			return fmt.Sprint(i, arg.Type, p.ArgPlace(i))
		}
	}
	return ""
}

// resultAnswer is what a program that reads the result depends on.
func resultAnswer(p *points.Function) string {
	switch s := p.Known(); {
	case p.Typed():
		return fmt.Sprint(p.Proto.Ret, p.ResultPlace())
	case !p.User:
		return "untyped"
	case s == nil:
		return unknownAnswer(p)
	default:
		answer := fmt.Sprint(p.ABI, s.Result, s.Void)
		for i := range s.Results {
			answer += valueAnswer(p, &s.Results[i])
		}
		return answer
	}
}

// unknownAnswer is what a program depends on that reads arguments or the result of a user function without debug
// information.
func unknownAnswer(p *points.Function) string {
	_, lost := p.Split()
	return fmt.Sprint(p.ABI, lost)
}

func signatureOf(p *points.Function) string {
	var b strings.Builder
	for _, arg := range p.Params() {
		fmt.Fprintf(&b, "%s %d,", arg.Name, arg.Type)
	}
	if s := p.Known(); p.User && s != nil {
		for i := range s.Arguments {
			fmt.Fprintf(&b, "%s,", valueAnswer(p, &s.Arguments[i]))
		}
	}
	return b.String()
}

// valueAnswer is what a program that reads an argument or a result by its type depends on.
func valueAnswer(p *points.Function, v *signature.Value) string {
	id, err := p.Type(v)
	return fmt.Sprint(v.Name, id, err, v.Pieces, v.Indirect, v.IsConstant, v.Constant)
}

// variableAnswer is what a program that reads a variable, or all of them, depends on. Where the program of the user is
// loaded is told by where the place is in its file.
func variableAnswer(p *points.Function, q question) string {
	list, err := p.Variables()
	out := fmt.Sprint(err, p.Static())
	for i := range list {
		if v := &list[i]; v.Name == q.name || q.about == aboutVariables {
			id, err := p.TypeAt(v.Type)
			out += fmt.Sprint(v.Name, id, err, v.Place, ";")
		}
	}
	return out
}

// copyAnswer is what a program that reads an argument of a copy that was inlined, or all of them, depends on.
func copyAnswer(p *points.Function, q question) string {
	list, err := p.Parameters()
	out := fmt.Sprint("a copy ", err)
	for i := range list {
		if v := &list[i]; v.Name == q.name || q.about == aboutAll {
			id, err := p.TypeAt(v.Type)
			out += fmt.Sprint(v.Name, id, err, v.Place, ";")
		}
	}
	if strings.Contains(out, "static ") { // told by where the place is in its file
		out += fmt.Sprint(p.Static())
	}
	return out
}

// lengthAnswer is what a program depends on that asks for the length of an array, by the place of its dimension.
func lengthAnswer(p *points.Function, dimension dwarf.Offset) string {
	n, err := p.Length(dimension)
	return fmt.Sprint(n, err, p.Static())
}

func (v *funcView) ask(q question) string {
	a := functionAnswer(v.Function, q)
	*v.log = append(*v.log, access{q, a})
	return a
}

// serves reports whether a program whose walk asked this does for p, too.
func serves(log []access, p *points.Function) bool {
	for _, a := range log {
		if functionAnswer(p, a.question) != a.answer {
			return false
		}
	}
	return true
}

// argumentAnswer is what a program that reads an argument of a user function depends on.
func argumentAnswer(p *points.Function, q question) string {
	s := p.Known()
	if s == nil {
		return unknownAnswer(p)
	}
	for i := range s.Arguments {
		if q == argument(s.Arguments[i].Name) {
			return valueAnswer(p, &s.Arguments[i])
		}
	}
	if q.about != aboutArgumentAt || s.OnlyResult {
		return fmt.Sprint(p.ABI)
	}
	return fmt.Sprint(p.ABI, s.Param(int(q.at)), int(q.at) < p.ArgCount())
}
