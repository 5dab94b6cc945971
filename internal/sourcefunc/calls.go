package sourcefunc

import (
	"debug/dwarf"
	"path"
	"slices"

	"github.com/startrace/startrace/internal/dwarfinfo"
	"github.com/startrace/startrace/internal/sourceline"
	"github.com/startrace/startrace/internal/sourcename"
)

// Which calls run at an address, with those that were inlined, for lines of stacks.

// Calls find which calls of the source run at an address: of a function with code of its own, and of those that were
// inlined there. They belong to one goroutine.
type Calls struct {
	data   *dwarfinfo.Data
	tables *sourceline.Tables
	names  *sourcename.Teller
	// units are those that were asked for, the last one used first.
	units []*unitCalls
	spans int // of them all
}

// A Call is one that runs at an address.
type Call struct {
	// Function is the name of the linker where it is known, else that of the source.
	Function string
	// File and Line are where it is in the source; "" where that is not known.
	File string
	Line int
}

// NewCalls prepares to find calls.
func NewCalls(d *dwarfinfo.Data) *Calls {
	return &Calls{data: d, tables: sourceline.NewTables(d), names: sourcename.New(d)}
}

// unitCalls are the functions of a unit and their copies, by where their code is.
type unitCalls struct {
	unit    *dwarfinfo.Unit
	entries []callEntry
	spans   []callSpan
}

// A callEntry is a function or a copy; around is the one that has it, -1: none.
type callEntry struct {
	at     dwarf.Offset
	around int
	depth  int
}

// A callSpan is code of the entry of a number, from low to below high.
type callSpan struct {
	low, high uint64
	entry     int
}

// Bounds of what is kept: spans of 24 bytes, and units, whose tables of lines are kept, too.
const (
	maxSpans = 1 << 20
	maxUnits = 16
	// maxNested bounds the copies that are in each other.
	maxNested = 64
)

// At gives the calls that run at an address, the innermost first: the last one is that of the function with the code.
// None where nobody knows. An error is one of damaged debug information.
func (c *Calls) At(addr uint64) ([]Call, error) {
	u, err := c.data.UnitOf(addr)
	if err != nil || u == nil {
		return nil, err
	}
	known, err := c.unit(u)
	if err != nil {
		return nil, err
	}
	rows, err := c.tables.Stretches(u)
	if err != nil {
		rows = nil // the names of functions are better than nothing
	}
	here := Call{}
	if at := rows.Between(addr, addr+1); len(at) > 0 && at[0].Addr <= addr && at[0].Line > 0 {
		here.File, here.Line = at[0].File, at[0].Line
	}
	var out []Call
	for i := known.innermost(addr); i >= 0 && len(out) < maxNested; i = known.entries[i].around {
		e, err := c.data.Entry(known.entries[i].at)
		if err != nil || e == nil {
			return out, err
		}
		here.Function = c.names.Of(c.data.Origins(e))
		out = append(out, here)
		here = c.callOf(e)
	}
	if len(out) == 0 && here.Line > 0 {
		out = append(out, here)
	}
	return out, nil
}

// Lost says which file has the debug information of the code at an address, where that is not known; "" where it is.
func (c *Calls) Lost(addr uint64) string {
	lost, is := c.data.Split(addr)
	if !is {
		return ""
	}
	return "the debug information is in a file of its own, " + dwarfinfo.Tell([]dwarfinfo.Lost{lost})
}

// callOf is where a copy is called.
func (c *Calls) callOf(e *dwarfinfo.Entry) (out Call) {
	line, _ := e.Val(dwarf.AttrCallLine).(int64)
	number, ok := e.Val(dwarf.AttrCallFile).(int64)
	if !ok || line <= 0 || line > maxLine {
		return out
	}
	if file := c.tables.File(e.Unit(), number); file != "" {
		out.File, out.Line = path.Clean(file), int(line)
	}
	return out
}

// maxLine bounds the number of a line.
const maxLine = 1 << 30

// innermost is the number of the entry that lies deepest of those with code at an address, -1: none.
func (u *unitCalls) innermost(addr uint64) int {
	best := -1
	for _, s := range u.spans {
		if addr >= s.low && addr < s.high && (best < 0 || u.entries[s.entry].depth > u.entries[best].depth) {
			best = s.entry
		}
	}
	return best
}

// unit gives what is known of a unit, and forgets those that were not asked for longest.
func (c *Calls) unit(u *dwarfinfo.Unit) (*unitCalls, error) {
	at := slices.IndexFunc(c.units, func(k *unitCalls) bool { return k.unit == u })
	if at >= 0 {
		known := c.units[at]
		c.units = slices.Insert(slices.Delete(c.units, at, at+1), 0, known)
		return known, nil
	}
	known := &unitCalls{unit: u}
	if err := u.Walk((&callsWalk{unitCalls: known}).entry); err != nil {
		return nil, err
	}
	c.units = slices.Insert(c.units, 0, known)
	for c.spans += len(known.spans); len(c.units) > 1 && (c.spans > maxSpans || len(c.units) > maxUnits); {
		last := c.units[len(c.units)-1]
		c.units = c.units[:len(c.units)-1]
		c.spans -= len(last.spans)
		c.tables.Forget(last.unit)
	}
	return known, nil
}

// A callsWalk goes over a unit.
type callsWalk struct {
	*unitCalls
	// around are the numbers of the entries in which the walk is, the outermost first.
	around []int
}

func (w *callsWalk) entry(e *dwarfinfo.Entry, depth int) (into bool, err error) {
	for n := len(w.around); n > 0 && w.entries[w.around[n-1]].depth >= depth; n-- {
		w.around = w.around[:n-1]
	}
	if e.Tag != dwarf.TagSubprogram && e.Tag != dwarf.TagInlinedSubroutine {
		return holders[e.Tag], nil
	}
	ranges, err := e.Ranges()
	if err != nil {
		return false, err
	}
	if len(ranges) == 0 || len(w.spans) > maxSpans {
		return e.Tag == dwarf.TagSubprogram, nil // a class in a function without code can have some
	}
	one := callEntry{e.Offset, -1, depth}
	if n := len(w.around); n > 0 && e.Tag == dwarf.TagInlinedSubroutine {
		one.around = w.around[n-1]
	}
	for _, r := range ranges {
		if r[0] < r[1] {
			w.spans = append(w.spans, callSpan{r[0], r[1], len(w.entries)})
		}
	}
	w.around = append(w.around, len(w.entries))
	w.entries = append(w.entries, one)
	return true, nil
}
