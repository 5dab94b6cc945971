package prompt

import (
	"cmp"
	"fmt"
	"strings"
	"text/tabwriter"

	"go.starlark.net/starlark"
)

// The value `probes`: the list of probes with hits, losses and time.

// probeList is the value of probes: those that stand, by number.
type probeList struct{ p *prompt }

var _ starlark.Indexable = probeList{}

func (l probeList) ids() (out []int) {
	for id := range l.p.s.Host().Env().Probes() {
		if l.p.s.Loaded(id) {
			out = append(out, id)
		}
	}
	return out
}

func (l probeList) Type() string          { return "probes" }
func (l probeList) Freeze()               {}
func (l probeList) Truth() starlark.Bool  { return l.Len() > 0 }
func (l probeList) Hash() (uint32, error) { return 0, fmt.Errorf("unhashable: probes") }
func (l probeList) Len() int              { return len(l.ids()) }
func (l probeList) String() string        { return fmt.Sprintf("<probes: %d>", l.Len()) }

// Index gives a probe by its number in the list.
func (l probeList) Index(i int) starlark.Value { return l.p.s.Host().Env().Probes()[l.ids()[i]] }

// Iterate goes over the probes.
func (l probeList) Iterate() starlark.Iterator {
	var list []starlark.Value
	for i := range l.Len() {
		list = append(list, l.Index(i))
	}
	return starlark.NewList(list).Iterate()
}

func (l probeList) text() string {
	ids := l.ids()
	if len(ids) == 0 {
		return "no probe is attached\n"
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\tprobe\tat\tpoints\thits\tlost\tmissed\tns/hit\t")
	for i, id := range ids {
		fmt.Fprintf(w, "%d\t%s\t\n", i, l.row(id))
	}
	if err := w.Flush(); err != nil {
		return err.Error()
	}
	return b.String()
}

func (l probeList) row(id int) string {
	s := l.p.s
	probe, points := s.Host().Env().Probes()[id], s.Points(id)
	st, err := s.Stats(id)
	each, missed := "-", "-"
	if err != nil {
		return fmt.Sprintf("%s\t%s\t%d\t-\t-\t-\t- (%v)", probe.Name(), probe.Pos(), points, err)
	}
	if st.Hits > 0 {
		each = fmt.Sprint(st.Time / st.Hits)
	}
	if st.Missed >= 0 {
		missed = fmt.Sprint(st.Missed)
	}
	state := ""
	switch {
	case points == 0:
		state = " (waits)"
	case !s.Attached(id):
		state = " (" + cmp.Or(probe.Off(), "detached") + ")"
	}
	return fmt.Sprintf("%s%s\t%s\t%d\t%d\t%d\t%s\t%s", probe.Name(), state, probe.Pos(), points, st.Hits, st.Lost,
		missed, each)
}
