package ctypes

import (
	"slices"
	"strings"

	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/naming"
)

// Base types of C (unsigned long), types of headers as size_t, tags and enums in types(), and the message that a type
// is not declared.

// baseWords are the keywords of which C makes its own types.
var baseWords = []string{"void", "char", "short", "int", "long", "signed", "unsigned", "float", "double", "_Bool",
	"bool", "__int128", "__signed__", "__signed"}

func isBase(word string) bool { return slices.Contains(baseWords, word) }

// base is a type of C's own: unsigned long long int.
func (p *parser) base() *typ {
	first := p.peek()
	var words []string
	var ignored attributes
	for isBase(p.peek().text) {
		words = append(words, p.next().text)
		p.attributes(&ignored)
	}
	is, ok := Base(words, p.arch)
	if !ok {
		first.fail("these words make no type of C together")
	}
	if is.Kind == kernel.KindVoid {
		return &typ{open: true, kind: kernel.KindVoid}
	}
	return p.plain(is)
}

// Base is the type of C's own that keywords make together, as unsigned and long; false where they make none.
func Base(words []string, arch string) (is kernel.Type, ok bool) {
	count := map[string]int{}
	for _, word := range words {
		if !isBase(word) {
			return is, false
		}
		count[strings.Trim(word, "_")]++
	}
	is = kernel.Type{Kind: kernel.KindInt, Name: "int", Size: 4, Signed: count["unsigned"] == 0}
	switch {
	case count["void"] > 0:
		return kernel.Type{Name: "void"}, true
	case count["Bool"]+count["bool"] > 0:
		is = kernel.Type{Kind: kernel.KindInt, Name: "_Bool", Size: 1, Bool: true}
	case count["char"] > 0:
		is.Name, is.Size = "char", 1
		if count["signed"]+count["unsigned"] == 0 {
			is.Signed = arch == "amd64"
		} else if count["signed"] > 0 {
			is.Name = "signed char"
		}
	case count["short"] > 0:
		is.Name, is.Size = "short", 2
	case count["float"] > 0:
		is = kernel.Type{Kind: kernel.KindFloat, Name: "float", Size: 4}
	case count["double"] > 0:
		is = kernel.Type{Kind: kernel.KindFloat, Name: "double", Size: 8 + 8*min(count["long"], 1)}
	case count["int128"] > 0:
		is.Name, is.Size = "__int128", 16
	case count["long"] > 0:
		is.Name, is.Size = "long", 8
	}
	if count["char"]+count["short"]+count["float"]+count["double"] > 1 || count["signed"]+count["unsigned"] > 1 ||
		count["long"] > 2 || count["float"]+count["double"] > 0 && count["unsigned"]+count["signed"] > 0 {
		return is, false
	}
	if is.Kind == kernel.KindInt && !is.Bool && count["unsigned"] > 0 {
		is.Name = "unsigned " + is.Name
	}
	return is, len(words) > 0
}

// plain is a type without parts, once for each name.
func (p *parser) plain(is kernel.Type) *typ {
	if t, ok := p.bases[is.Name]; ok && t.size == is.Size {
		return t
	}
	t := &typ{id: p.out.Add(is), size: is.Size, align: is.Size, kind: is.Kind, is: is}
	p.bases[is.Name] = t
	return t
}

// standard are the names of headers, for kernels whose types lack them: a letter for the sign and the bytes.
var standard = map[string]string{"size_t": "u8", "ssize_t": "s8", "uintptr_t": "u8", "intptr_t": "s8",
	"ptrdiff_t": "s8", "off_t": "s8", "time_t": "s8", "pid_t": "s4", "uid_t": "u4", "gid_t": "u4", "mode_t": "u4",
	"socklen_t": "u4", "wchar_t": "s4"}

func init() {
	for _, n := range []struct{ bits, bytes string }{{"8", "1"}, {"16", "2"}, {"32", "4"}, {"64", "8"}} {
		for _, sign := range []string{"u", "s"} {
			is, c := sign+n.bytes, strings.TrimPrefix(sign, "s")+"int"+n.bits+"_t"
			for _, name := range []string{c, sign + n.bits, "__" + sign + n.bits} {
				standard[name] = is
			}
		}
		for _, end := range []string{"le", "be"} {
			standard["__"+end+n.bits] = "u" + n.bytes
		}
	}
}

// OfHeaders is what a name of the C library's headers stands for, as unsigned and long for size_t; nil where it is none
// of those that are known.
func OfHeaders(name, arch string) []string {
	is, ok := standard[name]
	if !ok {
		return nil
	}
	size, signed := is[1], is[0] == 's'
	if name == "wchar_t" {
		signed = arch == "amd64"
	}
	word := map[byte]string{'1': "char", '2': "short", '4': "int", '8': "long"}[size]
	switch {
	case !signed:
		return []string{"unsigned", word}
	case size == '1':
		return []string{"signed", word}
	}
	return []string{word}
}

// typedef is a name of a type: one of this text, of a header, or of the kernel.
func (p *parser) typedef(name lexeme) *typ {
	if t, ok := p.names[name.text]; ok {
		return t
	}
	if words := OfHeaders(name.text, p.arch); words != nil {
		is, _ := Base(words, p.arch)
		return p.plain(is)
	}
	if id, ok := p.btf.Named(kernel.KindTypedef, name.text); ok {
		return p.ofKernel(id, name)
	}
	for _, tag := range []string{"struct ", "union ", "enum "} {
		if _, ok := p.tags[tag+name.text]; ok {
			name.fail("no type %s; want %s%s", name.text, tag, name.text)
		}
	}
	near := ""
	var all []string
	for n := range p.names {
		all = append(all, n)
	}
	for n := range standard {
		all = append(all, n)
	}
	slices.Sort(all)
	if s := naming.Suggest(name.text, append(all, baseWords...)); s != "" {
		near = "; did you mean " + s + "?"
	}
	name.fail("no type %s is declared before, nor has the kernel one%s", name.text, near)
	return nil
}

// ofKernel is a type of the kernel's, whose alignment follows from what lies in it.
func (p *parser) ofKernel(id kernel.TypeID, at lexeme) *typ {
	is, err := p.btf.Type(p.btf.Skip(id))
	if err != nil {
		at.fail("%v", err)
	}
	t := &typ{id: id, kind: is.Kind, is: is}
	size, err := p.btf.Size(id)
	if err != nil {
		t.open = true
		return t
	}
	t.size, t.align = size, p.alignOf(id, 0)
	return t
}

// alignOf is the alignment of a type of the kernel's: the most that its members and their places allow.
func (p *parser) alignOf(id kernel.TypeID, depth int) int {
	t, err := p.btf.Type(p.btf.Skip(id))
	if err != nil || depth > maxDepth {
		return 1
	}
	switch t.Kind {
	case kernel.KindArray:
		return p.alignOf(t.Elem, depth+1)
	case kernel.KindPtr:
		return 8
	case kernel.KindStruct, kernel.KindUnion:
		out := 1
		for _, m := range t.Members {
			if a := p.alignOf(m.Type, depth+1); m.Off%a == 0 && t.Size%a == 0 {
				out = max(out, a)
			}
		}
		return out
	}
	return max(t.Size, 1)
}

// kinds are those of tags.
var kinds = map[string]kernel.TypeKind{"struct": kernel.KindStruct, "union": kernel.KindUnion, "enum": kernel.KindEnum}

// tag is a struct, a union or an enum by its name. One that is not declared is one of the kernel where that has it.
func (p *parser) tag(word, name lexeme) *typ {
	key := word.text + " " + name.text
	t, ok := p.tags[key]
	if !ok {
		t = &typ{id: p.out.New(), open: true, kind: kinds[word.text]}
		p.tags[key] = t
	}
	return t
}

// known is a tag whose size is needed here: one that is not declared is the kernel's.
func (p *parser) known(t *typ, word, name lexeme) *typ {
	if !t.open {
		return t
	}
	if id, ok := p.btf.Named(kinds[word.text], name.text); ok {
		return p.ofKernel(id, name)
	}
	return t
}

// complete gives the tags that are only named a meaning: that of the kernel, or none.
func (p *parser) complete() {
	for key, t := range p.tags {
		if !t.open {
			continue
		}
		word, name, _ := strings.Cut(key, " ")
		is := kernel.Type{Kind: kernel.KindFwd, Name: name, Union: word == "union"}
		if id, ok := p.btf.Named(kinds[word], name); ok {
			is = kernel.Type{Kind: kernel.KindModifier, Elem: id}
		}
		p.out.Set(t.id, is)
	}
}

// enum is `enum NAME { A, B = 3 }`, or only its name.
func (p *parser) enum() *typ {
	word := p.next()
	var a attributes
	p.attributes(&a)
	var t *typ
	name := p.peek()
	if name.word() {
		p.next()
		t = p.tag(word, name)
	} else {
		t = &typ{id: p.out.New(), open: true, kind: kernel.KindEnum}
	}
	if p.peek().text != "{" {
		if t.open {
			if of := p.known(t, word, name); !of.open {
				return of
			}
			name.fail("enum %s is not declared before, nor has the kernel it", name.describe())
		}
		return t
	}
	if !t.open {
		name.fail("enum %s is declared twice", name.text)
	}
	p.next()
	is := kernel.Type{Kind: kernel.KindEnum, Size: 4}
	if name.word() {
		is.Name = name.text
	}
	next, least, most := int64(0), int64(0), int64(0)
	for !p.accept("}") {
		value := p.next()
		if !value.word() {
			value.fail("got %s, want the name of a constant", value.describe())
		}
		if _, twice := p.values[value.text]; twice {
			value.fail("the constant %s is declared twice", value.text)
		}
		if p.accept("=") {
			next = p.constant()
		}
		is.Enums = append(is.Enums, kernel.EnumValue{Name: value.text, Val: next})
		p.values[value.text] = next
		p.made = append(p.made, kernel.EnumValue{Name: value.text, Val: next})
		least, most = min(least, next), max(most, next)
		next++
		if p.peek().text != "}" {
			p.want(",", "or } behind the constant")
		}
	}
	p.attributes(&a)
	is.Signed = least < 0
	if most > 1<<32-1 || is.Signed && most > 1<<31-1 || least < -1<<31 {
		is.Size = 8
	}
	if a.packed {
		is.Size = enumBytes(least, most)
	}
	p.out.Set(t.id, is)
	t.size, t.align, t.open, t.is = is.Size, is.Size, false, is
	return t
}

// enumBytes is the size of a packed enum.
func enumBytes(least, most int64) int {
	for n := 1; n < 8; n *= 2 {
		bits := 8 * n
		if least < 0 && least >= -1<<(bits-1) && most < 1<<(bits-1) || least >= 0 && most < 1<<bits {
			return n
		}
	}
	return 8
}
