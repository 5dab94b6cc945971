// Package openspans reads the entries of spans that are open: what items() gives,
// and how many calls have begun and not ended.
package openspans

import (
	"fmt"
	"iter"
	"slices"

	"github.com/cilium/ebpf"
	"go.starlark.net/starlark"

	"github.com/startrace/startrace/bpfgen/layout"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/state"
	"github.com/startrace/startrace/internal/wire"
	"github.com/startrace/startrace/starlark/value"
)

// What items() of a span or a probe gives: the open entries, found in the maps.

// A Unit is what is loaded of a script, with the maps of its spans.
type Unit struct {
	// Spans are those of the script that was loaded, by their numbers in it.
	Spans []*tree.Span
	// Map gives a map of the loaded script by its name.
	Map  func(name string) *ebpf.Map
	maps map[int]state.Container // by the number of the span, once it was read
}

// Spans are those of a run.
type Spans struct {
	// Decoder reads keys and what was kept; Point names a point by its number;
	// FuncID finds a function of the kernel.
	Decoder *value.Decoder
	Point   func(number uint64) string
	FuncID  func(name string) (kernel.TypeID, error)

	units []*Unit
	off   map[int]bool // the probes that are disabled
	over  bool         // no program runs any more
}

// Add adds the spans of a unit.
func (s *Spans) Add(u *Unit) {
	u.maps = map[int]state.Container{}
	s.units = append(s.units, u)
}

// Forget takes a unit away; nil is none.
func (s *Spans) Forget(u *Unit) {
	s.units = slices.DeleteFunc(s.units, func(other *Unit) bool { return other == u })
}

// Disable says that a probe is disabled, or enabled again. What is open of a disabled one is forgotten at once: its
// ends are not seen, and stragglers of its programs, which the kernel may still run, change nothing of that. The maps
// are emptied when the probe is attached again.
func (s *Spans) Disable(probe int, disabled bool) {
	if s.off == nil {
		s.off = map[int]bool{}
	}
	s.off[probe] = disabled
}

// Settle says that no program runs any more.
func (s *Spans) Settle() {
	s.over = true
	for _, u := range s.units {
		for _, m := range u.maps {
			m.Settle()
		}
	}
}

// Items gives the open entries of a span of the script. Each probe that uses
// the span keeps its own; a key counts once, and those of disabled probes do not.
func (s *Spans) Items(p *plan.Span) ([]starlark.Value, error) {
	return s.opened(func(span *tree.Span) bool { return span.Plan == p })
}

// OfProbe gives the open entries of all spans of a probe.
func (s *Spans) OfProbe(probe int) ([]starlark.Value, error) {
	return s.opened(func(span *tree.Span) bool { return span.Probe == probe })
}

// opened gives the open entries of spans whose probes are not disabled.
func (s *Spans) opened(of func(*tree.Span) bool) ([]starlark.Value, error) {
	var out []starlark.Value
	seen, names := map[string]bool{}, s.names(of)
	enabled := func(span *tree.Span) bool { return of(span) && !s.off[span.Probe] }
	for _, u := range s.units {
		for i := range u.those(enabled) {
			entries, err := s.entries(u, i)
			if err != nil {
				return nil, fmt.Errorf("items: %w", err)
			}
			reader := s.reader(u.Spans[i], names)
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
	}
	return out, nil
}

// those are the numbers of some spans.
func (u *Unit) those(of func(*tree.Span) bool) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i, span := range u.Spans {
			if of(span) && !yield(i) {
				return
			}
		}
	}
}

// entries is the map of a span as a table.
func (s *Spans) entries(u *Unit, i int) (state.Container, error) {
	if have := u.maps[i]; have != nil {
		return have, nil
	}
	span := u.Spans[i]
	m := u.Map(tree.SpanMap(i))
	if m == nil {
		return nil, fmt.Errorf("the unit has no map for the span at %s", span.Pos)
	}
	c := &tree.Container{
		Container: &plan.Container{Kind: plan.Table, Size: span.Size},
		KeyLayout: openKey(span), ValueLayout: openLayout(span),
	}
	t, err := state.New(c, m, state.Options{FuncID: s.FuncID})
	if err != nil {
		return nil, err
	}
	u.maps[i] = t
	if s.over {
		t.Settle()
	}
	return t, nil
}

// Close closes the maps that were read.
func (s *Spans) Close() (err error) {
	for _, u := range s.units {
		for _, m := range u.maps {
			if closing := m.Close(); err == nil {
				err = closing
			}
		}
	}
	return err
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
