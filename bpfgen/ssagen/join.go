package ssagen

import (
	"slices"

	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/persistent"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
)

// Places where ways meet: variables and what was read there.

// state is what is valid at a place: variables and what was read of the event.
type state struct {
	env   persistent.Map[int64, val]
	cache persistent.Map[any, val]
}

// save keeps the state, for the ways of a branch.
func (b *code) save() state { return b.state }

func (b *code) restore(s state) { b.state = s }

// variable is the value of a variable, one of the type Bot where it is not set.
func (b *code) variable(local int64) val { return b.env.At(local) }

// setVar gives a variable its value.
func (b *code) setVar(local int64, v val) { b.env.Set(local, v) }

// remember keeps what was read.
func (b *code) remember(key any, v val) { b.cache.Set(key, v) }

// A join is a place where ways meet. Each way brings its variables and, where
// the join is that of an expression, a value.
type join struct {
	*ir.Join
	t      types.Type // of the value; Bot: none
	brings []brought  // by each way of the Join
	saved  state      // before the ways parted; its cache is valid after the join
}

// brought is what one way brings to a join.
type brought struct {
	env persistent.Map[int64, val]
	v   val
}

func (b *code) newJoin(t types.Type) *join {
	return &join{Join: b.NewJoin(), t: t, saved: b.save()}
}

// jump ends the current way in j.
func (b *code) jump(j *join) { b.jumpWith(j, val{}) }

// jumpWith ends the current way in j with a value.
func (b *code) jumpWith(j *join, v val) {
	if b.Reached() && j.t.Kind != types.Bot {
		v = b.convert(v, j.t)
	}
	if env := b.env; b.Come(j.Join) {
		j.brings = append(j.brings, brought{env, v})
	}
}

// enter makes the join's block current, where all ways have met, and gives
// the joined value.
func (b *code) enter(j *join) val {
	env := b.meetVars(j)
	var out val
	if j.t.Kind != types.Bot && len(j.brings) > 0 {
		out = b.meet(j, func(w brought) val { return w.v })
	}
	b.restore(state{env: env, cache: j.saved.cache})
	b.Enter(j.Join)
	if j.t.Kind != types.Bot && len(j.brings) == 0 {
		out = b.absent(j.t, tree.TagPresent)
	}
	return out
}

// meetVars joins the variables: those that two ways, one behind the other, have
// set differently. It begins with the way on which the fewest are set, for what is
// unset on a way is unset after it.
func (b *code) meetVars(j *join) persistent.Map[int64, val] {
	if len(j.brings) == 0 {
		return persistent.Map[int64, val]{}
	}
	var differ []int64
	env := j.brings[0].env
	for i, w := range j.brings[1:] {
		persistent.Diff(j.brings[i].env, w.env, func(local int64, _, _ *val) { differ = append(differ, local) })
		if w.env.Len() < env.Len() {
			env = w.env
		}
	}
	slices.Sort(differ)
	for _, local := range slices.Compact(differ) {
		v := b.meet(j, func(w brought) val { return w.env.At(local) })
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
func (b *code) meet(j *join, of func(brought) val) val {
	first := of(j.brings[0])
	differ := false
	for _, w := range j.brings {
		v := of(w)
		if v.t.Kind == types.Bot {
			return val{}
		}
		differ = differ || !same(v, first)
	}
	if !differ {
		return first
	}
	here := b.save()
	for i, w := range j.brings {
		b.restore(j.saved)
		way := &j.Ways[i]
		b.Begin(way.From)
		way.Args = b.comps(b.convert(of(w), first.t), way.Args)
		way.From = b.Cur // counting a length takes blocks of its own
	}
	b.restore(here)
	return assemble(first.t, func() *ir.Value { return b.Param(j.Block) })
}
