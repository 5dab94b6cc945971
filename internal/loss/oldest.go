package loss

import (
	"fmt"

	"github.com/cilium/ebpf"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/starlark/value"
)

// The lines about tables with lru= that have dropped their oldest entries.

// oldestGoes is a table that drops its oldest entries when it is full. The
// kernel does not count these, but no entry was dropped as long as fewer were
// put into the table than it has room for.
type oldestGoes struct {
	decl *tree.Container
	// put is how many entries were put into it so far.
	put func() uint64
	// before is what was put into it before the last clear(), most the greatest number between two of them.
	before, most uint64
}

// cleared begins to count anew: what is removed takes no room from what comes then.
func (o *oldestGoes) cleared() { o.most, o.before = o.greatest(), o.put() }

// greatest is how many entries were put into it at most without a clear().
func (o *oldestGoes) greatest() uint64 { return max(o.most, o.put()-o.before) }

// Oldest are the tables of a run that drop their oldest entries, as far as they
// are in maps.
type Oldest struct{ tables []*oldestGoes }

// Watch adds the map of a container of which the report at the end may have to
// say something. put is how many entries were put into it so far.
func (o *Oldest) Watch(decl *tree.Container, c value.Container, put func() uint64) {
	table := &oldestGoes{decl: decl, put: put}
	o.tables = append(o.tables, table)
	if t, ok := c.(*value.Table); ok {
		t.OnClear(table.cleared)
	}
}

// localEntries is how many free entries of such a map a CPU keeps for itself,
// and so from the others (LOCAL_FREE_TARGET, kernel/bpf/bpf_lru_list.c).
const localEntries = 128

// sureRoom is how many entries there is room for, whatever CPUs put them there.
func sureRoom(entries, cpus int) int {
	if entries <= localEntries {
		return entries
	}
	return max(localEntries, entries-localEntries*(cpus-1))
}

// Lines name the tables of all that can have dropped entries.
func (o *Oldest) Lines(all []value.Container) (out []string) {
	for _, c := range all {
		if t, ok := c.(*value.Table); ok && t.Gone() > 0 {
			out = append(out, fmt.Sprintf("%s dropped %d of its oldest entries", c.Decl().Title(),
				t.Gone()))
		}
	}
	cpus, err := ebpf.PossibleCPU()
	for _, o := range o.tables {
		put := o.greatest()
		if err != nil || put > uint64(sureRoom(o.decl.Entries(), cpus)) {
			out = append(out, fmt.Sprintf("%s may have dropped its oldest entries, which is not counted: "+
				"%d were put into it, it has room for %d", o.decl.Container.Title(), put, o.decl.Entries()))
		}
	}
	return out
}
