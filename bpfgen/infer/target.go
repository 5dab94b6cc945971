package infer

import (
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/plan"
)

// A target is what one pattern comes to on this kernel: a concrete point, or those among which programs are shared, as
// the functions that a pattern matched. What that means is the source's to say; there is one for each kind of points,
// in a file of its own, and no one else asks which it is.
type target struct {
	source
	text string // of the point: e.probe
	name string // goes into the names of its programs
	// arms are the functions of the events on the way, the innermost first.
	arms []armOf
	pos  plan.Pos
}

// A source is what is behind a target. Those that are one point, with one program, embed onePoint and say how it is
// attached, what e is there, and which arguments it has.
type source interface {
	// points are those of which readers are told, with the functions that they are; names are those by which e.probe
	// can call them.
	points(t *target) []tree.Point
	names(t *target) []string
	// pattern reports whether programs may stand at several functions, so that they must ask at which they run.
	pattern() bool
	// without leaves out the points that are known already, and reports whether any is left.
	without(t *target, known map[string]bool) bool
	// first leaves out the points that are in a set, puts the others there, and reports whether any is left.
	first(t *target, seen map[string]bool) bool
	// single gives the targets of its functions one by one, for programs that cannot be shared.
	single(t *target) []*target
	// wholeFunction is the name of the one function of the kernel that it is; "": it is something else.
	wholeFunction() string

	// program makes what the probe does at the target.
	program(pr *probe, t *target)
	// attach and event are, for a program of its own, where that goes and what e is there.
	attach(t *target) tree.Attach
	event(t *target, b *body) *event
	// argNames and argCount are of the arguments that its points have: all names, and how many can be asked for.
	argNames(u *unit) []string
	argCount(u *unit) int

	// span: its events have a start and an end.
	span() bool
	// kept are the fields of the start of a call that items() of a probe gives, "" where it gives none.
	kept() []string
	// nobodys: no process brings it about. ownDoing: the current process does, which an interrupt does not.
	nobodys() bool
	ownDoing() bool
	// entries and returns are the instructions of a program at which functions begin and return.
	entries() []instruction
	returnsAt() []instruction
}

// An instruction is one of a program, by its place in the file.
type instruction struct {
	binary string
	offset uint64
}

// onePoint is what sources have in common that are one point with one program.
type onePoint struct{}

func (onePoint) points(t *target) []tree.Point                 { return []tree.Point{{Name: t.text}} }
func (onePoint) names(t *target) []string                      { return []string{t.text} }
func (onePoint) pattern() bool                                 { return false }
func (onePoint) without(t *target, known map[string]bool) bool { return !known[t.text] }
func (onePoint) single(t *target) []*target                    { return []*target{t} }
func (onePoint) wholeFunction() string                         { return "" }
func (onePoint) argNames(*unit) []string                       { return nil }
func (onePoint) argCount(*unit) int                            { return 0 }
func (onePoint) span() bool                                    { return false }
func (onePoint) kept() []string                                { return nil }
func (onePoint) nobodys() bool                                 { return false }
func (onePoint) ownDoing() bool                                { return false }
func (onePoint) entries() []instruction                        { return nil }
func (onePoint) returnsAt() []instruction                      { return nil }

func (onePoint) program(pr *probe, t *target) {
	pr.mustNotStart(t)
	prog := &tree.Program{Name: pr.u.programName(pr.p.ID, t.name), Probe: pr.p.ID, Attach: t.attach(t)}
	b := newBody(pr, prog)
	pr.consume(b, t.event(t, b), t)
	pr.u.res.Tree.Programs = append(pr.u.res.Tree.Programs, prog)
}

// mustNotStart refuses start= where events have no start.
func (pr *probe) mustNotStart(t *target) {
	if pr.p.Start != nil {
		wrong(pr.p.Start.Pos, "start= is for spans (syscall:NAME), and %s is none", t.text)
	}
}

// ofSpan is what sources have in common whose events have a start and an end: these have programs of their own.
type ofSpan struct{ onePoint }

func (ofSpan) span() bool                   { return true }
func (ofSpan) attach(t *target) tree.Attach { panic(t.text + " is a span, which has several programs") }
func (ofSpan) event(t *target, _ *body) *event {
	panic(t.text + " is a span, which has several events")
}

// single splits the targets of a list: see source.single.
func single(list []*target) []*target {
	var out []*target
	for _, t := range list {
		out = append(out, t.single(t)...)
	}
	return out
}
