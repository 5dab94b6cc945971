package ir

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The parser of the text form of SSA: functions, blocks, positions.

// The greatest numbers that Parse takes, so that tables indexed by them stay small.
const (
	maxValueID = 1 << 20
	maxBlockID = 1 << 16
	maxSlotLen = 1 << 16
)

// Parse reads the text form. It checks what the form needs to be read; Check
// does the rest.
func Parse(text string) (*Func, error) {
	p := &parser{
		f:      &Func{},
		scan:   scanner{files: map[string]*string{}},
		blocks: map[int]*Block{},
		values: map[int]*Value{},
	}
	for i, line := range strings.Split(text, "\n") {
		p.scan.line = line
		toks, err := p.scan.all()
		p.toks = toks
		if err == nil && len(toks) > 1 {
			err = p.statement()
		}
		if err == nil && len(p.toks) > 0 && p.toks[0].kind != tokEnd {
			err = fmt.Errorf("unexpected %q", p.toks[0].text)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	return p.finish()
}

// A parser holds what was read so far. Values and blocks may be used before
// the line that defines them: values gets an entry at the first mention.
type parser struct {
	// scan takes the current line apart.
	scan scanner
	toks []token // of the line, what is left
	// f is the function under construction.
	f *Func
	// state says which lines may follow.
	state parseState
	// cur is the block whose lines are read, once a head of a block has come.
	cur    *Block
	blocks map[int]*Block // mentioned or defined; defined: in f.Blocks
	values map[int]*Value // mentioned or defined; defined: Op is set
	anon   []*Value       // values without a number
}

type parseState uint8

const (
	beforeFunc parseState = iota
	inHead
	inBlock
	afterFunc
)

func (p *parser) peek() token { return p.toks[0] }

func (p *parser) next() token {
	t := p.toks[0]
	if t.kind != tokEnd {
		p.toks = p.toks[1:]
	}
	return t
}

// accept takes the next token if it is punct.
func (p *parser) accept(punct string) bool {
	if p.peek().is(punct) {
		p.next()
		return true
	}
	return false
}

func (p *parser) expect(punct string) error {
	if !p.accept(punct) {
		return fmt.Errorf("want %q", punct)
	}
	return nil
}

// acceptWord takes the next token if it is the word w.
func (p *parser) acceptWord(w string) bool {
	if t := p.peek(); t.kind == tokWord && t.text == w {
		p.next()
		return true
	}
	return false
}

func (p *parser) int() (int64, error) {
	t := p.next()
	if t.kind != tokInt {
		return 0, fmt.Errorf("want a number")
	}
	return t.num, nil
}

// pos takes a position if there is one.
func (p *parser) pos() Pos {
	if p.peek().kind == tokPos {
		return p.next().pos
	}
	return Pos{}
}

// numbered splits v12 into its number.
func numbered(t token, prefix string, max int) (int, bool) {
	digits, ok := strings.CutPrefix(t.text, prefix)
	if t.kind != tokWord || !ok {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, 10, 31)
	if err != nil || n > uint64(max) || strconv.FormatUint(n, 10) != digits {
		return 0, false
	}
	return int(n), true
}

func (p *parser) statement() error {
	switch p.state {
	case beforeFunc:
		return p.header()
	case afterFunc:
		return fmt.Errorf("text after the function")
	}
	if p.accept("}") {
		p.state = afterFunc
		return nil
	}
	if id, ok := numbered(p.peek(), "b", maxBlockID); ok {
		p.next()
		p.state = inBlock
		return p.blockHead(id)
	}
	if p.state == inHead {
		return p.declaration()
	}
	if p.cur.Term.Kind != TermNone {
		return fmt.Errorf("instruction after the end of the block")
	}
	if done, err := p.term(); done {
		return err
	}
	return p.value()
}

func (p *parser) header() error {
	if !p.acceptWord("func") || p.peek().kind != tokStr {
		return fmt.Errorf(`want func "name" {`)
	}
	p.f.Name = p.next().text
	p.state = inHead
	return p.expect("{")
}

// declaration reads a slot or the size of the scratch memory.
func (p *parser) declaration() error {
	if p.acceptWord("scratch") {
		n, err := p.int()
		if err != nil || n <= 0 || n > 1<<30 {
			return fmt.Errorf("bad size of scratch memory")
		}
		p.f.ScratchSize = int(n)
		return nil
	}
	if !p.acceptWord("slot") {
		return fmt.Errorf("want a slot, scratch or a block")
	}
	if id, ok := numbered(p.next(), "s", maxBlockID); !ok || id != len(p.f.Slots) {
		return fmt.Errorf("want slot s%d", len(p.f.Slots))
	}
	n, err := p.int()
	if err != nil || n <= 0 || n > maxSlotLen || n%8 != 0 {
		return fmt.Errorf("the size of a slot is a positive multiple of 8")
	}
	p.f.NewSlot(int(n))
	return nil
}

// block gives block id, which may be defined later.
func (p *parser) block(id int) *Block {
	b := p.blocks[id]
	if b == nil {
		b = &Block{ID: id}
		p.blocks[id] = b
	}
	return b
}

func (p *parser) blockHead(id int) error {
	b := p.block(id)
	if b.Func != nil {
		return fmt.Errorf("second definition of b%d", id)
	}
	b.Func = p.f
	p.f.Blocks = append(p.f.Blocks, b)
	p.f.nextBlock = max(p.f.nextBlock, id+1)
	p.cur = b
	if p.accept("(") {
		for {
			if err := p.param(); err != nil {
				return err
			}
			if !p.accept(",") {
				break
			}
		}
		if err := p.expect(")"); err != nil {
			return err
		}
	}
	return p.expect(":")
}

func (p *parser) param() error {
	v, err := p.define(p.next())
	if err != nil {
		return err
	}
	v.Op, v.Block, v.Pos = OpParam, p.cur, p.pos()
	p.cur.Params = append(p.cur.Params, v)
	return nil
}

// define gives the value that t names, which must be new.
func (p *parser) define(t token) (*Value, error) {
	v, err := p.use(t)
	if err != nil {
		return nil, err
	}
	if v.Op != OpInvalid {
		return nil, fmt.Errorf("second definition of %s", t.text)
	}
	return v, nil
}

// use gives the value that t names.
func (p *parser) use(t token) (*Value, error) {
	id, ok := numbered(t, "v", maxValueID)
	if !ok {
		return nil, fmt.Errorf("want a value")
	}
	v := p.values[id]
	if v == nil {
		v = &Value{ID: id}
		p.values[id] = v
		p.f.nextValue = max(p.f.nextValue, id)
	}
	return v, nil
}

// finish resolves what could not be known line by line.
func (p *parser) finish() (*Func, error) {
	if p.state != afterFunc {
		return nil, fmt.Errorf("the text ends before the function")
	}
	var missing []string
	for _, b := range p.blocks {
		if b.Func == nil {
			missing = append(missing, b.String())
		}
	}
	for _, v := range p.values {
		if v.Op == OpInvalid {
			missing = append(missing, v.String())
		}
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		return nil, fmt.Errorf("used but not defined: %s", strings.Join(missing, ", "))
	}
	if len(p.f.Blocks) == 0 {
		return nil, fmt.Errorf("a function without blocks")
	}
	for _, v := range p.anon {
		p.f.nextValue++
		v.ID = p.f.nextValue
	}
	return p.f, nil
}
