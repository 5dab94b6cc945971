package explain

import (
	"strings"
	"unicode"

	"github.com/startrace/startrace/bpfgen"
	"github.com/startrace/startrace/internal/plan"
)

// Programs instruction by instruction, with the script's text beside them.

// A Listing is a program, instruction by instruction: Program is its name, Insns are those of its subprograms, too.
type Listing struct {
	Program string `json:"program"`
	Insns   []Insn `json:"instructions"`
}

// An Insn is an instruction with its place in the script: Pos and Source are
// set where they are others than those of the instruction before.
type Insn struct {
	N int `json:"n"` // raw number: a 64-bit load counts two
	// Text is the instruction as people read it.
	Text   string `json:"text"`
	Pos    string `json:"pos,omitempty"`
	Source string `json:"source,omitempty"`
	// Function is the subprogram that begins here.
	Function string `json:"function,omitempty"`
}

func (in *Input) listings() (out []Listing) {
	for _, p := range in.Unit.Tree.Programs {
		if in.Unit.Spec.Programs[p.Name] != nil {
			out = append(out, in.listing(p.Name))
		}
	}
	return out
}

func (in *Input) listing(program string) Listing {
	l := Listing{Program: program}
	lines := in.Unit.Lines[program]
	raw := 0
	for i := range in.Unit.Spec.Programs[program].Instructions {
		ins := &in.Unit.Spec.Programs[program].Instructions[i]
		one := Insn{N: raw, Text: insnText(ins, raw)}
		if raw > 0 {
			one.Function = ins.Symbol()
		}
		if at, ok := startsAt(lines, raw); ok && at.IsValid() {
			one.Pos, one.Source = at.String(), in.snippet(at)
		}
		l.Insns = append(l.Insns, one)
		raw += int(ins.Size()) / insnSize
	}
	return l
}

// startsAt finds the line that begins at an instruction.
func startsAt(lines []bpfgen.Line, raw int) (plan.Pos, bool) {
	for _, l := range lines {
		if l.Insn == raw {
			return l.Pos, true
		}
	}
	return plan.Pos{}, false
}

// snippet is the script's text from a place to the end of the line.
func (in *Input) snippet(at plan.Pos) string {
	if in.Source == nil {
		return ""
	}
	line := []rune(in.Source(at.Filename(), int(at.Line)))
	if at.Col < 1 || int(at.Col) > len(line) {
		return ""
	}
	from := int(at.Col) - 1
	for from > 0 && partOfName(line[from-1]) { // a call's place is its parenthesis
		from--
	}
	return strings.TrimSpace(string(line[from:]))
}

func partOfName(r rune) bool {
	return r == '_' || r == '.' || unicode.IsLetter(r) || unicode.IsDigit(r)
}

// passStage names one run of a pass.
func passStage(pass string, d bpfgen.PassDump) string {
	switch pass {
	case bpfgen.PassBuild, bpfgen.PassLower:
		return "after " + pass
	}
	s := "after " + pass + ", run " + itoa(d.Run)
	if d.Lowered {
		s += " (behind lower)"
	}
	if !d.Changed {
		s += ": it changed nothing"
	}
	return s
}
