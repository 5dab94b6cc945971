package ctypes

import (
	"strconv"
	"strings"
)

// Constants of C in texts of types(): lengths, enums, widths.

// levels are the operators of constants, those that bind least first.
var levels = [][]string{{"||"}, {"&&"}, {"|"}, {"^"}, {"&"}, {"==", "!="}, {"<", ">", "<=", ">="}, {"<<", ">>"},
	{"+", "-"}, {"*", "/", "%"}}

// constant is the length of an array, the value of an enum's constant, the width of a bit-field.
func (p *parser) constant() int64 { return p.operators(0) }

func (p *parser) operators(level int) int64 {
	if level == len(levels) {
		return p.unary()
	}
	x := p.operators(level + 1)
	for {
		at := p.peek()
		found := false
		for _, op := range levels[level] {
			found = found || at.text == op
		}
		if !found {
			return x
		}
		p.next()
		x = compute(at, x, p.operators(level+1))
	}
}

func compute(op lexeme, x, y int64) int64 {
	truth := func(is bool) int64 {
		if is {
			return 1
		}
		return 0
	}
	switch op.text {
	case "+":
		return x + y
	case "-":
		return x - y
	case "*":
		return x * y
	case "/", "%":
		if y == 0 {
			op.fail("a division by 0")
		}
		if op.text == "/" {
			return x / y
		}
		return x % y
	case "<<", ">>":
		if y < 0 || y > 63 {
			op.fail("a shift by %d; want 0 to 63", y)
		}
		if op.text == "<<" {
			return x << y
		}
		return x >> y
	case "&":
		return x & y
	case "|":
		return x | y
	case "^":
		return x ^ y
	case "==":
		return truth(x == y)
	case "!=":
		return truth(x != y)
	case "<":
		return truth(x < y)
	case ">":
		return truth(x > y)
	case "<=":
		return truth(x <= y)
	case ">=":
		return truth(x >= y)
	case "&&":
		return truth(x != 0 && y != 0)
	}
	return truth(x != 0 || y != 0)
}

func (p *parser) unary() int64 {
	if p.depth++; p.depth > maxDepth {
		p.peek().fail("this constant is too deep")
	}
	defer func() { p.depth-- }()
	switch t := p.next(); {
	case t.text == "-":
		return -p.unary()
	case t.text == "+":
		return p.unary()
	case t.text == "~":
		return ^p.unary()
	case t.text == "!":
		return compute(lexeme{text: "=="}, p.unary(), 0)
	case t.text == "(":
		n := p.constant()
		p.want(")", "behind the constant")
		return n
	case t.text == "sizeof":
		p.want("(", "behind sizeof")
		var a attributes
		at := p.peek()
		of := p.declarator(p.specifier(&a)).typ
		if of.open {
			of = p.knownByID(of, at)
		}
		if of.open {
			at.fail("the size of this type is not known")
		}
		p.want(")", "behind the type")
		return int64(of.size)
	case t.number():
		n, err := strconv.ParseUint(strings.TrimRight(t.text, "uUlL"), 0, 64)
		if err != nil {
			t.fail("%s is no number of C", t.text)
		}
		return int64(n)
	case t.word():
		if n, ok := p.values[t.text]; ok {
			return n
		}
		if n, _, ok := p.btf.EnumValue(t.text); ok {
			return n
		}
		t.fail("no constant %s is known; want a number, or a constant of an enum", t.text)
	default:
		t.fail("got %s, want a constant", t.describe())
	}
	return 0
}
