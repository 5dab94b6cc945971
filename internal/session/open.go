package session

import (
	"fmt"
	"iter"
	"strings"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/bpfgen/layout"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/state"
	"github.com/startrace/startrace/internal/wire"
)

// openSpans are the maps of spans that items() has read.
type openSpans struct {
	maps map[*tree.Span]state.Container
	over bool // no program runs any more
}

// bindSpans makes the spans' items() read the maps of their entries.
func (s *session) bindSpans() {
	if s.spans.maps != nil {
		return
	}
	s.spans.maps = map[*tree.Span]state.Container{}
	s.env.Open = s.open
}

// open gives the open entries of a span of the script. Each probe that uses
// the span keeps its own; a key counts once.
func (s *session) open(p *plan.Span) ([]starlark.Value, error) {
	return s.opened(func(span *tree.Span) bool { return span.Plan == p })
}

// Open gives the open entries of all spans of the probe.
func (c *probeControl) Open() ([]starlark.Value, error) {
	return c.s.opened(func(span *tree.Span) bool { return span.Probe == c.probe })
}

// opened gives the open entries of spans.
func (s *session) opened(of func(*tree.Span) bool) ([]starlark.Value, error) {
	var out []starlark.Value
	seen := map[string]bool{}
	for part, i := range s.spansOf(of) {
		span := part.unit.Tree.Spans[i]
		entries, err := s.openEntries(part, i)
		if err != nil {
			return nil, fmt.Errorf("items: %w", err)
		}
		reader := s.openReader(part, span)
		err = entries.Each(func(key, val []byte) bool {
			if who, began, ok := reader.entry(key, val); ok && !seen[string(key)] {
				seen[string(key)] = true
				out = append(out, starlark.Tuple{who, began})
			}
			return true
		})
		if err != nil {
			return nil, fmt.Errorf("items: %w", err)
		}
		out = append(out, reader.rest()...)
	}
	return out, nil
}

// spansOf goes over spans: their part and number.
func (s *session) spansOf(of func(*tree.Span) bool) iter.Seq2[*part, int] {
	return func(yield func(*part, int) bool) {
		for _, part := range s.parts {
			for i, span := range part.unit.Tree.Spans {
				if of(span) && !yield(part, i) {
					return
				}
			}
		}
	}
}

// openEntries is the map of a span as a table.
func (s *session) openEntries(part *part, i int) (state.Container, error) {
	span := part.unit.Tree.Spans[i]
	if have := s.spans.maps[span]; have != nil {
		return have, nil
	}
	m := part.loaded.Map(tree.SpanMap(i))
	if m == nil {
		return nil, fmt.Errorf("the unit has no map for the span at %s", span.Pos)
	}
	c := &tree.Container{
		Container: &plan.Container{Kind: plan.Table, Size: span.Size},
		KeyLayout: openKey(span), ValueLayout: openLayout(span),
	}
	t, err := state.New(c, m, state.Options{FuncID: s.funcID})
	if err != nil {
		return nil, err
	}
	s.spans.maps[span] = t
	s.backends = append(s.backends, t)
	if s.spans.over {
		t.Settle()
	}
	return t, nil
}

// openLayout is the layout of a span's entry.
func openLayout(span *tree.Span) *wire.Fixed {
	if span.Nested {
		return layout.Nested(span.Slots)
	}
	return layout.Span(span.Slots)
}

// openKey is the layout of a span's key: the thread if it declares none.
func openKey(span *tree.Span) *wire.Fixed {
	if span.Nested { // the thread, then the process and the depth
		return &wire.Fixed{Type: wire.Type{Kind: wire.Int, Size: 8, TagOff: -1}, Size: layout.NestedKey}
	}
	if span.Key.Kind == types.Bot {
		return &wire.Fixed{Type: wire.Type{Kind: wire.Int, Size: 4, TagOff: -1}, Size: 8}
	}
	return layout.Fixed(span.Key)
}

// named reports whether a slot has a name of the script.
func named(slot string) bool {
	return slot != tree.Unnamed && slot != tree.StartNumber && !strings.Contains(slot, ":")
}
