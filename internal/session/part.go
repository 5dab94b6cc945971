package session

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/cilium/ebpf"
	"github.com/startrace/startrace/bpfgen"
	"github.com/startrace/startrace/bpfgen/infer"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/attach"
	"github.com/startrace/startrace/internal/openspans"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/procs"
	"github.com/startrace/startrace/internal/stacks"
	"github.com/startrace/startrace/internal/stream"
	"github.com/startrace/startrace/internal/wire"
	"github.com/startrace/startrace/starlark/script"
)

// A part is what is compiled and loaded together: of a script all of it, at the
// prompt what was typed at one time. The containers are those of the session.
type part struct {
	// plan is what was declared. It does not change, but for what the loader sets before it compiles.
	plan *plan.Plan
	// late is set from the beginning for a part of points that came later: in modules that were loaded, or in a file
	// that was replaced.
	late bool
	// replaced is the file that was replaced, for a late part with points in it; "" for all others.
	replaced string

	// unit is the compiled plan. It is nil until the part is compiled.
	unit *bpfgen.Unit
	// result is what became of the plan: halves, places, points. It is nil until the part is compiled.
	result *infer.Result
	// captured is what the functions of the plan have captured, for late parts that are made of this one.
	captured script.Captured

	// loaded is the unit in the kernel, from its loading on.
	loaded *attach.Loaded
	// reader drains the part's ring, from the loading on. It is nil where programs send nothing.
	reader *stream.Reader
	progress
	// stacks is the table of the part's stacks. It is nil where programs take none.
	stacks *stacks.Table
	// spans are the part's entries among those that items() reads, from the loading on.
	spans *openspans.Unit
	// first is the number in the session of the part's record 0: the index in delivery.routes.
	first int
	// renumbered is the memory in which renumber gives a record that number. It is used again for each record.
	renumbered []byte
}

// has reports whether the probe is in the part.
func (p *part) has(probe int) bool {
	return slices.ContainsFunc(p.plan.Probes, func(declared *plan.Probe) bool { return declared.ID == probe })
}

// points is how many points of a probe are in the part.
func (p *part) points(probe int) int { return p.result.Points[probe] }

// sends reports whether records come by the ring.
func (p *part) sends() bool {
	return slices.ContainsFunc(p.unit.Tree.Records, func(r *wire.Record) bool { return p.unit.Tree.Keep[r.Probe] == 0 })
}

// drain takes all records from the ring of a part.
func (p *part) drain(take func(p *part, rec []byte)) error {
	if _, err := p.reader.Drain(math.MaxInt, func(rec []byte) { take(p, rec) }); err != nil {
		return readError(err)
	}
	return nil
}

func readError(err error) error { return fmt.Errorf("read events: %w", err) }

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

// follow puts processes into the table of followed processes. Package state has
// a way that keeps no program from running meanwhile; it takes a program of its
// own, and here nothing is attached yet, or hardly anything.
func (p *part) follow(pids ...int) error {
	for _, pid := range pids {
		if err := p.followOne(pid); err != nil {
			return err
		}
	}
	return nil
}

// followOne is follow of one process. It does nothing where the part follows none.
func (p *part) followOne(pid int) error {
	if p.result.Follow < 0 {
		return nil
	}
	value := make([]byte, p.followTable().ValueLayout.Size)
	if err := p.followed().Put(p.followKey(pid), value); err != nil {
		return fmt.Errorf("following process %d: %w", pid, err)
	}
	return nil
}

// followLiving is follow of a process that may have ended: then it does not stay in
// the table, out of which the programs took it before it came there.
func (p *part) followLiving(pid int) error {
	if err := p.follow(pid); err != nil {
		return err
	}
	if procs.ThreadEnded(pid) {
		return p.unfollow(pid)
	}
	return nil
}

// unfollow takes a process out again, if it is there.
func (p *part) unfollow(pid int) error {
	if err := p.followed().Delete(p.followKey(pid)); err != nil && !errors.Is(err, ebpf.ErrKeyNotExist) {
		return fmt.Errorf("following process %d: %w", pid, err)
	}
	return nil
}

// followTable is the declaration of the table of followed processes.
func (p *part) followTable() *tree.Container { return p.unit.Tree.Containers[p.result.Follow] }

// followKey is a process as the key of that table.
func (p *part) followKey(pid int) []byte {
	key := make([]byte, p.followTable().KeyLayout.Size)
	binary.NativeEndian.PutUint32(key, uint32(pid))
	return key
}

// followed is the table of the processes that the programs of a part follow; nil
// where they follow none.
func (p *part) followed() *ebpf.Map {
	if p.loaded == nil || p.result.Follow < 0 {
		return nil
	}
	return p.loaded.Map(tree.ContainerMap(p.result.Follow))
}
