package tree

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/wire"
)

// The text form of trees, which `explain --types` prints.
//
// The text form is written for people and for golden files; nothing parses
// it. One line is one statement, after it line:column in the script:
//
//	program "p0" probe 0 tracepoint sched:sched_switch
//	  local $0 x u32
//	  if (gt:bool $0:u32 10:s64) @3:4
//	    send r0 (builtin:u32 pid) @3:9
//
// An expression is (op:type operands); constants are value:type, locals
// $number:type. The block of an inlined call stands below its statement's
// line, named by its number.

// String gives the text form of everything in u.
func (u *Unit) String() string {
	p := &printer{}
	p.line("unit target pid=%d self=%d strmax=%d", u.Target.PID, u.Target.Self, u.StrMax)
	for i, c := range u.Containers {
		if c != nil {
			p.container(i, c)
		}
	}
	for i, s := range u.Spans {
		p.span(i, s)
	}
	for _, r := range u.Records {
		p.record(r)
	}
	for _, id := range slices.Sorted(maps.Keys(u.Keep)) {
		p.line("keep probe %d the last %d", id, u.Keep[id])
	}
	for _, prog := range u.Programs {
		p.program(prog)
	}
	return p.b.String()
}

// String gives the text form of one program.
func (prog *Program) String() string {
	p := &printer{}
	p.program(prog)
	return p.b.String()
}

// String gives the text form of an expression; the blocks of inlined calls
// follow on lines of their own.
func (e *Expr) String() string {
	p := &printer{}
	p.b.WriteString(p.expr(e))
	p.b.WriteByte('\n')
	p.flush()
	return strings.TrimSuffix(p.b.String(), "\n")
}

// TextOver is String for an expression without inlined calls, in which operand gives the text of each operand.
func (e *Expr) TextOver(operand func(*Expr) string) string {
	var b strings.Builder
	p := &printer{operand: operand}
	p.write(&b, e)
	return b.String()
}

// printer writes indented lines. bodies are the inlined blocks met in the
// expressions of the current line.
type printer struct {
	// b is the text so far.
	b strings.Builder
	// indent is how deep the next line stands, in steps of two blanks.
	indent int
	// bodies are the inlined blocks that the current line has named. They are printed behind that line.
	bodies []*Expr
	// shape: see Block.Shape, for which sends are collected.
	shape bool
	sends []*Stmt
	// names, if not nil, gives locals and inlines other numbers: see Block.Key.
	names *names
	// operand, if not nil, gives the text of the operands of expressions: see Expr.TextOver.
	operand func(*Expr) string
}

func (p *printer) line(format string, args ...any) {
	p.b.WriteString(strings.Repeat("  ", p.indent))
	fmt.Fprintf(&p.b, format, args...)
	p.b.WriteByte('\n')
}

// flush writes the inlined blocks of the line just written.
func (p *printer) flush() {
	bodies := p.bodies
	p.bodies = nil
	for _, e := range bodies {
		p.indent += 2
		head := fmt.Sprintf("inline %d", p.names.inline(e.Int))
		if e.Str != "" {
			head += fmt.Sprintf(" of %q", e.Str)
		}
		p.line("%s", head)
		p.block(e.Body)
		p.indent -= 2
	}
}

func (p *printer) container(i int, c *Container) {
	s := fmt.Sprintf("container c%d %s", i, c.Kind)
	if c.Name != "" {
		s += fmt.Sprintf(" %q", c.Name)
	}
	s += " key " + c.Key.String()
	if !c.Kind.IsAggregation() && c.Kind != plan.Group {
		s += " value " + c.Value.String()
	}
	if c.Size != 0 {
		s += fmt.Sprintf(" size %d", c.Size)
	}
	if c.LRU {
		s += " lru"
	}
	p.line("%s", s)
}

func (p *printer) span(i int, s *Span) {
	p.line("span %d probe %d size %d%s", i, s.Probe, s.Size, spanPairing(s))
	p.indent++
	for j, t := range s.Slots {
		name := ""
		switch {
		case j == 0 && s.Numbered:
			name = " (which start)"
		case j < len(s.Names) && s.Names[j] != Unnamed:
			name = " " + s.Names[j]
		}
		p.line("slot %d%s %s", j, name, t)
	}
	p.indent--
}

// spanPairing is how the ends of a span find their starts.
func spanPairing(s *Span) string {
	if s.Key.Kind == types.Bot && !s.First && s.Timeout == 0 {
		text := " syscalls " + numbers(s.Syscalls)
		if len(s.Except) > 0 {
			text += fmt.Sprintf(" but %v", s.Except)
		}
		return text + fmt.Sprintf(" noreturn %v", s.NoReturn)
	}
	text := " key " + s.Key.String()
	if s.First {
		text += " first"
	}
	if s.Timeout != 0 {
		text += fmt.Sprintf(" timeout %d", s.Timeout)
	}
	return text
}

func (p *printer) record(r *wire.Record) {
	if r == nil {
		return
	}
	p.line("record r%d probe %d fixed %d max %d", r.Number, r.Probe, r.FixedSize, r.MaxSize)
	p.indent++
	for _, f := range r.Fields {
		p.line("%s %s", f.Name, wireType(f.Type))
	}
	if len(r.Widths) > 0 {
		p.line("widths %v", r.Widths)
	}
	p.indent--
}

func (p *printer) program(prog *Program) {
	p.line("program %q probe %d %s", prog.Name, prog.Probe, prog.Attach)
	p.indent++
	for i, l := range prog.Locals {
		p.line("local $%d %s %s", i, l.Name, l.Type)
	}
	if prog.Body != nil {
		p.block(prog.Body)
	}
	for _, v := range prog.Variants {
		p.line("variant %s%s", numbers(v.Syscalls), call(v.Call))
		p.block(v.Body)
	}
	p.indent--
}

func call(name string) string {
	if name == "" {
		return ""
	}
	return " call " + name
}

func (p *printer) block(b *Block) {
	if b == nil {
		return
	}
	p.indent++
	for _, s := range b.Stmts {
		p.stmt(s)
	}
	p.indent--
}

func (p *printer) stmt(s *Stmt) {
	head := p.stmtHead(s)
	for _, e := range s.Exprs {
		if s.Op == SFor {
			p.names.literally(func() { head += " " + p.expr(e) })
		} else {
			head += " " + p.expr(e)
		}
	}
	if s.Pos.IsValid() && (p.names == nil || p.shape && !s.countsNothing()) {
		head += at(s.Pos)
	}
	p.line("%s", head)
	p.flush()
	p.block(s.Then)
	if s.Else != nil {
		p.line("else")
		p.block(s.Else)
	}
}

func at(pos plan.Pos) string { return fmt.Sprintf(" @%d:%d", pos.Line, pos.Col) }

func (p *printer) stmtHead(s *Stmt) string {
	name := s.Op.String()
	switch s.Op {
	case SAssign:
		return fmt.Sprintf("%s $%d", name, p.names.local(s.Int))
	case SFor:
		by := ""
		if s.ByKernel {
			by = " by kernel"
		}
		return fmt.Sprintf("%s $%d bound %s%s", name, p.names.local(s.Int), s.Str, by)
	case SReturn:
		return fmt.Sprintf("%s %d", name, p.names.inline(s.Int))
	case SCall:
		return fmt.Sprintf("%s %q", name, s.Str)
	case SSend:
		if p.shape {
			p.sends = append(p.sends, s)
			return name
		}
		return fmt.Sprintf("%s r%d", name, s.Int)
	case SCount:
		return fmt.Sprintf("%s %d", name, s.Int)
	case STableSet, STableRemove, SCellSet:
		return fmt.Sprintf("%s c%d", name, s.Int)
	case STableUpdate, SCellAdd:
		return fmt.Sprintf("%s c%d %s", name, s.Int, s.Str)
	case SAggAdd:
		if s.Str != "" {
			return fmt.Sprintf("%s c%d.%s", name, s.Int, s.Str)
		}
		return fmt.Sprintf("%s c%d", name, s.Int)
	case SSpanEnd, SStop:
		return strings.TrimSpace(name + " " + s.Str)
	}
	return name
}

func (p *printer) expr(e *Expr) string {
	var b strings.Builder
	p.write(&b, e)
	return b.String()
}

// write appends the text of an expression. Conditions of many parts are as deep as they are long.
func (p *printer) write(b *strings.Builder, e *Expr) {
	switch {
	case e == nil:
		b.WriteString("<nil>")
		return
	case e.Op == OpConst && p.names.constant(e):
		b.WriteString("const:" + p.typ(e.Type))
		return
	case e.Op == OpConst:
		b.WriteString(constant(e) + ":" + p.typ(e.Type))
		return
	case p.shape && e.Op == OpConvert && p.typ(e.Type) == p.typ(e.Args[0].Type):
		p.write(b, e.Args[0])
		return
	case e.Op == OpLocal:
		fmt.Fprintf(b, "$%d:%s", p.names.local(e.Int), p.typ(e.Type))
		return
	}
	b.WriteString("(" + e.Op.String() + ":" + p.typ(e.Type) + p.detail(e))
	if p.shape && e.Op.counts() {
		b.WriteString(at(e.Pos))
	}
	for i, a := range e.Args {
		b.WriteByte(' ')
		switch {
		case p.operand != nil:
			b.WriteString(p.operand(a))
		case e.Op == OpStr && i == 1:
			p.names.literally(func() { p.write(b, a) })
		default:
			p.write(b, a)
		}
	}
	if e.Op == OpInline {
		fmt.Fprintf(b, " %d", p.names.inline(e.Int))
		p.bodies = append(p.bodies, e)
	}
	b.WriteByte(')')
}

// detail is what an operator has beside its operands.
func (p *printer) detail(e *Expr) string {
	switch e.Op {
	case OpBuiltin:
		return " " + e.Str
	case OpCtx:
		return fmt.Sprintf(" +%d", e.Int)
	case OpPath:
		return " " + e.Str
	case OpStack:
		return fmt.Sprintf(" %s %d", e.Str, e.Int)
	case OpLoad, OpStr, OpMem, OpStrList, OpJoin, OpListLen:
		s := fmt.Sprintf(" %s %+d", e.Str, e.Int)
		if e.BitSize != 0 {
			s += fmt.Sprintf(" bits %d:%d", e.Bit, e.BitSize)
		}
		if e.Counted {
			s += " counted"
		}
		if e.Edge {
			s += " edge"
		}
		return s
	case OpSpanSlot, OpElem, OpBswap, OpNameText:
		return fmt.Sprintf(" %d", e.Int)
	case OpPresent, OpSigned:
		return fmt.Sprintf(" %q", e.Str)
	case OpTableGet, OpTableIndex, OpTablePop, OpTableHas, OpCellGet:
		return fmt.Sprintf(" c%d", e.Int)
	}
	return ""
}

func constant(e *Expr) string {
	switch e.Type.Kind {
	case types.None:
		if e.Type.MayFault {
			return "FAULT"
		}
		return "None"
	case types.Bool:
		return strconv.FormatBool(e.Int != 0)
	case types.Str, types.Bytes:
		return strconv.Quote(e.Str)
	case types.Int:
		if e.Type.Unsigned64() {
			return strconv.FormatUint(uint64(e.Int), 10)
		}
	}
	return strconv.FormatInt(e.Int, 10)
}

func numbers(list []int) string {
	if list == nil {
		return "all"
	}
	return fmt.Sprint(list)
}

// wireType describes the leaves of a layout with their places.
func wireType(t wire.Type) string {
	switch t.Kind {
	case wire.Tuple, wire.Record_:
		var parts []string
		for i, e := range t.Elems {
			s := wireType(e)
			if t.Kind == wire.Record_ {
				s = t.Names[i] + " " + s
			}
			parts = append(parts, s)
		}
		return "(" + strings.Join(parts, ", ") + ")"
	}
	s := fmt.Sprintf("%s@%d+%d", wireKinds[t.Kind], t.Off, t.Size)
	if t.Kind == wire.Int && t.Signed {
		s = "s" + s
	}
	if t.TagOff >= 0 {
		s += fmt.Sprintf("?%d", t.TagOff)
	}
	return s
}

var wireKinds = [...]string{"none", "bool", "int", "str", "bytes", "tuple", "record", "pointer", "stack", "float"}
