package session

import (
	"encoding/binary"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/startrace/startrace/bpfgen"
	"github.com/startrace/startrace/bpfgen/infer"
	"github.com/startrace/startrace/internal/attach"
	"github.com/startrace/startrace/internal/openspans"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/stacks"
	"github.com/startrace/startrace/internal/stream"
	"github.com/startrace/startrace/internal/wire"
	"github.com/startrace/startrace/starlark/script"
)

// A part is what is compiled and loaded together: of a script all of it, at the
// prompt what was typed at one time. The containers are those of the session.
type part struct {
	plan   *plan.Plan
	unit   *bpfgen.Unit
	result *infer.Result
	loaded *attach.Loaded
	points map[int]int // how many each probe matched
	reader *stream.Reader
	stacks *stacks.Table // nil unless programs take some
	spans  *openspans.Unit
	first  int  // the number in session.routes of its record 0
	late   bool // it has points of modules that were loaded later
	// captured is what its plan was made with.
	captured script.Captured
	// renumbered is where a record gets that number.
	renumbered []byte
}

// partsOf gives the parts that have a probe: one, and those of its points in
// modules that were loaded later.
func (s *session) partsOf(probe int) iter.Seq[*part] {
	return func(yield func(*part) bool) {
		for _, p := range s.parts {
			has := slices.ContainsFunc(p.plan.Probes, func(declared *plan.Probe) bool { return declared.ID == probe })
			if has && !yield(p) {
				return
			}
		}
	}
}

// pointsOf is how many points a probe has.
func (s *session) pointsOf(probe int) (n int) {
	for p := range s.partsOf(probe) {
		n += p.points[probe]
	}
	return n
}

// isAttached reports whether programs of a probe run.
func (s *session) isAttached(probe int) bool {
	for p := range s.partsOf(probe) {
		if p.loaded.Attached(probe) {
			return true
		}
	}
	return false
}

// partOf gives the first part that has a probe, nil for none.
func (s *session) partOf(probe int) *part {
	for p := range s.partsOf(probe) {
		return p
	}
	return nil
}

// drainPart takes all records from the ring of a part.
func (s *session) drainPart(p *part, take func(p *part, rec []byte)) error {
	if _, err := p.reader.Drain(math.MaxInt, func(rec []byte) { take(p, rec) }); err != nil {
		return fmt.Errorf("read events: %w", err)
	}
	return nil
}

// renumber gives the record the number that it has in the session.
func (p *part) renumber(rec []byte) []byte {
	if p.first == 0 || len(rec) < wire.HeaderSize {
		return rec
	}
	p.renumbered = append(p.renumbered[:0], rec...)
	number := p.renumbered[wire.HeaderNumber:]
	binary.NativeEndian.PutUint32(number, binary.NativeEndian.Uint32(number)+uint32(p.first))
	return p.renumbered
}
