package points

import (
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
)

// Source, what is behind a target: what the compiler asks of points of any kind.

// A Source is what is behind a target. Those that are one point, with one program, embed onePoint and say how it is
// attached and which arguments it has. There is a type for each thing that can happen, in a file of its own.
type Source interface {
	// points and names are those of the target, see there.
	points(t *Target) []tree.Point
	names(t *Target) []string
	// without leaves out the points that are known already, and reports whether any is left.
	without(t *Target, known map[string]bool) bool
	// file is the file of programs that the points are in, "" where they are in none.
	file() string
	// first leaves out the points that are in a set, puts the others there, and reports whether any is left.
	first(t *Target, seen *pointSet) bool
	// single gives the targets of its functions one by one, for programs that cannot be shared.
	single(t *Target) []*Target
	// wholeFunction is the name of the one function of the kernel that it is; "": it is something else.
	wholeFunction() string
	// attach says, for a program of its own, where that goes.
	attach(t *Target) tree.Attach

	// Pattern reports whether programs may stand at several functions, so that they must ask at which they run.
	Pattern() bool
	// ArgNames are the names of all arguments that its points have.
	ArgNames(facts *kernel.Facts) []string
	// ArgCount is how many arguments can be asked for.
	ArgCount(facts *kernel.Facts) int
	// IsSpan: its events have a start and an end.
	IsSpan() bool
	// Kept are the fields of the start of a call that items() of a probe gives, none where it gives none.
	Kept() []string
	// Nobodys: no process brings it about.
	Nobodys() bool
	// OwnDoing: the current process brings it about, which an interrupt does not.
	OwnDoing() bool
	// Entries are the instructions of a program at which functions begin.
	Entries() []Instruction
	// ReturnsAt are those at which they return.
	ReturnsAt() []Instruction
}

// A Target is what one pattern comes to on this kernel: a concrete point, or those among which programs are shared, as
// the functions that a pattern matched. What that means is the source's to say.
type Target struct {
	Source
	Text string // of the point: e.probe
	Name string // goes into the names of its programs
	// Arms are the functions of the events on the way, the innermost first.
	Arms []Arm
	// Pos is where the script has the pattern.
	Pos plan.Pos
}

// Points are those of which readers are told, with the functions that they are.
func (t *Target) Points() []tree.Point { return t.points(t) }

// Names are those by which e.probe can call its points.
func (t *Target) Names() []string { return t.names(t) }

// Attach says, for a program of its own, where that goes.
func (t *Target) Attach() tree.Attach { return t.attach(t) }

// An Instruction is one of a program, by its place in the file.
type Instruction struct {
	binary string
	offset uint64
}

// An Arm is the function of an event on the way from a point.
type Arm struct {
	// Fn is the function, and Event the event that has it.
	Fn    *plan.Func
	Event *plan.Event
}

// onePoint is what sources have in common that are one point with one program.
type onePoint struct{}

func (onePoint) points(t *Target) []tree.Point { return []tree.Point{{Name: t.Text}} }
func (onePoint) names(t *Target) []string      { return []string{t.Text} }
func (onePoint) Pattern() bool                 { return false }
func (onePoint) file() string                  { return "" }

func (onePoint) without(t *Target, known map[string]bool) bool { return !known[t.Text] }
func (onePoint) single(t *Target) []*Target                    { return []*Target{t} }
func (onePoint) wholeFunction() string                         { return "" }
func (onePoint) ArgNames(*kernel.Facts) []string               { return nil }
func (onePoint) ArgCount(*kernel.Facts) int                    { return 0 }
func (onePoint) IsSpan() bool                                  { return false }
func (onePoint) Kept() []string                                { return nil }
func (onePoint) Nobodys() bool                                 { return false }
func (onePoint) OwnDoing() bool                                { return false }
func (onePoint) Entries() []Instruction                        { return nil }
func (onePoint) ReturnsAt() []Instruction                      { return nil }

// ofSpan is what sources have in common whose events have a start and an end: these have programs of their own.
type ofSpan struct{ onePoint }

func (ofSpan) IsSpan() bool                 { return true }
func (ofSpan) attach(t *Target) tree.Attach { panic(t.Text + " is a span, which has several programs") }

// single splits the targets of a list: see Source.
func single(list []*Target) []*Target {
	var out []*Target
	for _, t := range list {
		out = append(out, t.single(t)...)
	}
	return out
}
