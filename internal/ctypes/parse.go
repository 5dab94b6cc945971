package ctypes

import (
	"slices"

	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/naming"
)

// Declarations of C in types(): structs, typedefs, arrays, attributes as packed and aligned, and messages about them.

// A typ is a type with what its layout needs.
type typ struct {
	id          kernel.TypeID
	size, align int
	// open: its size is not known, as that of a struct without members, a function, or an array of unknown length.
	open bool
	// kind, signed and is are of what is read by itself, behind names.
	kind kernel.TypeKind
	is   kernel.Type
}

// Types are those that a script declares.
type Types struct {
	named map[string]kernel.TypeID // "struct order", "order_t"
	// Constants are those of the enums of each text, in their order.
	Constants [][]kernel.EnumValue
	// probes are the declarations of static probes, by PROVIDER:NAME.
	probes map[string][][]Param
}

// Named is a type as C spells it; false where the script declares none.
func (t *Types) Named(name string) (kernel.TypeID, bool) {
	id, ok := t.named[name]
	return id, ok
}

// Near is the name of a declared type that is like name, "" where none is.
func (t *Types) Near(name string) string {
	var all []string
	for n := range t.named {
		all = append(all, n)
	}
	slices.Sort(all)
	return naming.Suggest(name, all)
}

// Read reads texts and adds their types to those of the kernel, which they may name. The second result says in which
// of the texts the mistake is.
func Read(btf *kernel.BTF, arch string, texts ...string) (*Types, int, error) {
	p := &parser{btf: btf, arch: arch, tags: map[string]*typ{}, names: map[string]*typ{},
		bases: map[string]*typ{}, values: map[string]int64{}, probes: map[string][][]Param{}}
	at, constants := 0, [][]kernel.EnumValue(nil)
	err := btf.AddTypes(func(out *kernel.TypeBuilder) {
		out.Own()
		p.out = out
		for i, text := range texts {
			at = i
			p.made = nil
			if p.attempt(text, p.declared); p.err != nil {
				return
			}
			constants = append(constants, p.made)
		}
		p.complete()
	}, func(kernel.TypeID) (kernel.TypeID, bool) { return 0, false })
	if p.err != nil {
		return nil, at, p.err
	}
	if err != nil {
		return nil, at, err
	}
	t := &Types{named: map[string]kernel.TypeID{}, Constants: constants, probes: p.probes}
	for name, of := range p.tags {
		if !of.open {
			t.named[name] = of.id
		}
	}
	for name, of := range p.names {
		t.named[name] = of.id
	}
	return t, 0, nil
}

// A parser reads declarations one after the other. tags are the structs, unions and enums, by "struct NAME"; names are
// the typedefs.
type parser struct {
	btf   *kernel.BTF
	arch  string
	out   *kernel.TypeBuilder
	list  []lexeme
	tags  map[string]*typ
	names map[string]*typ
	bases map[string]*typ
	// values are the constants of enums that the texts have so far, and made those of the text that is read.
	values map[string]int64
	made   []kernel.EnumValue
	probes map[string][][]Param
	depth  int
	err    *Error
}

// maxDepth bounds what lies in each other.
const maxDepth = 64

// attempt reads a text up to its first mistake, one declaration after the other by read.
func (p *parser) attempt(text string, read func()) {
	defer func() {
		if r := recover(); r != nil {
			mistake, ok := r.(*Error)
			if !ok {
				panic(r)
			}
			p.err = mistake
		}
	}()
	p.list = tokens(text)
	for p.peek().text != "" {
		if !p.accept(";") {
			read()
		}
	}
}

// declared reads what a script declares: types, or the static probes of a provider.
func (p *parser) declared() {
	if p.peek().text == "provider" {
		p.provider()
	} else {
		p.declaration()
	}
}

func (p *parser) peek() lexeme { return p.list[0] }

func (p *parser) next() lexeme {
	t := p.list[0]
	if t.text != "" {
		p.list = p.list[1:]
	}
	return t
}

func (p *parser) accept(text string) bool {
	if p.peek().text != text {
		return false
	}
	p.next()
	return true
}

func (p *parser) want(text, of string) lexeme {
	if t := p.peek(); t.text != text {
		t.fail("got %s, want %s %s", t.describe(), text, of)
	}
	return p.next()
}

// attributes are those that change a layout.
type attributes struct {
	packed  bool
	aligned int
}

// declaration is `struct x { … };` or `typedef TYPE NAME;`.
func (p *parser) declaration() {
	first := p.peek()
	isTypedef := p.accept("typedef")
	var a attributes
	t := p.specifier(&a)
	if !isTypedef {
		if t.kind != kernel.KindStruct && t.kind != kernel.KindUnion && t.kind != kernel.KindEnum {
			first.fail("got %s, want a struct, a union, an enum, a typedef or a provider", first.describe())
		}
		if end := p.peek(); end.text != ";" {
			end.fail("got %s, want ; behind the declaration: variables and functions are not declared here",
				end.describe())
		}
		p.next()
		return
	}
	for {
		d := p.declarator(t)
		if d.name.text == "" {
			p.peek().fail("got %s, want the name that the typedef gives", p.peek().describe())
		}
		p.attributes(&a)
		of := *d.typ
		if a.aligned > 0 {
			of.align = a.aligned
		}
		of.id = p.out.Add(kernel.Type{Kind: kernel.KindTypedef, Name: d.name.text, Elem: d.typ.id})
		p.names[d.name.text] = &of
		if !p.accept(",") {
			break
		}
	}
	p.want(";", "behind the typedef")
}

// qualifiers say nothing about a layout.
var qualifiers = []string{"const", "volatile", "restrict", "__restrict", "static", "extern", "inline", "register",
	"__user", "__rcu", "__iomem", "__extension__"}

// attributes reads those that stand here.
func (p *parser) attributes(a *attributes) {
	for {
		switch t := p.peek(); t.text {
		case "__attribute__", "__attribute":
			p.next()
			p.want("(", "behind "+t.text)
			p.want("(", "behind "+t.text)
			for !p.accept(")") {
				if !p.accept(",") {
					p.attribute(a)
				}
			}
			p.want(")", "behind the attributes")
		case "__packed":
			p.next()
			a.packed = true
		case "_Alignas", "__aligned", "alignas":
			p.next()
			p.want("(", "behind "+t.text)
			p.alignment(a)
		default:
			if !slices.Contains(qualifiers, t.text) {
				return
			}
			p.next()
		}
	}
}

// attribute is one of __attribute__((…)).
func (p *parser) attribute(a *attributes) {
	switch t := p.next(); t.text {
	case "packed", "__packed__":
		a.packed = true
	case "aligned", "__aligned__":
		if p.accept("(") {
			p.alignment(a)
		} else {
			a.aligned = 16
		}
	case "unused", "__unused__", "may_alias", "deprecated":
	default:
		t.fail("the attribute %s is not known; want packed or aligned(n)", t.describe())
	}
}

// alignment is n).
func (p *parser) alignment(a *attributes) {
	at := p.peek()
	n := p.constant()
	if n < 1 || n > 1<<16 || n&(n-1) != 0 {
		at.fail("an alignment of %d bytes; want a power of two", n)
	}
	a.aligned = max(a.aligned, int(n))
	p.want(")", "behind the alignment")
}

// specifier is the type with which a declaration begins.
func (p *parser) specifier(a *attributes) *typ {
	if p.depth++; p.depth > maxDepth {
		p.peek().fail("types lie in each other %d deep; want at most %d", p.depth, maxDepth)
	}
	defer func() { p.depth-- }()
	p.attributes(a)
	t := p.peek()
	var out *typ
	switch {
	case t.text == "struct" || t.text == "union":
		out = p.composite()
	case t.text == "enum":
		out = p.enum()
	case isBase(t.text):
		out = p.base()
	case t.word():
		p.next()
		out = p.typedef(t)
	default:
		t.fail("got %s, want a type", t.describe())
	}
	p.attributes(a)
	return out
}

// A declared is a name with its type.
type declared struct {
	name lexeme
	typ  *typ
}

// declarator is what stands behind the type of a name: stars, parentheses, arrays, parameters.
func (p *parser) declarator(t *typ) declared {
	var ignored attributes
	for p.accept("*") {
		t = p.pointer(t)
		p.attributes(&ignored)
	}
	if p.peek().text != "(" {
		d := declared{typ: t}
		if p.peek().word() {
			d.name = p.next()
		}
		d.typ = p.suffix(t)
		return d
	}
	// What is in the parentheses is read when it is known what it stands for: int (*f)(void).
	p.next()
	inner := p.list
	p.skipInner("a ( has no )")
	t = p.suffix(t)
	behind := p.list
	p.list = inner
	if p.depth++; p.depth > maxDepth {
		p.peek().fail("parentheses lie in each other; want at most %d", maxDepth)
	}
	d := p.declarator(t)
	p.depth--
	p.want(")", "behind the name")
	p.list = behind
	return d
}

// noEnd is said of parameters without an end.
const noEnd = "the parameters have no end: ) is missing"

// skipInner goes behind the parenthesis that closes the one before, or says what is missing.
func (p *parser) skipInner(missing string) {
	for depth := 1; depth > 0; {
		switch at := p.next(); at.text {
		case "(":
			depth++
		case ")":
			depth--
		case "":
			at.fail("%s", missing)
		}
	}
}

// suffix is the arrays and parameters behind a name.
func (p *parser) suffix(t *typ) *typ {
	switch at := p.peek(); {
	case p.accept("("):
		p.skipInner(noEnd)
		return &typ{id: p.out.Add(kernel.Type{Kind: kernel.KindProto}), open: true, kind: kernel.KindProto}
	case p.accept("["):
		n := int64(-1)
		if p.peek().text != "]" {
			n = p.constant()
			if n < 0 || n > 1<<28 {
				at.fail("an array of %d elements; want 0 to %d", n, 1<<28)
			}
		}
		p.want("]", "behind the length")
		elem := p.suffix(t)
		if elem.open {
			at.fail("the size of the elements of this array is not known")
		}
		if n > 0 && elem.size > 1<<28/int(n) {
			at.fail("an array of more than %d bytes", 1<<28)
		}
		known := int(max(n, 0))
		id := p.out.Add(kernel.Type{Kind: kernel.KindArray, Elem: elem.id, Len: known, Open: known == 0})
		return &typ{id: id, size: known * elem.size, align: elem.align, kind: kernel.KindArray}
	}
	return t
}

// pointer is a pointer to a type.
func (p *parser) pointer(to *typ) *typ {
	return &typ{id: p.out.Add(kernel.Type{Kind: kernel.KindPtr, Elem: to.id}), size: 8, align: 8, kind: kernel.KindPtr}
}
