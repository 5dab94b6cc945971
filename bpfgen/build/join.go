package build

import (
	"maps"
	"slices"

	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
)

// state is what is valid at a place: variables and what was read.
type state struct {
	env   []val
	cache map[any]val
}

// save keeps the state, for the ways of a branch. It is copied by the next change:
// most ways change nothing.
func (b *builder) save() state {
	b.keptEnv, b.keptCache = true, true
	return state{b.env, b.cache}
}

func (b *builder) restore(s state) {
	b.env, b.cache = s.env, s.cache
	b.keptEnv, b.keptCache = true, true
}

// setVar gives a variable its value.
func (b *builder) setVar(local int64, v val) {
	if b.keptEnv {
		b.env, b.keptEnv = slices.Clone(b.env), false
	}
	b.env[local] = v
}

// remember keeps what was read.
func (b *builder) remember(key any, v val) {
	if b.keptCache {
		b.cache, b.keptCache = maps.Clone(b.cache), false
	}
	b.cache[key] = v
}

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
	env  []val
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
		b.keptEnv = true
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
	b.restore(state{env, j.saved.cache})
	b.begin(j.block)
	if j.t.Kind != types.Bot && len(j.edges) == 0 {
		out = b.absent(j.t, tree.TagPresent)
	}
	return out
}

// meetVars joins the variables. Where no way has changed one they are what they were.
func (b *builder) meetVars(j *join, args [][]*ir.Value) []val {
	before := j.saved.env
	changed := func(e incoming) bool { return len(e.env) != len(before) || len(before) > 0 && &e.env[0] != &before[0] }
	if len(j.edges) > 0 && !slices.ContainsFunc(j.edges, changed) {
		return before
	}
	env := slices.Clone(before)
	for i := range env {
		env[i] = b.meet(j, args, func(e incoming) val { return e.env[i] })
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
