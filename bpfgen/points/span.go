package points

import (
	"slices"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
)

// Spans that a script declares, as one target.

// A Span is one that the script declares.
type Span struct {
	ofSpan
	// Plan is the span as the script declares it.
	Plan *plan.Span
	// Starts are the targets at which it begins, Ends those at which it ends; each has a program of its own.
	Starts, Ends []*Target
}

// Parts are the targets with points of their own of which it consists.
func (s *Span) Parts() []*Target { return slices.Concat(s.Starts, s.Ends) }

func (s *Span) points(*Target) (out []tree.Point) {
	for _, one := range s.Parts() {
		out = append(out, one.points(one)...)
	}
	return out
}

func (s *Span) names(*Target) (out []string) {
	for _, one := range s.Parts() {
		out = append(out, one.names(one)...)
	}
	return out
}

func (s *Span) Pattern() bool {
	return slices.ContainsFunc(s.Parts(), func(one *Target) bool { return one.Pattern() })
}

func (s *Span) ArgNames(facts *kernel.Facts) (out []string) {
	for _, one := range s.Parts() {
		out = append(out, one.ArgNames(facts)...)
	}
	return out
}

func (s *Span) ArgCount(facts *kernel.Facts) (n int) {
	for _, one := range s.Parts() {
		n = max(n, one.ArgCount(facts))
	}
	return n
}

func (*Span) first(*Target, *pointSet) bool { return true }
