// Package build makes the SSA of package ir from typed trees.
//
// Values of the tree become lists of components: an int is one ir value and,
// if it may be absent, a tag; a tuple is its elements; a string is an address,
// a length and flags. Composites therefore never live in memory by
// themselves; memory is only what helpers need: keys, map values, records and
// the bytes of strings. Small pieces of it are stack slots, the others lie in
// the program's scratch memory.
//
// Control flow of the tree is structured, so SSA needs no search: at each
// join the variables that differ between the ways get a block parameter.
//
// infer has refused what cannot be compiled. What build cannot make of a tree
// is a bug of the compiler: it panics with a *bug, which Program returns as
// an error.
package build

import (
	"errors"
	"fmt"
	"slices"

	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/plan"
)

// Shared is what the programs of a unit have in common. Its fields are
// complete when all programs were built.
type Shared struct {
	Tree *tree.Unit
	Arch *Arch
	// NoCmpXchg: the kernel is older than 5.12 and has no atomics that give
	// the old value. Extremes are then kept in claimed words.
	NoCmpXchg bool
	// HasLoop: the kernel has bpf_loop (5.17).
	HasLoop bool
	// Sites are the places that programs count at, by number.
	Sites []tree.Site
	// Const is the value of MapConst.
	Const []byte
	// Tails are the programs in MapTails, by index.
	Tails []string
	// Places is the size of MapPlaces in bytes.
	Places int
	// Uses names the maps without number that programs use.
	Uses map[string]bool

	sites     map[tree.Site]int
	consts    map[string]int
	placeOffs map[int]int64
}

// NewShared starts a unit.
func NewShared(u *tree.Unit, arch *Arch, noCmpXchg bool) *Shared {
	return &Shared{
		Tree: u, Arch: arch, NoCmpXchg: noCmpXchg, Uses: map[string]bool{},
		sites: map[tree.Site]int{}, consts: map[string]int{}, placeOffs: map[int]int64{},
	}
}

// Site gives the number of a site; equal ones share it.
func (s *Shared) Site(site tree.Site) int {
	i, ok := s.sites[site]
	if !ok {
		i = len(s.Sites)
		s.sites[site] = i
		s.Sites = append(s.Sites, site)
	}
	return i
}

// Constant gives the offset of data in MapConst, 8-byte aligned.
func (s *Shared) Constant(data string) int64 {
	s.Uses[tree.MapConst] = true
	at, ok := s.consts[data]
	if !ok {
		at = len(s.Const)
		s.consts[data] = at
		s.Const = append(s.Const, data...)
		for len(s.Const)%8 != 0 {
			s.Const = append(s.Const, 0)
		}
	}
	return int64(at)
}

// A bug is a tree that build cannot make code of.
type bug struct {
	pos plan.Pos
	msg string
}

func (e *bug) Error() string { return fmt.Sprintf("%s: compiler: build: %s", e.pos, e.msg) }

// Code is a program, and behind it the subprograms that it calls.
type Code struct {
	Funcs []*ir.Func
	Calls []Call
}

// Program builds one program of the unit, and behind it the subprograms that it
// calls. stack is how many bytes of the stack each may use for memory:
// DefaultStack, or less.
func (s *Shared) Program(p *tree.Program, stack int, o Outlining) (code *Code, err error) {
	defer func() {
		if r := recover(); r != nil {
			switch e := r.(type) {
			case *bug:
				code, err = nil, fmt.Errorf("program %s: %w", p.Name, e)
			case *TooLarge:
				code, err = nil, e
			default:
				panic(r)
			}
		}
	}()
	loops := map[*tree.Stmt]bool{}
	if o == AlwaysCall && s.HasLoop {
		allLoops(p, loops)
	}
	var b *builder
	for again := true; again; again = b.again {
		b = newBuilder(s, p)
		b.budget = stack
		b.family = &family{callees: findCallees(p, o, b.locals), names: map[string]bool{p.Name: true},
			calledLoops: loops}
		b.program()
	}
	b.f.Prune()
	funcs := []*ir.Func{b.f}
	for todo := b.called; len(todo) > 0; todo = todo[1:] {
		if !slices.Contains(funcs, todo[0].f) {
			funcs = append(funcs, todo[0].f)
			todo = append(todo, todo[0].calls...)
		}
	}
	for _, f := range funcs {
		if err := f.Check(); err != nil {
			return nil, errors.Join(err, errors.New(f.String()))
		}
	}
	return &Code{funcs, append(b.callees.report(), b.reports...)}, nil
}

// builder builds one program.
type builder struct {
	*Shared
	prog *tree.Program
	f    *ir.Func
	// cur is the block under construction. After the end of a way it is one
	// that is not reached.
	cur     *ir.Block
	reached map[*ir.Block]bool
	pos     ir.Pos
	state
	inlines map[int64]*inline
	loops   []*loop
	bounds  int // loops over strings so far
	// stack is the bytes of slots, budget how many there may be.
	stack, budget int
	// made is all memory handed out, free what was given back.
	made, free []*region
	loadSlot   *ir.Slot
	halves     *ir.Slot // of forget
	regs       *region  // of pt_regs
	// syscall is the number of the system call, in the programs of spans.
	syscall *ir.Value
	entry   *spanEntry
	nested  *nested
	opened  bool // the entry of a nested span has been made
	uses    uses
	locals  locals
	lazy    map[int64]*tree.Expr // assignments that are made at their use
	numbers numbers
	*family
	// called are the subprograms that this function calls, sub the one that it
	// is, round the body of a loop that it is.
	called []*subprogram
	sub    *subprogram
	round  *round
	given  map[*tree.Expr]*ir.Value // constants that a subprogram is given
	words  *ir.Slot                 // what goes to and from subprograms
	lent   map[*subprogram]*region  // scratch memory that they use
	extra  bodyCost                 // of the loops so far
}

// A family is what the functions of a program have in common.
type family struct {
	callees *callees
	names   map[string]bool // of the functions
	// calledLoops are those whose bodies are functions; again: there are more.
	calledLoops map[*tree.Stmt]bool
	again       bool
	reports     []Call       // of them
	loopNumbers *loopNumbers // of the program; nil: not counted yet
}

func newBuilder(s *Shared, p *tree.Program) *builder {
	f := ir.NewFunc(p.Name)
	return &builder{
		Shared: s, prog: p, f: f, cur: f.Blocks[0], reached: map[*ir.Block]bool{f.Blocks[0]: true},
		inlines: map[int64]*inline{},
		uses:    usesOf(s, p), locals: countLocals(p), lazy: map[int64]*tree.Expr{}, lent: map[*subprogram]*region{},
		given:  map[*tree.Expr]*ir.Value{},
		family: &family{callees: &callees{}},
	}
}

func (b *builder) fail(format string, args ...any) {
	panic(&bug{b.pos, fmt.Sprintf(format, args...)})
}

// at sets the place in the script for what follows and gives the way back.
func (b *builder) at(pos plan.Pos) func() {
	old := b.pos
	if pos.IsValid() {
		b.pos = pos
	}
	return func() { b.pos = old }
}

// program is: what concerns every event, then the handler or its variants.
func (b *builder) program() {
	b.prologue()
	if b.prog.Body != nil {
		b.block(b.prog.Body)
	} else {
		b.variants(b.prog.Variants)
	}
	b.ret()
}
