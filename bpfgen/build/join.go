package build

import (
	"slices"

	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/persistent"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
)

// state is what is valid at a place: variables and what was read of the event.
type state struct {
	env   persistent.Map[int64, val]
	cache persistent.Map[any, val]
}

// save keeps the state, for the ways of a branch.
func (b *builder) save() state { return b.state }

func (b *builder) restore(s state) { b.state = s }

// variable is the value of a variable, one of the type Bot where it is not set.
func (b *builder) variable(local int64) val { return b.env.At(local) }

// setVar gives a variable its value.
func (b *builder) setVar(local int64, v val) { b.env.Set(local, v) }

// remember keeps what was read.
func (b *builder) remember(key any, v val) { b.cache.Set(key, v) }

// A join is a place where ways meet. Each way brings its variables and, where
// the join is that of an expression, a value.
type join struct {
	block *ir.Block
	t     types.Type // of the value; Bot: none
	edges []incoming
	saved state // before the ways parted; its cache is valid after the join
}

type incoming struct {
	from *ir.Block
	env  persistent.Map[int64, val]
	v    val
	pos  ir.Pos
}

func (b *builder) newJoin(t types.Type) *join {
	return &join{block: b.f.NewBlock(), t: t, saved: b.save()}
}

// jump ends the current way in j.
func (b *builder) jump(j *join) { b.jumpWith(j, val{}) }

// jumpWith ends the current way in j with a value.
func (b *builder) jumpWith(j *join, v val) {
	if b.reached[b.cur] {
		if j.t.Kind != types.Bot {
			v = b.convert(v, j.t)
		}
		j.edges = append(j.edges, incoming{b.cur, b.env, v, b.pos})
		b.reached[j.block] = true
	}
	b.end()
}

// enter makes the join's block current, where all ways have met, and gives
// the joined value.
func (b *builder) enter(j *join) val {
	args := make([][]*ir.Value, len(j.edges))
	env := b.meetVars(j, args)
	var out val
	if j.t.Kind != types.Bot && len(j.edges) > 0 {
		out = b.meet(j, args, func(e incoming) val { return e.v })
	}
	for i, e := range j.edges {
		e.from.Jump(e.pos, j.block, args[i]...)
	}
	b.restore(state{env: env, cache: j.saved.cache})
	b.begin(j.block)
	if j.t.Kind != types.Bot && len(j.edges) == 0 {
		out = b.absent(j.t, tree.TagPresent)
	}
	return out
}

// meetVars joins the variables: those that two ways, one behind the other, have
// set differently. It begins with the way on which the fewest are set, for what is
// unset on a way is unset after it.
func (b *builder) meetVars(j *join, args [][]*ir.Value) persistent.Map[int64, val] {
	if len(j.edges) == 0 {
		return persistent.Map[int64, val]{}
	}
	var differ []int64
	env := j.edges[0].env
	for i, e := range j.edges[1:] {
		persistent.Diff(j.edges[i].env, e.env, func(local int64, _, _ *val) { differ = append(differ, local) })
		if e.env.Len() < env.Len() {
			env = e.env
		}
	}
	slices.Sort(differ)
	for _, local := range slices.Compact(differ) {
		v := b.meet(j, args, func(e incoming) val { return e.env.At(local) })
		if v.t.Kind == types.Bot {
			env.Delete(local)
		} else {
			env.Set(local, v)
		}
	}
	return env
}

// meet joins one value of all ways: itself where it is the same, else
// parameters. A variable that is unset on a way is unset after it.
func (b *builder) meet(j *join, args [][]*ir.Value, of func(incoming) val) val {
	if len(j.edges) == 0 {
		return val{}
	}
	first := of(j.edges[0])
	differ := false
	for _, e := range j.edges {
		v := of(e)
		if v.t.Kind == types.Bot {
			return val{}
		}
		differ = differ || !same(v, first)
	}
	if !differ {
		return first
	}
	here := b.save()
	for i, e := range j.edges {
		b.restore(j.saved)
		b.begin(e.from)
		args[i] = b.comps(b.convert(of(e), first.t), args[i])
		j.edges[i].from = b.cur // counting a length takes blocks of its own
	}
	b.restore(here)
	return assemble(first.t, func() *ir.Value { return j.block.Param(b.pos) })
}
