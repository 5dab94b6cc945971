package printfmt

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Expressions of C in formats, by precedence.

// A node is an expression, as a function of the record.
type node func(Fields) (Value, error)

// A parser takes an expression apart by precedence.
type parser struct {
	rest  []token
	enums func(string) (int64, bool)
}

func (p *parser) peek() token { return p.rest[0] }

func (p *parser) next() token {
	t := p.rest[0]
	if t.kind != end {
		p.rest = p.rest[1:]
	}
	return t
}

// text is a string, or several that follow each other, which C joins.
func (p *parser) text() (s string) {
	for p.peek().kind == text {
		s += p.next().text
	}
	return s
}

func (p *parser) take(mark string) bool {
	if t := p.peek(); t.kind == sign && t.text == mark {
		p.next()
		return true
	}
	return false
}

func (p *parser) want(mark string) error {
	if !p.take(mark) {
		return fmt.Errorf("got %q, want %q", p.peek().text, mark)
	}
	return nil
}

// choice is a ? b : c.
func (p *parser) choice() (node, error) {
	cond, err := p.binary(0)
	if err != nil || !p.take("?") {
		return cond, err
	}
	yes, err := p.choice()
	if err != nil {
		return nil, err
	}
	if err := p.want(":"); err != nil {
		return nil, err
	}
	no, err := p.choice()
	if err != nil {
		return nil, err
	}
	return func(f Fields) (Value, error) {
		v, err := cond(f)
		if err != nil || v.kind == isMissing {
			return v, err
		}
		if v.truth() {
			return yes(f)
		}
		return no(f)
	}, nil
}

// levels are the binary operators of C, those that bind least first.
var levels = [][]string{{"||"}, {"&&"}, {"|"}, {"^"}, {"&"}, {"==", "!="}, {"<", ">", "<=", ">="}, {"<<", ">>"},
	{"+", "-"}, {"*", "/", "%"}}

func (p *parser) binary(level int) (node, error) {
	if level == len(levels) {
		return p.unary()
	}
	x, err := p.binary(level + 1)
	for err == nil {
		op := p.peek()
		if op.kind != sign || !slices.Contains(levels[level], op.text) {
			break
		}
		p.next()
		var y node
		if y, err = p.binary(level + 1); err == nil {
			x = both(op.text, x, y)
		}
	}
	return x, err
}

// both applies an operator; && and || look at the second side only if they must.
func both(op string, x, y node) node {
	return func(f Fields) (Value, error) {
		a, err := x(f)
		if err != nil || a.kind == isMissing {
			return a, err
		}
		if op == "&&" && !a.truth() || op == "||" && a.truth() {
			return truth(a.truth()), nil
		}
		b, err := y(f)
		if err != nil {
			return b, err
		}
		return a.combine(op, b)
	}
}

func (p *parser) unary() (node, error) {
	for _, op := range []string{"!", "~", "-", "+"} {
		if !p.take(op) {
			continue
		}
		x, err := p.unary()
		return func(f Fields) (Value, error) {
			v, err := x(f)
			if err != nil {
				return v, err
			}
			return v.single(op)
		}, err
	}
	if t, ok := p.cast(); ok {
		x, err := p.unary()
		return func(f Fields) (Value, error) {
			v, err := x(f)
			if err != nil {
				return v, err
			}
			return v.as(t)
		}, err
	}
	return p.primary()
}

func (p *parser) primary() (node, error) {
	switch t := p.next(); t.kind {
	case number:
		v := Value{kind: isInt, n: t.val, signed: t.neg, size: 4}
		if t.wide {
			v.size = 8
		}
		return func(Fields) (Value, error) { return v, nil }, nil
	case text:
		s := t.text + p.text()
		return func(Fields) (Value, error) { return String(s), nil }, nil
	case name:
		return p.named(t.text)
	case sign:
		if t.text == "(" {
			x, err := p.choice()
			return x, errors.Join(err, p.want(")"))
		}
	}
	return nil, errors.New("an expression is missing")
}

// named is a field of the record, a helper, or a constant of an enum.
func (p *parser) named(word string) (node, error) {
	if word == "REC" {
		if err := p.want("->"); err != nil {
			return nil, err
		}
		field := p.next().text
		return p.elementOf(fieldNode(field))
	}
	if p.take("(") {
		return p.helper(word)
	}
	v, ok := p.enums(word)
	if !ok {
		return nil, fmt.Errorf("name %s", word)
	}
	return func(Fields) (Value, error) { return Int(v, 4, true), nil }, nil
}

// elementOf is x[i], or x where no index follows.
func (p *parser) elementOf(x node) (node, error) {
	if !p.take("[") {
		return x, nil
	}
	i, err := p.choice()
	if err := errors.Join(err, p.want("]")); err != nil {
		return nil, err
	}
	return func(f Fields) (Value, error) {
		v, err := x(f)
		if err != nil {
			return v, err
		}
		at, err := i(f)
		if err != nil {
			return at, err
		}
		return v.element(at)
	}, nil
}

func fieldNode(field string) node {
	return func(f Fields) (Value, error) {
		if v, ok := f(field); ok {
			return v, nil
		}
		return Value{}, fmt.Errorf("field %s has no value of the kernel's type", field)
	}
}

// cast reads the type in parentheses that stands before an operand. Words before ) are a type where an operand follows.
func (p *parser) cast() (ctype, bool) {
	n := 1
	for p.rest[0].kind == sign && p.rest[0].text == "(" && p.rest[n].kind == name && p.rest[n].text != "REC" {
		n++
	}
	words, stars := n, 0
	for words > 1 && p.rest[n].kind == sign && p.rest[n].text == "*" {
		n++
		stars++
	}
	if words == 1 || p.rest[n].kind != sign || p.rest[n].text != ")" {
		return ctype{}, false
	}
	_, known := types[p.words(1, words)]
	switch after := p.rest[n+1]; {
	case after.kind == sign && after.text == "-" && (known || stars > 0):
	case after.kind == end, after.kind == sign && !slices.Contains([]string{"(", "~", "!"}, after.text):
		return ctype{}, false
	}
	spelled := p.words(1, words)
	p.rest = p.rest[n+1:]
	if stars > 0 {
		return ctype{size: 8, pointer: true}, true
	}
	return typeOf(spelled), true
}

// words are those of a type.
func (p *parser) words(from, to int) string {
	var spelled []string
	for _, t := range p.rest[from:to] {
		spelled = append(spelled, t.text)
	}
	return strings.Join(spelled, " ")
}

// sizeOf reads TYPE) behind sizeof(.
func (p *parser) sizeOf() (node, error) {
	n := 0
	for p.rest[n].kind == name {
		n++
	}
	t, known := types[p.words(0, n)]
	if !known {
		return nil, fmt.Errorf("the size of %s", p.words(0, n))
	}
	p.rest = p.rest[n:]
	return func(Fields) (Value, error) { return Int(int64(t.size), 8, false), nil }, p.want(")")
}
