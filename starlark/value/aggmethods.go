package value

import (
	"fmt"
	"slices"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/internal/plan"
)

// Methods of aggregations, their entries and snapshots: add, get, items, take, clear, quantile.

// wholeGroup is the column of an element that stands for all members.
const wholeGroup = -1

// A element is a[k], g[k], g[k].member or a itself without a key: something to
// add to and to read.
type element struct {
	agg *Agg
	key starlark.Value // as written; nil: none
	col int
}

var _ starlark.HasAttrs = (*element)(nil)

func (p *element) String() string {
	if p.col != wholeGroup && len(p.agg.decl.Members) > 0 {
		return fmt.Sprintf("<%s of an entry of %s>", p.agg.decl.Members[p.col].Name, p.agg)
	}
	return fmt.Sprintf("<entry of %s>", p.agg)
}
func (p *element) Type() string { return "entry" }

// Of is the aggregation that the entry is one of.
func (p *element) Of() Container { return p.agg }

func (p *element) Freeze()               {}
func (p *element) Truth() starlark.Bool  { return starlark.True }
func (p *element) Hash() (uint32, error) { return 0, fmt.Errorf("unhashable: entry") }

// Attr of a group's element is a member; else add, value and quantile.
func (p *element) Attr(name string) (starlark.Value, error) {
	if p.col == wholeGroup {
		return p.agg.memberPlace(p.key, name), nil
	}
	switch name {
	case "add":
		return method("add", p, p.add), nil
	case "value":
		return p.value()
	case "quantile", "buckets":
		if !columnsOf(p.agg.decl)[p.col].Kind.HasBuckets() {
			return nil, nil
		}
		v, err := p.value()
		if err != nil {
			return nil, err
		}
		return v.(*Histogram).Attr(name)
	}
	return nil, nil
}

// AttrNames names what Attr knows.
func (p *element) AttrNames() []string {
	if p.col == wholeGroup {
		return p.agg.memberNames()
	}
	return entryNames(columnsOf(p.agg.decl)[p.col].Kind)
}

// entryNames are those of one entry, or of what has no key, of an aggregation of a kind.
func entryNames(kind plan.ContainerKind) []string {
	if kind.HasBuckets() {
		return []string{"add", "buckets", "quantile", "value"}
	}
	return []string{"add", "value"}
}

func (a *Agg) memberPlace(key starlark.Value, name string) starlark.Value {
	i := slices.Index(a.memberNames(), name)
	if i < 0 {
		return nil
	}
	return &element{a, key, i}
}

func (a *Agg) memberNames() []string {
	out := make([]string, len(a.decl.Members))
	for i, m := range a.decl.Members {
		out[i] = m.Name
	}
	return out
}

func (p *element) value() (starlark.Value, error) {
	states, err := p.agg.one(p.key)
	if err != nil {
		return nil, err
	}
	state := &State{}
	if states != nil {
		state = &states[p.col]
	}
	return Result(columnsOf(p.agg.decl)[p.col], state), nil
}

func (p *element) add(_ *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	c := columnsOf(p.agg.decl)[p.col]
	var v starlark.Value
	weight := int64(1)
	if c.Kind == plan.Count {
		v = starlark.MakeInt(1)
		if err := starlark.UnpackArgs("add", args, kwargs, "n?", &v); err != nil {
			return nil, err
		}
	} else if err := starlark.UnpackArgs("add", args, kwargs, "value", &v, "weight?", &weight); err != nil {
		return nil, err
	}
	i, ok := v.(starlark.Int)
	if !ok {
		return nil, fmt.Errorf("add to %s: got %s, %s", p.agg, v.Type(), plan.WantsInt(v.Type()))
	}
	n, ok := numberOf(i)
	if !ok {
		return nil, fmt.Errorf("add to %s: %s does not fit in 64 bits", p.agg, i)
	}
	return starlark.None, p.agg.add(p.key, p.col, n, weight)
}

var aggMethods = map[string]methodFunc[*Agg]{
	"items": func(a *Agg, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		if err := starlark.UnpackArgs("items", args, kwargs); err != nil {
			return nil, err
		}
		s, err := a.Snapshot()
		if err != nil {
			return nil, err
		}
		return listOf(s.items(), func(kv starlark.Tuple) starlark.Value { return kv }), nil
	},
	"get": func(a *Agg, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		k, dflt, err := getArgs(args, kwargs)
		if err != nil {
			return nil, err
		}
		states, err := a.one(k)
		if err != nil || states == nil {
			return dflt, err
		}
		return a.newSnapshot().result(states), nil
	},
	"take": func(a *Agg, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		if err := starlark.UnpackArgs("take", args, kwargs); err != nil {
			return nil, err
		}
		s, err := a.Take()
		if err != nil {
			return nil, err
		}
		return s, nil
	},
	"clear": func(a *Agg, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		if err := starlark.UnpackArgs("clear", args, kwargs); err != nil {
			return nil, err
		}
		return starlark.None, a.Clear()
	},
}

// Attr gives a method, a group's member, or what the element without a key has.
func (a *Agg) Attr(name string) (starlark.Value, error) {
	if err := a.usable(); err != nil {
		return nil, err
	}
	if m := a.memberPlace(nil, name); m != nil {
		return m, nil
	}
	if m := bindMethod(a, aggMethods, name); m != nil {
		return m, nil
	}
	if a.decl.Kind == plan.Group {
		return nil, nil
	}
	return (&element{a, nil, 0}).Attr(name)
}

// AttrNames names what Attr knows.
func (a *Agg) AttrNames() []string {
	names := append([]string{"clear", "get", "items", "take"}, a.memberNames()...)
	if a.decl.Kind != plan.Group {
		names = append(names, entryNames(a.decl.Kind)...)
	}
	slices.Sort(names)
	return names
}

// Attr of a snapshot: get and items, the value without a key, and a group's
// members as attributes where it has no key.
func (s *Snapshot) Attr(name string) (starlark.Value, error) {
	switch name {
	case "get", "items":
		return method(name, s, func(_ *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value,
			error) {
			if name == "get" {
				return snapshotGet(s, args, kwargs)
			}
			if err := starlark.UnpackArgs("items", args, kwargs); err != nil {
				return nil, err
			}
			return listOf(s.items(), func(kv starlark.Tuple) starlark.Value { return kv }), nil
		}), nil
	}
	if !slices.Contains(s.valueNames(), name) {
		return nil, nil
	}
	v, err := s.value()
	if err != nil || name == "value" {
		return v, err
	}
	return v.(starlark.HasAttrs).Attr(name)
}

// valueNames are the attributes that read the value without a key: itself, and what it has.
func (s *Snapshot) valueNames() []string {
	names := []string{"value"}
	switch {
	case s.decl.Kind == plan.Group:
		for _, m := range s.decl.Members {
			names = append(names, m.Name)
		}
	case s.decl.Kind.HasBuckets():
		names = append(names, "buckets", "quantile")
	}
	return names
}

// AttrNames names what Attr knows.
func (s *Snapshot) AttrNames() []string {
	names := append(s.valueNames(), "get", "items")
	slices.Sort(names)
	return names
}

func getArgs(args starlark.Tuple, kwargs []starlark.Tuple) (k, dflt starlark.Value, err error) {
	dflt = starlark.None
	err = starlark.UnpackArgs("get", args, kwargs, "key", &k, "default?", &dflt)
	return k, dflt, err
}

func snapshotGet(s *Snapshot, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	k, dflt, err := getArgs(args, kwargs)
	if err != nil {
		return nil, err
	}
	v, found, err := s.Get(k)
	if err != nil || found {
		return v, err
	}
	return dflt, nil
}
