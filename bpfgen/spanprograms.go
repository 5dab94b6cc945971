package bpfgen

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
)

// The programs at sched_process_exec, sched_process_exit and sched_process_free that keep the entries of spans true
// when threads execute a program or end.

// The names of the programs that Generate adds to units with spans by thread.
// SpanExec gives the entries of a thread to its new number, and comes before all
// others that are attached there. SpanExit forgets threads that end, and comes
// after all others. A probe that itself looks at threads that end has one of its
// own, SpanExit with its number, so that attaching the probe keeps the order. There are
// further ones of both, with the number of a span, where there are many spans.
// callExec closes the calls of user code that exec leaves, callFree those of threads that have ended; there are
// several, with numbers, where there are many spans.
const (
	SpanExec = "span_exec"
	SpanExit = "span_exit"
	callExec = "call_exec"
	callFree = "call_free"
)

// execPoint, exitPoint and freePoint are the tracepoints sched:… of these.
const (
	execPoint = "sched_process_exec"
	exitPoint = "sched_process_exit"
	freePoint = "sched_process_free"
)

// threadProgram is what a program does for spans by thread.
type threadProgram struct {
	build func(*tree.Program, []int) (*ir.Func, error)
	spans []int
}

// addThreadPrograms adds the programs for the spans by thread.
func (g *generator) addThreadPrograms(u *tree.Unit) {
	g.threads = map[*tree.Program]threadProgram{}
	// A tree that is generated again has them already.
	u.Programs = slices.DeleteFunc(u.Programs, func(p *tree.Program) bool {
		return IsSpanExec(p.Name) || IsCallExec(p.Name) || IsCallFree(p.Name) || IsSpanExit(p)
	})
	seeing := seeExits(u)
	var all, calls, nested []int
	exits := map[int][]int{} // by probe
	for i, s := range u.Spans {
		if s.Nested {
			nested = append(nested, i)
		}
		if s.Nested && s.User {
			calls = append(calls, i)
		}
		if s.Key.Kind != types.Bot || s.Nested {
			continue
		}
		all = append(all, i)
		probe := -1
		if seeing[s.Probe] {
			probe = s.Probe
		}
		exits[probe] = append(exits[probe], i)
	}
	g.addCallPrograms(callExec, execPoint, g.shared.CallExec, calls)
	if u.TaskProcess != 0 {
		g.addCallPrograms(callFree, freePoint, g.shared.CallFree, nested)
	}
	if len(all) == 0 {
		return
	}
	g.addSpanPrograms(SpanExec, SpanExec, -1, execPoint, threadProgram{g.shared.SpanExec, all})
	for _, probe := range sortedKeys(exits) {
		name := SpanExit
		if probe >= 0 {
			name += "_" + strconv.Itoa(probe)
		}
		g.addSpanPrograms(name, SpanExit, probe, exitPoint, threadProgram{g.shared.SpanExit, exits[probe]})
	}
}

// addSpanPrograms adds programs for the spans by thread of t: the first one by its name, further ones by their kind and
// the first of their spans.
func (g *generator) addSpanPrograms(name, kind string, probe int, point string, t threadProgram) {
	for part := range slices.Chunk(t.spans, spansPerProgram) {
		if part[0] != t.spans[0] {
			name = fmt.Sprintf("%s_s%d", kind, part[0])
		}
		g.addThreadProgram(name, probe, point, threadProgram{t.build, part})
	}
}

// spansPerProgram is how many spans a SpanExec or SpanExit is for: each span has two maps, of those that a program may
// use, and the program has two of its own.
const spansPerProgram = maxMaps/2 - 1

// addCallPrograms adds programs for the spans of calls.
func (g *generator) addCallPrograms(name, point string, build func(*tree.Program, []int) (*ir.Func, error),
	spans []int) {
	for part := range slices.Chunk(spans, callsPerProgram) {
		own := name
		if part[0] != spans[0] {
			own += "_" + strconv.Itoa(part[0])
		}
		g.addThreadProgram(own, -1, point, threadProgram{build, part})
	}
}

func (g *generator) addThreadProgram(name string, probe int, point string, t threadProgram) {
	p := &tree.Program{Name: name, Probe: probe, Attach: tree.Attach{Way: tree.RawTracepoint{Name: point}}}
	g.threads[p] = t
	g.unit.Tree.Programs = append(g.unit.Tree.Programs, p)
}

// callsPerProgram is how many spans a callExec or callFree is for: each is a map of the 64 that a program may use, and
// a search in it.
const callsPerProgram = 16

// IsCallExec reports whether name is that of a callExec, of some spans.
func IsCallExec(name string) bool { return strings.HasPrefix(name, callExec) }

// IsCallFree reports whether name is that of a callFree, of some spans.
func IsCallFree(name string) bool { return strings.HasPrefix(name, callFree) }

// IsSpanExec reports whether name is that of a SpanExec, of all spans or of some.
func IsSpanExec(name string) bool { return strings.HasPrefix(name, SpanExec) }

// IsSpanExit reports whether p is a SpanExit, of all probes or of one.
func IsSpanExit(p *tree.Program) bool { return strings.HasPrefix(p.Name, SpanExit) }

// seeExits are the probes of which a program runs where threads end.
func seeExits(u *tree.Unit) map[int]bool {
	out := map[int]bool{}
	for _, p := range u.Programs {
		if p.Attach.Tracepoint() == exitPoint {
			out[p.Probe] = true
		}
	}
	return out
}

func sortedKeys(m map[int][]int) []int {
	var out []int
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
