package bpfgen

import (
	"fmt"

	"github.com/startrace/startrace/bpfgen/tree"
)

// A program with variants for many system calls that is too large for a jump is split in two by tail calls.
//
// A program with a variant for each of some hundred system calls can be larger
// than a jump can reach. It is then split: each half of the variants
// goes to a program of its own, which is reached by a tail call and split
// further if need be.

// split replaces the variants of p by two tail calls. It reports whether that
// was possible.
func (g *generator) split(p *tree.Program) bool {
	n := len(p.Variants)
	if n < 2 || p.Body != nil {
		return false
	}
	halves := [][]tree.Variant{p.Variants[:n/2], p.Variants[n/2:]}
	p.Variants = nil
	for _, half := range halves {
		tail := &tree.Program{
			Name: g.tailName(p.Name), Probe: p.Probe, Attach: p.Attach, Locals: p.Locals, Inlines: p.Inlines,
			Variants: half, Tail: true,
		}
		g.unit.Tree.Programs = append(g.unit.Tree.Programs, tail)
		p.Variants = append(p.Variants, tree.Variant{Syscalls: tail.Numbers(), Call: tail.Name})
	}
	return true
}

// tailName makes a name that no program has, of at most 15 characters.
func (g *generator) tailName(base string) string {
	for i := 1; ; i++ {
		suffix := fmt.Sprintf("_t%d", i)
		name := base[:min(len(base), 15-len(suffix))] + suffix
		if !g.taken(name) {
			return name
		}
	}
}

func (g *generator) taken(name string) bool {
	for _, p := range g.unit.Tree.Programs {
		if p.Name == name {
			return true
		}
	}
	return false
}
