package ctypes

import (
	_ "embed"
	"fmt"
	"runtime"
	"slices"

	"github.com/startrace/startrace/internal/kernel"
)

// Static probes declared in types(), `provider NAME { probe … }`, those known of providers.d, and messages about their
// arguments.

// providers is the table of static probes that are known without a declaration.
//
//go:embed providers.d
var providers string

// A Param is an argument of a static probe, of which the program itself says only where it is and how wide.
type Param struct {
	// Name is its name.
	Name string
	// Type is its type. The one of a text with a length is char *.
	Type kernel.TypeID
	// Length is the name of the argument that says how many bytes the text has; "": a zero ends it, or it is no text.
	Length string
}

// Operands are the arguments of a static probe that has so many: as the script declares them, else as the table does.
// There are none where neither knows the probe. Of the script's declarations the last one counts, which may leave out
// arguments at the end; one with more than the program has is a mistake.
func Operands(btf *kernel.BTF, script *Types, provider, name string, count int) ([]Param, error) {
	key := provider + ":" + name
	if of := script.probes[key]; len(of) > 0 {
		last := of[len(of)-1]
		if len(last) > count {
			return nil, fmt.Errorf("types() declares %d arguments of probe %s, which has %d in this program",
				len(last), key, count)
		}
		return last, nil
	}
	for _, params := range known(btf).probes[key] {
		if len(params) == count {
			return params, nil
		}
	}
	return nil, nil
}

// known is what the table has.
func known(btf *kernel.BTF) *Types {
	r := kernel.Once(btf, "static probes", func() any {
		types, at, err := Read(btf, runtime.GOARCH, providers)
		return readTypes{types, at, err}
	}).(readTypes)
	if r.err != nil {
		return &Types{}
	}
	return r.types
}

// provider is `provider NAME { probe NAME(PARAMETERS); };`, as DTrace writes it.
func (p *parser) provider() {
	p.next()
	provider := p.providerName("the provider")
	p.want("{", "behind the name of the provider")
	for !p.accept("}") {
		if p.accept(";") {
			continue
		}
		p.want("probe", "NAME(PARAMETERS);, or }")
		name := p.providerName("the probe")
		p.want("(", "behind the name of the probe")
		key := provider + ":" + name
		p.probes[key] = append(p.probes[key], p.params())
		p.want(";", "behind the probe")
	}
}

// providerName is the name of a provider or a probe, in which DTrace has - for __.
func (p *parser) providerName(of string) string {
	name := p.peek()
	if !name.word() {
		name.fail("got %s, want the name of %s", name.describe(), of)
	}
	p.next()
	out := name.text
	for p.accept("-") {
		out += "__" + p.next().text
	}
	return out
}

// params are those of a probe, behind their parenthesis.
func (p *parser) params() []Param {
	out := []Param{}
	p.acceptVoid()
	at := p.peek()
	for p.peek().text != ")" {
		out = append(out, p.param())
		if p.peek().text != ")" {
			p.want(",", "or ) behind the parameter")
		}
	}
	p.next()
	for _, of := range out {
		if of.Length != "" && !slices.ContainsFunc(out, func(o Param) bool { return o.Name == of.Length }) {
			at.fail("the length of %s is %s, which is no parameter of this probe", of.Name, of.Length)
		}
	}
	return out
}

// param is one of them: `int n`, `struct order *o`, or `char name[n]`, a text of n bytes.
func (p *parser) param() Param {
	var a attributes
	at := p.peek()
	t := p.specifier(&a)
	if len(p.list) > 3 && p.list[0].word() && p.list[1].text == "[" && p.list[2].word() && t.kind == kernel.KindInt &&
		t.size == 1 {
		out := Param{Name: p.next().text, Type: p.pointer(t).id}
		p.next()
		out.Length = p.next().text
		p.want("]", "behind the parameter that is the length")
		return out
	}
	d := p.declarator(t)
	if d.name.text == "" {
		p.peek().fail("got %s, want the name of the parameter behind its type", p.peek().describe())
	}
	switch d.typ.kind {
	case kernel.KindInt, kernel.KindEnum, kernel.KindPtr, kernel.KindFloat:
	default:
		at.fail("the argument %s of a static probe is one word; want an int, an enum, a pointer, or char %s[LENGTH] "+
			"with the parameter that is its length", d.name.text, d.name.text)
	}
	return Param{Name: d.name.text, Type: d.typ.id}
}
