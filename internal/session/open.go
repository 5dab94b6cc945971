package session

import (
	"encoding/binary"
	"fmt"
	"iter"
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/bpfgen/layout"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/state"
	"github.com/startrace/startrace/internal/wire"
	"github.com/startrace/startrace/starlark/value"
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
	var out []starlark.Value
	seen := map[string]bool{}
	for part, i := range s.spansOf(p) {
		span := part.unit.Tree.Spans[i]
		entries, err := s.openEntries(part, i)
		if err != nil {
			return nil, fmt.Errorf("items: %w", err)
		}
		f := layout.Span(span.Slots)
		err = entries.Each(func(key, val []byte) bool {
			began := binary.NativeEndian.Uint64(val[layout.SpanBusy:])
			if began != 0 && !seen[string(key)] {
				seen[string(key)] = true
				out = append(out, starlark.Tuple{s.decoder.Decode(&openKey(span).Type, key), s.started(span, f, began, val)})
			}
			return true
		})
		if err != nil {
			return nil, fmt.Errorf("items: %w", err)
		}
	}
	return out, nil
}

// spansOf goes over the spans that were made of p: their part and number.
func (s *session) spansOf(p *plan.Span) iter.Seq2[*part, int] {
	return func(yield func(*part, int) bool) {
		for _, part := range s.parts {
			for i, span := range part.unit.Tree.Spans {
				if span.Plan == p && !yield(part, i) {
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
		KeyLayout: openKey(span), ValueLayout: layout.Span(span.Slots),
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

// openKey is the layout of a span's key: the thread if it declares none.
func openKey(span *tree.Span) *wire.Fixed {
	if span.Key.Kind == types.Bot {
		return &wire.Fixed{Type: wire.Type{Kind: wire.Int, Size: 4, TagOff: -1}, Size: 8}
	}
	return layout.Fixed(span.Key)
}

// started is what is known of a start: its time, and what has been kept under
// a name of the script.
func (s *session) started(span *tree.Span, f *wire.Fixed, began uint64, val []byte) starlark.Value {
	names, vals := []string{"time"}, []starlark.Value{starlark.MakeUint64(began)}
	for i, name := range span.Names {
		if !named(name) || slices.Contains(names, name) {
			continue
		}
		names = append(names, name)
		vals = append(vals, s.decoder.Decode(&f.Type.Elems[i], val))
	}
	return value.NewRecord(names, vals)
}

// named reports whether a slot has a name of the script.
func named(slot string) bool {
	return slot != tree.Unnamed && slot != tree.StartNumber && !strings.Contains(slot, ":")
}
