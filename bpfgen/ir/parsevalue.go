package ir

import (
	"fmt"
	"slices"
)

// The parser of instructions and terminators of the text form.

// opNames finds an op, condNumbers a condition by name.
var (
	opNames     = map[string]Op{}
	condNumbers = map[string]Cond{}
)

func init() {
	for o := OpParam + 1; o < numOps; o++ {
		opNames[opTable[o].name] = o
	}
	for c, name := range condNames {
		condNumbers[name] = Cond(c)
	}
}

// value reads an instruction that is not a terminator.
func (p *parser) value() error {
	v := &Value{}
	_, named := numbered(p.peek(), "v", maxValueID)
	if named {
		var err error
		if v, err = p.define(p.next()); err != nil {
			return err
		}
		if err := p.expect("="); err != nil {
			return err
		}
	} else {
		p.anon = append(p.anon, v)
	}
	name := p.next().text
	op, ok := opNames[name]
	if !ok {
		return fmt.Errorf("unknown instruction %q", name)
	}
	if named && !op.HasResult() {
		return fmt.Errorf("%s has no result", op)
	}
	v.Op, v.Block = op, p.cur
	p.cur.Values = append(p.cur.Values, v)
	if err := p.details(v); err != nil {
		return err
	}
	v.Pos = p.pos()
	return nil
}

// details reads what stands after the op, in the order in which print writes it.
func (p *parser) details(v *Value) error {
	if p.peek().kind == tokStr {
		v.Sym = p.next().text
	}
	if id, ok := numbered(p.peek(), "s", maxBlockID); ok {
		if id >= len(p.f.Slots) {
			return fmt.Errorf("no slot s%d", id)
		}
		p.next()
		v.Slot = p.f.Slots[id]
	}
	var err error
	switch v.immForm() {
	case immLeading:
		if v.Imm, err = p.int(); err != nil {
			return err
		}
	case immCond:
		c, ok := condNumbers[p.next().text]
		if !ok {
			return fmt.Errorf("want a condition")
		}
		v.Imm = int64(c)
	}
	return p.operands(v)
}

// operands reads the values and an immediate in last place.
func (p *parser) operands(v *Value) error {
	hasImm := false
	for p.peek().kind == tokWord {
		a, err := p.use(p.next())
		if err != nil {
			return err
		}
		v.Args = append(v.Args, a)
		if !p.accept(",") {
			break
		}
		if p.peek().kind == tokInt {
			v.Imm, hasImm = p.next().num, true
			break
		}
		if p.peek().kind != tokWord {
			return fmt.Errorf("want a value")
		}
	}
	form := v.immForm()
	if form == immOffset && !hasImm {
		var err error
		v.Imm, err = p.int()
		return err
	}
	if wants := form == immOperand || form == immOrY; wants != hasImm {
		return fmt.Errorf("%s: wrong place or lack of a number", v.Op)
	}
	return nil
}

// term reads a terminator; done is false if the line is none.
func (p *parser) term() (done bool, err error) {
	t := Term{}
	switch {
	case p.acceptWord("jump"):
		t.Kind = Jump
		err = p.edge(&t)
	case p.acceptWord("ret"):
		t.Kind = Ret
		if p.peek().kind == tokWord {
			t.X, err = p.use(p.next())
		}
	case p.acceptWord("br"):
		t.Kind = Branch
		err = p.branch(&t)
	default:
		return false, nil
	}
	t.Pos = p.pos()
	p.cur.Term = t
	return true, err
}

func (p *parser) branch(t *Term) error {
	c, ok := condNumbers[p.next().text]
	if !ok {
		return fmt.Errorf("want a condition")
	}
	t.Cond = c
	var err error
	if t.X, err = p.use(p.next()); err != nil {
		return err
	}
	if err := p.expect(","); err != nil {
		return err
	}
	if p.peek().kind == tokInt {
		t.Imm = p.next().num
	} else if t.Y, err = p.use(p.next()); err != nil {
		return err
	}
	if err := p.expect("->"); err != nil {
		return err
	}
	if err := p.edge(t); err != nil {
		return err
	}
	if err := p.expect(","); err != nil {
		return err
	}
	return p.edge(t)
}

// edge reads a target with its arguments and adds it to t.
func (p *parser) edge(t *Term) error {
	id, ok := numbered(p.next(), "b", maxBlockID)
	if !ok {
		return fmt.Errorf("want a block")
	}
	e := Edge{Block: p.block(id)}
	if p.accept("(") {
		for {
			a, err := p.use(p.next())
			if err != nil {
				return err
			}
			e.Args = append(e.Args, a)
			if !p.accept(",") {
				break
			}
		}
		if err := p.expect(")"); err != nil {
			return err
		}
	}
	t.To = append(slices.Clip(t.To), e)
	if t.Kind == Branch && p.acceptWord("likely") {
		if t.Likely != 0 {
			return fmt.Errorf("both ways likely")
		}
		t.Likely = uint8(len(t.To))
	}
	return nil
}
