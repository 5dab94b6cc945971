package listing

import (
	"errors"
	"strings"

	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/naming"
	"github.com/startrace/startrace/internal/point"
)

// Events of software: and hardware: in `startrace list`.

// perfEvents finds the events that perf_event_open(2) counts, and raw ones of
// the CPU, r and a number in hex.
func (s *Source) perfEvents(r *Result, k *point.Kind, rest string) error {
	name, _, _ := strings.Cut(orAll(rest), ":") // the number of events between two
	if _, err := naming.Compile(name); err != nil {
		return err
	}
	found, err := kernel.MatchPerfEvents(k.Name, name)
	if err != nil { // there is none: a name without a kind can mean something else
		if near := naming.Suggest(name, kernel.PerfEventNames(k.Name)); near != "" {
			r.hint(didYouMean(k.Name + ":" + near))
		}
		return nil
	}
	for _, e := range found {
		p := &Point{Name: k.Name + ":" + e.Name, Kind: k.Name, Notes: []string{e.What}}
		if len(e.Aliases) > 0 {
			p.Notes = append(p.Notes, "also "+strings.Join(e.Aliases, ", "))
		}
		r.Points = append(r.Points, p)
	}
	if k.AttachedBy(kernel.WayHardware) && s.NoCounters {
		r.problem(errNoCounters)
	}
	return nil
}

var errNoCounters = errors.New("this machine shows no counters of its CPU below /sys/bus/event_source/devices, " +
	"as most virtual machines: hardware events may not attach")
