package infer

import (
	"debug/dwarf"
	"fmt"
	"strconv"
	"strings"

	"github.com/startrace/startrace/bpfgen/points"
	"github.com/startrace/startrace/internal/signature"
)

// What a walk asks about a function (arguments, variables), so that functions with the same answers share one program.

// functionAnswer gives what a program depends on: see access.
func functionAnswer(p *points.Function, question string) string {
	switch question {
	case "func":
		return p.Text + " " + p.Name // places of one line can be in several functions
	case "source":
		return p.At()
	case "caller":
		return fmt.Sprint(p.Place.Caller)
	case "goid":
		return fmt.Sprint(p.Goid())
	case "operands":
		return fmt.Sprint(p.Site.Text, p.Operands)
	case "ret":
		if p.Typed() {
			return fmt.Sprint(p.Proto.Ret, p.ResultPlace())
		}
		if p.User {
			return userAnswer(p, question)
		}
		return "untyped"
	case "static":
		return fmt.Sprint(p.Static())
	}
	if name, ok := strings.CutPrefix(question, "globals."); ok {
		v, err := p.Global(name)
		return fmt.Sprint(v, err, p.Static())
	}
	if place, ok := strings.CutPrefix(question, "length."); ok {
		return lengthAnswer(p, place)
	}
	if p.Inlined() {
		return copyAnswer(p, question)
	}
	if question == "" {
		return signatureOf(p)
	}
	if question == "vars" || strings.HasPrefix(question, "vars.") {
		return variableAnswer(p, strings.TrimPrefix(question, "vars."))
	}
	if p.User {
		return userAnswer(p, question)
	}
	for i, arg := range p.Params() {
		if arg.Name == question || fmt.Sprint(i) == question {
			return fmt.Sprint(i, arg.Type, p.ArgPlace(i))
		}
	}
	return ""
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

// variableAnswer is what a program that reads a variable depends on; of "vars" that of all. Where the program of the
// user is loaded is told by where the place is in its file.
func variableAnswer(p *points.Function, name string) string {
	list, err := p.Variables()
	out := fmt.Sprint(err, p.Static())
	for i := range list {
		if v := &list[i]; v.Name == name || name == "vars" {
			id, err := p.TypeAt(v.Type)
			out += fmt.Sprint(v.Name, id, err, v.Place, ";")
		}
	}
	return out
}

// copyAnswer is what a program that reads an argument of a copy that was inlined depends on; of "" that of all.
func copyAnswer(p *points.Function, name string) string {
	list, err := p.Parameters()
	out := fmt.Sprint("a copy ", err)
	for i := range list {
		if v := &list[i]; v.Name == name || name == "" {
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
func lengthAnswer(p *points.Function, place string) string {
	dimension, err := strconv.ParseInt(place, 10, 64)
	if err != nil {
		return ""
	}
	n, err := p.Length(dwarf.Offset(dimension))
	return fmt.Sprint(n, err, p.Static())
}

func (v *funcView) ask(question string) string {
	a := functionAnswer(v.Function, question)
	*v.log = append(*v.log, access{question, a})
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

// userAnswer is what a program that reads word i depends on, or, with "ret", the result.
func userAnswer(p *points.Function, question string) string {
	s := p.Known()
	if s == nil {
		_, lost := p.Split()
		return fmt.Sprint(p.ABI, lost)
	}
	if question == "ret" {
		answer := fmt.Sprint(p.ABI, s.Result, s.Void)
		for i := range s.Results {
			answer += valueAnswer(p, &s.Results[i])
		}
		return answer
	}
	for i := range s.Arguments {
		if s.Arguments[i].Name == question && question != "" {
			return valueAnswer(p, &s.Arguments[i])
		}
	}
	var i int
	if _, err := fmt.Sscan(question, &i); err != nil || s.OnlyResult {
		return fmt.Sprint(p.ABI)
	}
	return fmt.Sprint(p.ABI, s.Param(i), i < p.ArgCount())
}
