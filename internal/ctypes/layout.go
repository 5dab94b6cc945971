package ctypes

import "github.com/startrace/startrace/internal/kernel"

// Where members of structs, unions and bit-fields of types() lie, and messages about members.

// A layout places the members of one struct or union. The rules are those of the System V ABI of amd64, and of AAPCS64,
// as gcc and clang have them: a bit-field lies in a unit of its type where that has room for it, else in the next one;
// in a packed struct it lies right behind what is before it.
type layout struct {
	union, packed bool
	arch          string
	bits          int // the first one that is free
	size, align   int
	members       []kernel.Member
}

func up(n, to int) int { return (n + to - 1) / to * to }

// member places one that is no bit-field.
func (l *layout) member(name string, t *typ, a attributes) {
	align := t.align
	if l.packed || a.packed {
		align = 1
	}
	align = max(align, a.aligned, 1)
	off := 0
	if !l.union {
		off = up(up(l.bits, 8)/8, align)
	}
	l.bits = 8 * (off + t.size)
	l.size, l.align = max(l.size, off+t.size), max(l.align, align)
	l.members = append(l.members, kernel.Member{Name: name, Off: off, Type: t.id})
}

// bitField places one of so many bits. One without bits ends what is before it at the next unit of its type.
func (l *layout) bitField(name string, t *typ, width int, a attributes) {
	packed := l.packed || a.packed
	unit, align := 8*t.size, t.align
	if packed {
		align = 1
	}
	at := l.bits
	if l.union {
		at = 0
	}
	if a.aligned > 0 {
		align = max(align, a.aligned)
		at = up(at, 8*a.aligned)
	}
	switch {
	case width == 0:
		l.bits = up(at, max(unit, 8))
		if l.arch == "arm64" {
			l.align = max(l.align, t.align)
		}
		if l.union {
			l.bits = 0
		}
		l.size = max(l.size, l.bits/8)
		return
	case !packed && at%unit+width > unit:
		at = up(at, unit)
	}
	if name != "" || l.arch == "arm64" {
		l.align = max(l.align, align)
	}
	l.bits = at + width
	l.size = max(l.size, up(l.bits, 8)/8)
	if name == "" {
		return
	}
	l.members = append(l.members, kernel.Member{Name: name, Off: at / 8, Bit: uint8(at % 8), BitSize: uint8(width),
		Type: t.id})
}

// end is the size of all.
func (l *layout) end(a attributes) {
	l.align = max(l.align, a.aligned, 1)
	l.size = up(l.size, l.align)
}

// composite is `struct NAME { … }`, or only its name.
func (p *parser) composite() *typ {
	word := p.next()
	var a attributes
	p.attributes(&a)
	is := kernel.Type{Kind: kernel.KindStruct}
	if word.text == "union" {
		is.Kind = kernel.KindUnion
	}
	var t *typ
	name := p.peek()
	if name.word() {
		p.next()
		t, is.Name = p.tag(word, name), name.text
	} else {
		t = &typ{id: p.out.New(), open: true, kind: is.Kind}
	}
	if open := p.peek(); open.text != "{" {
		if is.Name == "" {
			open.fail("got %s, want the name of a %s or its members in { }", open.describe(), word.text)
		}
		return t
	}
	if !t.open {
		name.fail("%s %s is declared twice", word.text, name.text)
	}
	p.next()
	from := p.list
	p.skipBody()
	p.attributes(&a) // packed may stand behind the members
	behind := p.list
	p.list = from
	l := layout{union: is.Kind == kernel.KindUnion, packed: a.packed, arch: p.arch}
	for !p.accept("}") {
		p.members(&l)
	}
	p.list = behind
	l.end(a)
	is.Size, is.Members = l.size, l.members
	p.out.Set(t.id, is)
	t.size, t.align, t.open = l.size, l.align, false
	return t
}

// skipBody goes behind the } of members.
func (p *parser) skipBody() {
	for depth := 1; depth > 0; {
		switch at := p.next(); at.text {
		case "{":
			depth++
		case "}":
			depth--
		case "":
			at.fail("the members have no end: } is missing")
		}
	}
}

// members are those of one declaration: int a, *b, c : 3;
func (p *parser) members(l *layout) {
	var common attributes
	word := p.peek()
	base := p.specifier(&common)
	if p.accept(";") { // an anonymous struct or union
		if base.kind != kernel.KindStruct && base.kind != kernel.KindUnion {
			word.fail("this member has no name")
		}
		if base.open {
			word.fail("the size of this member is not known: its type is not declared before")
		}
		l.member("", base, common)
		return
	}
	for {
		p.oneMember(l, word, base, common)
		if !p.accept(",") {
			break
		}
	}
	p.want(";", "behind the member")
}

// oneMember is a name with what stands behind it.
func (p *parser) oneMember(l *layout, word lexeme, base *typ, a attributes) {
	d := declared{typ: base}
	if p.peek().text != ":" {
		d = p.declarator(base)
		if d.name.text == "" {
			p.peek().fail("got %s, want the name of a member", p.peek().describe())
		}
	}
	p.attributes(&a)
	if d.typ.open && d.typ.kind != kernel.KindProto {
		d.typ = p.knownByID(d.typ, word)
	}
	if d.typ.open {
		word.fail("the size of this member is not known: its type is not declared before")
	}
	for _, m := range l.members {
		if m.Name == d.name.text && m.Name != "" {
			d.name.fail("there is a member %s already", m.Name)
		}
	}
	if !p.accept(":") {
		p.attributes(&a)
		l.member(d.name.text, d.typ, a)
		return
	}
	at := p.peek()
	width := p.constant()
	p.attributes(&a)
	if d.typ.kind != kernel.KindInt && d.typ.kind != kernel.KindEnum || d.typ.size > 8 {
		at.fail("a bit-field is an int, a bool or an enum")
	}
	most := int64(8 * d.typ.size)
	if d.typ.is.Bool {
		most = 1
	}
	if width < 0 || width > most || width == 0 && d.name.text != "" {
		at.fail("a bit-field of %d bits; want 1 to %d", width, most)
	}
	l.bitField(d.name.text, d.typ, int(width), a)
}

// knownByID is a struct of the kernel's that the text does not declare, and that lies in a member.
func (p *parser) knownByID(t *typ, at lexeme) *typ {
	for key, of := range p.tags {
		if of == t {
			words := tokens(key)
			return p.known(t, words[0], lexeme{words[1].text, at.line, at.column})
		}
	}
	return t
}
