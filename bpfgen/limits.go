package bpfgen

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/startrace/startrace/bpfgen/emit"
	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/regalloc"
	"github.com/startrace/startrace/bpfgen/ssagen"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/plan"
)

// The messages that a handler is too large for the kernel: too many maps (`maxMaps`), too much memory (`maxScratch`) or
// stack, a loop or an `in` of too many values.

// What the kernel gives one program. The stack is regalloc.MaxStack, the reach
// of a jump emit's; how long the verifier follows a program is only known when
// it does (attach.ComplexityError).
const (
	// maxMaps is MAX_USED_MAPS of include/linux/bpf_verifier.h.
	maxMaps = 64
	// maxScratch is the greatest value of a per-CPU array, PCPU_MIN_UNIT_SIZE of
	// include/linux/percpu.h, without the word that lower puts before it.
	maxScratch = 32<<10 - tree.ScratchHeader
)

// A LimitError says that a handler needs more than the kernel gives a program: at the place Pos of the script, in the
// words Msg, which say what its author can do.
type LimitError struct {
	Pos plan.Pos
	Msg string
	// Rollable are loops of the program without which it may be small enough: see tree.Program.
	Rollable []plan.Pos
}

func (e *LimitError) Error() string {
	if !e.Pos.IsValid() {
		return e.Msg
	}
	return e.Pos.String() + ": " + e.Msg
}

// Place is where in the script the limit is exceeded.
func (e *LimitError) Place() plan.Pos { return e.Pos }

func limitf(pos plan.Pos, format string, args ...any) error {
	return &LimitError{Pos: pos, Msg: fmt.Sprintf(format, args...)}
}

// RollMore adds to rolled (infer.Options) the loops that can be rolled, if the program of err is too large. It reports
// whether these are more than before: the plan may then be compiled anew.
func RollMore(err error, rolled map[plan.Pos]bool) bool {
	var large interface{ Loops() []plan.Pos }
	if !errors.As(err, &large) {
		return false
	}
	before := len(rolled)
	for _, at := range large.Loops() {
		rolled[at] = true
	}
	return len(rolled) > before
}

// Loops are those of the program that can be rolled.
func (e *LimitError) Loops() []plan.Pos { return e.Rollable }

// checkMaps refuses programs that use more than limit maps, at the first one
// too many.
func checkMaps(funcs []*ir.Func, limit int) error {
	seen := map[string]bool{}
	var at plan.Pos
	for _, f := range funcs {
		for _, b := range f.Blocks {
			for _, v := range b.Values {
				if v.Op != ir.OpMapPtr && v.Op != ir.OpMapValue || seen[v.Sym] {
					continue
				}
				if seen[v.Sym] = true; len(seen) == limit+1 {
					at = v.Pos
				}
			}
		}
	}
	if len(seen) <= limit {
		return nil
	}
	return limitf(at, "this handler uses %d of the kernel's maps, and a program may use %d: "+
		"each table, cell and aggregation is one, and startrace needs some itself; "+
		"split the handler into several probes, or keep several values in one table under different keys",
		len(seen), maxMaps)
}

func checkScratch(f *ir.Func) error {
	if f.ScratchSize <= maxScratch {
		return nil
	}
	return limitf(begin(f),
		"this handler needs %d bytes of memory for its strings, keys and records, and the kernel gives %d: "+
			"shorten strings (--str-max, cstr(p, n)), or split the handler into several probes",
		f.ScratchSize, maxScratch)
}

// tooLarge refuses one key, value or record that does not fit into the memory of a handler.
func tooLarge(pos plan.Pos, size int) error {
	return limitf(pos, "this takes %d bytes, and a key, a value, a record or a string of a handler takes %d at most: "+
		"shorten its strings (--str-max, limits(string = N), cstr(p, n))", size, ssagen.MaxPiece)
}

// begin is the first place in the script that f has code for.
func begin(f *ir.Func) plan.Pos {
	for _, b := range f.Order() {
		for _, v := range b.Values {
			if v.Pos.IsValid() {
				return v.Pos
			}
		}
		if b.Term.Pos.IsValid() {
			return b.Term.Pos
		}
	}
	return plan.Pos{}
}

// explainLimit says in the script's words which limit of the back end f, which is of p, exceeds.
func explainLimit(p *tree.Program, f *ir.Func, err error) error {
	var stack *regalloc.StackError
	var far *emit.DistanceError
	switch {
	case errors.As(err, &stack):
		if hot, ok := largest(p, exprs(p)); ok {
			return limitf(hot.Pos, "this loop keeps %d bytes of values at the same time, and a program has %d bytes "+
				"of stack: each of its %d rounds stands in the program; let it go over fewer elements, or do less in "+
				"it", stack.Total, regalloc.MaxStack, hot.Steps)
		}
		return limitf(begin(f),
			"this handler keeps %d bytes of values at the same time, and a program has %d bytes of stack: "+
				"use values soon after they are computed, or keep some in a table", stack.Total, regalloc.MaxStack)
	case errors.As(err, &far):
		pos, loop, instead := begin(f), "", "split it into several probes"
		if hot, ok := largest(p, exprs(p)); ok {
			pos, instead = hot.Pos, "let the loop go over fewer elements, or over a range"
			loop = fmt.Sprintf(" by this loop, of which each of %d rounds stands in the program", hot.Steps)
		} else if at, n := mostCompared(p); float64(n) > exprs(p)/8 {
			pos, loop = at, fmt.Sprintf(" by this in, which compares with each of %d values", n)
			instead = fmt.Sprintf("want some thousand at most, or a table that the script fills when it starts, which "+
				"is one look-up: t = table(size = %d), [t.set(x, 1) for x in values], and … in t", n)
		}
		return limitf(pos,
			"this handler is too large%s: it jumps over %d instructions, and the kernel's jumps reach over 32767; %s",
			loop, max(far.Distance, -far.Distance), instead)
	}
	return err
}

// A Loop is the loop of a program that takes most of what is too much.
type Loop struct {
	// Pos is that of the for statement.
	Pos plan.Pos
	// Steps is how often its body runs at most, with the loops around it.
	Steps int64
	// Why the kernel does not run it by bpf_loop, in words; "" where it does.
	Why string
	// Beside: others take as much together.
	Beside bool
	// Written: its rounds stand in the program one after the other.
	Written bool
}

// whyFollowed says why the verifier follows each round of the loop at a place.
func (g *generator) whyFollowed(at plan.Pos, calls []ssagen.Call) string {
	if !g.o.HasLoop {
		return "kernels before Linux 5.17 cannot run it by themselves (bpf_loop)"
	}
	for _, c := range calls {
		if c.Pos == at && c.Rounds > 0 && c.Why != "" {
			return "the kernel cannot run it by itself (bpf_loop), because " + c.Why
		}
	}
	return ""
}

// followed tells of a loop whether the verifier follows each of its rounds.
func followed(calls []ssagen.Call) func(plan.Pos) bool {
	return func(at plan.Pos) bool {
		return !slices.ContainsFunc(calls, func(c ssagen.Call) bool {
			return c.Pos == at && c.Rounds > 0 && c.Sub != ""
		})
	}
}

// hottest finds the loop of p to blame where loops take more than half of what the verifier follows, if they do.
func hottest(p *tree.Program, followed func(plan.Pos) bool) (Loop, bool) {
	c := &coster{followed: followed, loops: map[plan.Pos]*loopCost{}}
	total := 0.0
	for _, body := range p.Bodies() {
		total += c.block(body, 1)
	}
	var hot Loop
	most := 0.0
	for _, at := range c.order {
		if l := c.loops[at]; l.cost > 2*most { // else the loop inside, or one before, is to blame
			most, hot = l.cost, Loop{Pos: at, Steps: l.steps}
		}
	}
	hot.Beside = most <= total/2
	if c.outer > total/2 {
		return hot, true
	}
	return largest(p, total)
}

// largest finds the loop of p that is written out and is more than half of it, if there is one.
func largest(p *tree.Program, total float64) (Loop, bool) {
	for _, l := range p.Written {
		if float64(l.Exprs) > total/2 {
			return Loop{Pos: l.Pos, Steps: int64(l.Rounds), Written: true}, true
		}
	}
	return Loop{}, false
}

// mostCompared is the place where the most alternatives are connected by or, as by x in list, and how many these are.
func mostCompared(p *tree.Program) (at plan.Pos, most int) {
	n := map[plan.Pos]int{}
	for _, body := range p.Bodies() {
		tree.WalkBlock(body, func(*tree.Stmt) {}, func(e *tree.Expr) {
			if e.Op == tree.OpLOr {
				if n[e.Pos]++; n[e.Pos] >= most {
					at, most = e.Pos, n[e.Pos]+1
				}
			}
		})
	}
	return at, most
}

// exprs is how many expressions p has.
func exprs(p *tree.Program) (n float64) {
	for _, body := range p.Bodies() {
		tree.WalkBlock(body, func(*tree.Stmt) {}, func(*tree.Expr) { n++ })
	}
	return n
}

// A coster estimates by the number of expressions, each as often as it runs. A loop of a function that is called
// several times is one.
type coster struct {
	followed func(plan.Pos) bool
	loops    map[plan.Pos]*loopCost
	order    []plan.Pos // in which they end
	inside   int        // how many loops are around
	outer    float64    // the cost of loops that are in no other one
}

type loopCost struct {
	steps int64
	cost  float64
}

func (c *coster) block(blk *tree.Block, times int64) float64 {
	if blk == nil {
		return 0
	}
	sum := 0.0
	for _, s := range blk.Stmts {
		for _, e := range s.Exprs {
			sum += c.expr(e, times)
		}
		if s.Op == tree.SFor {
			sum += c.loop(s, times)
		} else {
			sum += c.block(s.Then, times) + c.block(s.Else, times)
		}
	}
	return sum
}

func (c *coster) expr(e *tree.Expr, times int64) float64 {
	sum := float64(times)
	for _, a := range e.Args {
		sum += c.expr(a, times)
	}
	return sum + c.block(e.Body, times)
}

func (c *coster) loop(s *tree.Stmt, times int64) float64 {
	bound, err := strconv.ParseInt(s.Str, 10, 32)
	if err != nil {
		bound = 1 // build refuses such a loop
	}
	if !c.followed(s.Pos) {
		return c.block(s.Then, times)
	}
	const most = 1 << 40 // enough to be too much; nested further it would overflow
	times = min(times*max(bound, 1), most)
	c.inside++
	cost := c.block(s.Then, times) + float64(times)
	c.inside--
	if c.inside == 0 {
		c.outer += cost
	}
	l := c.loops[s.Pos]
	if l == nil {
		l = &loopCost{}
		c.loops[s.Pos] = l
		c.order = append(c.order, s.Pos)
	}
	l.steps, l.cost = min(l.steps+times, most), l.cost+cost
	return cost
}
