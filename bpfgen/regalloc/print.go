package regalloc

import (
	"fmt"
	"strings"

	"github.com/startrace/startrace/bpfgen/ir"
)

// The text of an allocation, for tests and people.

// String gives one line of an allocation's text.
func (s *Step) String() string {
	switch s.Kind {
	case Move:
		return fmt.Sprintf("R%d = R%d%s", s.Dst, s.Src, note(s.Value))
	case Make:
		_, def, _ := strings.Cut(s.Value.LongString(), "= ")
		return fmt.Sprintf("R%d = %s%s", s.Dst, def, note(s.Value))
	case Load:
		return fmt.Sprintf("R%d = stack[%d]%s", s.Dst, s.Off, note(s.Value))
	case Store:
		return fmt.Sprintf("stack[%d] = R%d%s", s.Off, s.Src, note(s.Value))
	}
	var args []string
	for k, a := range s.Value.Args {
		if Folded(s.Value, k) {
			args = append(args, a.Op.String())
		} else {
			args = append(args, fmt.Sprintf("R%d", s.Args[k]))
		}
	}
	text := s.Value.Op.String() + " " + strings.Join(args, ", ")
	if s.Value.Op.HasResult() {
		text = fmt.Sprintf("R%d = %s", s.Dst, text)
	}
	return strings.TrimRight(text, " ") + note(s.Value)
}

func note(v *ir.Value) string {
	if v == nil {
		return ""
	}
	return " ; " + v.String()
}

// String gives the allocation as text, for tests and for people.
func (a *Allocation) String() string {
	var s strings.Builder
	for _, b := range a.Order {
		fmt.Fprintf(&s, "%s:\n", b)
		c := &a.Code[b.ID]
		writeSteps(&s, "  ", c.Steps)
		a.writeTerm(&s, b, c)
		for i, e := range c.Edges {
			if len(e) > 0 {
				fmt.Fprintf(&s, "  -> %s:\n", b.Term.To[i].Block)
				writeSteps(&s, "    ", e)
			}
		}
	}
	fmt.Fprintf(&s, "stack %d\n", a.Stack)
	return s.String()
}

func writeSteps(s *strings.Builder, indent string, steps []Step) {
	for i := range steps {
		fmt.Fprintf(s, "%s%s\n", indent, steps[i].String())
	}
}

func (a *Allocation) writeTerm(s *strings.Builder, b *ir.Block, c *BlockCode) {
	t := &b.Term
	switch t.Kind {
	case ir.Jump:
		fmt.Fprintf(s, "  jump %s\n", t.To[0].Block)
	case ir.Ret:
		s.WriteString("  ret\n")
	case ir.Branch:
		y := fmt.Sprintf("R%d", c.Y)
		if t.Y == nil {
			y = fmt.Sprint(t.Imm)
		} else if FoldedY(t) {
			y = fmt.Sprint(t.Y.Imm)
		}
		fmt.Fprintf(s, "  br %s R%d, %s -> %s, %s\n", t.Cond, c.X, y, t.To[0].Block, t.To[1].Block)
	}
}
