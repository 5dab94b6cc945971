package ir

import (
	"fmt"
	"strconv"
	"strings"
)

// The text form of SSA, as `explain --ir` prints it.

// String gives the text form, which Parse reads.
func (f *Func) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "func %q {\n", f.Name)
	for _, sl := range f.Slots {
		fmt.Fprintf(&s, "  slot s%d %d\n", sl.ID, sl.Size)
	}
	if f.ScratchSize != 0 {
		fmt.Fprintf(&s, "  scratch %d\n", f.ScratchSize)
	}
	for _, b := range f.Blocks {
		b.print(&s)
	}
	s.WriteString("}\n")
	return s.String()
}

// String gives the short name, as b3.
func (b *Block) String() string { return "b" + strconv.Itoa(b.ID) }

func (b *Block) print(s *strings.Builder) {
	s.WriteString(b.String())
	if len(b.Params) > 0 {
		s.WriteByte('(')
		for i, p := range b.Params {
			if i > 0 {
				s.WriteString(", ")
			}
			s.WriteString(p.String())
			printPos(s, p.Pos)
		}
		s.WriteByte(')')
	}
	s.WriteString(":\n")
	for _, v := range b.Values {
		s.WriteString("  ")
		v.print(s)
		s.WriteByte('\n')
	}
	b.Term.print(s)
}

// String gives the short name, as v3.
func (v *Value) String() string { return "v" + strconv.Itoa(v.ID) }

// LongString gives the line of the text form that defines v.
func (v *Value) LongString() string {
	var s strings.Builder
	v.print(&s)
	return s.String()
}

func (v *Value) print(s *strings.Builder) {
	if v.Op.HasResult() {
		fmt.Fprintf(s, "%s = ", v)
	}
	s.WriteString(v.Op.String())
	if v.Sym != "" {
		s.WriteString(" " + strconv.Quote(v.Sym))
	}
	if v.Slot != nil {
		fmt.Fprintf(s, " s%d", v.Slot.ID)
	}
	form := v.immForm()
	switch form {
	case immLeading:
		fmt.Fprintf(s, " %d", v.Imm)
	case immCond:
		fmt.Fprintf(s, " %s", Cond(v.Imm))
	}
	sep := " "
	for _, a := range v.Args {
		s.WriteString(sep + a.String())
		sep = ", "
	}
	switch form {
	case immOperand, immOrY:
		fmt.Fprintf(s, "%s%d", sep, v.Imm)
	case immOffset:
		fmt.Fprintf(s, " %+d", v.Imm)
	}
	printPos(s, v.Pos)
}

func (t *Term) print(s *strings.Builder) {
	switch t.Kind {
	case TermNone:
		return
	case Jump:
		s.WriteString("  jump ")
	case Ret:
		s.WriteString("  ret")
		if t.X != nil {
			s.WriteString(" " + t.X.String())
		}
	case Branch:
		fmt.Fprintf(s, "  br %s %s, ", t.Cond, t.X)
		if t.Y != nil {
			s.WriteString(t.Y.String())
		} else {
			fmt.Fprint(s, t.Imm)
		}
		s.WriteString(" -> ")
	}
	for i, e := range t.To {
		if i > 0 {
			s.WriteString(", ")
		}
		e.print(s)
		if t.Kind == Branch && int(t.Likely) == i+1 {
			s.WriteString(" likely")
		}
	}
	printPos(s, t.Pos)
	s.WriteByte('\n')
}

func (e Edge) print(s *strings.Builder) {
	s.WriteString(e.Block.String())
	if len(e.Args) == 0 {
		return
	}
	s.WriteByte('(')
	for i, a := range e.Args {
		if i > 0 {
			s.WriteString(", ")
		}
		s.WriteString(a.String())
	}
	s.WriteByte(')')
}

func printPos(s *strings.Builder, p Pos) {
	if !p.IsValid() {
		return
	}
	file := p.Filename()
	if file == "" || strings.IndexFunc(file, notPlain) >= 0 {
		file = strconv.Quote(file)
	}
	fmt.Fprintf(s, " @%s:%d:%d", file, p.Line, p.Col)
}

// notPlain reports whether c needs quotes in the file name of a position.
func notPlain(c rune) bool {
	return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
		c == '_' || c == '-' || c == '.' || c == '/')
}
