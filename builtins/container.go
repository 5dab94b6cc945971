package builtins

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/wire"
	"github.com/startrace/startrace/starlark/value"
)

// table(), cell(), group() and the aggregations count(), total(), mean(), hist() and others: size=, by=, unit=, lo=,
// hi=, step=, sub=, and how many buckets (`maxBuckets`).

const (
	keysDoc = " With by the columns of the key have names. size is how many keys there may be (10240)."
	aggDoc  = keysDoc + " unit is NSEC, USEC, MSEC or SEC."
)

var containerFamily = []Entry{
	{
		Name: "table", Family: "state",
		Signature: "table(size=10240, lru=False, by=None)",
		Doc: `Maps keys to values, which both halves set and read: t[k], t[k] = v, t[k] += n, k in t, get, pop,
set, add, remove, items, clear. A full table drops what is new, which is counted and reported. With lru an old entry
goes. remove gives None, and pop the value that was there.`,
		call: tableCall,
	},
	{
		Name: "cell", Family: "state",
		Signature: "cell(value=0)",
		Doc:       "One value that both halves read and set: get(), set(value), add(value=1).",
		call:      cellCall,
	},
	aggEntry(plan.Count, "Counts: n[k].add(), and n[k].add(3) counts three."+keysDoc),
	aggEntry(plan.Total, "Adds up: t[k].add(value, weight=1)."+aggDoc),
	aggEntry(plan.Mean, "The mean of what was added: m[k].add(value, weight=1)."+aggDoc),
	aggEntry(plan.Lowest, "The lowest value that was added: m[k].add(value)."+aggDoc),
	aggEntry(plan.Highest, "The highest value that was added: m[k].add(value)."+aggDoc),
	aggEntry(plan.Stats, "Count, mean, total, lowest and highest: s[k].add(value, weight=1)."+aggDoc),
	{
		Name: "hist", Family: "state",
		Signature: "hist(by=None, size=10240, unit=1, sub=0)",
		Doc: "A histogram with a bucket for each power of two, or 2**sub of them: " +
			"h[k].add(value, weight=1), h[k].quantile(0.99)." + aggDoc,
		call: histCall,
	},
	{
		Name: "lhist", Family: "state",
		Signature: "lhist(lo, hi, step, by=None, size=10240, unit=1)",
		Doc: "A histogram with buckets of one width from lo to hi, in the unit: " +
			"h[k].add(value, weight=1)." + aggDoc,
		call: lhistCall,
	},
	{
		Name: "quantiles", Family: "state",
		Signature: "quantiles(by=None, size=10240, unit=1)",
		Doc: "A fine histogram for quantiles: q[k].add(value, weight=1), q[k].quantile(0.99). " +
			"It has 8 buckets for each power of two. A quantile takes the values of a bucket as spread evenly over " +
			"it, so it is off by an eighth at most." + aggDoc,
		call: quantilesCall,
	},
	{
		Name: "group", Family: "state",
		Signature: "group(by=None, size=10240, name=aggregation, …)",
		Doc: `Several aggregations under one key: g = group(reads = count(), bytes = total()), and
g[k].reads.add(). take() gives the values of all at one time.`,
		call: groupCall,
	},
}

// aggEntry is the row of an aggregation whose arguments are those that all keyed containers take. A count has no unit.
func aggEntry(kind plan.ContainerKind, doc string) Entry {
	signature := kind.String() + "(by=None, size=10240, unit=1)"
	if kind == plan.Count {
		signature = kind.String() + "(by=None, size=10240)"
	}
	return Entry{
		Name: kind.String(), Family: "state", Doc: doc, Signature: signature,
		call: func(e *Env, c *call) (starlark.Value, error) {
			return e.agg(c, &plan.Container{Kind: kind})
		},
	}
}

// How a container comes into being:
//
//	reads = count()                                       declare: a value.Agg with its plan.Container
//	probe("syscall:read", lambda e: reads[e.comm].add())  the function captures the value
//
// The call gives a value of the interpreter at once, which works in user space from then on. Its plan.Container is the
// declaration: kind, columns, size, unit and place. Where a kernel half uses it the session makes a map of it later,
// moves what is in the value there, and the value reads and writes the map (session's containers.bind).
//
// A container has no name of its own. It is called by the variable that the call is assigned to (Env.CallAt), and has
// no number before a plan is made: group() takes its members out of the list again (release).

// declare completes a declaration and records the container. make makes its value.
func (e *Env) declare(c *call, d *plan.Container, make func() value.Container) starlark.Value {
	d.Name, d.Pos = e.CallAt(c.pos())
	if d.Unit == 0 {
		d.Unit = 1
	}
	v := make()
	v.CountDrops(e.Full)
	e.containers = append(e.containers, v)
	return v
}

// common are the arguments that all keyed containers take, as they were given: nil is an argument that was not.
type common struct {
	// by names the columns of keys: a string, or a list of them.
	by starlark.Value
	// size is how many keys there may be.
	size *int
	// unit is the ns of what values are shown in: NSEC, USEC, MSEC or SEC.
	unit starlark.Value
}

// pairs are the arguments for unpack.
func (a *common) pairs() []any {
	return []any{"by?", &a.by, "size?", asked(&a.size), "unit?", &a.unit}
}

// into checks the arguments and puts them into a declaration.
func (a *common) into(d *plan.Container) (err error) {
	if d.Kind == plan.Count && a.unit != nil {
		return errors.New("a count has no unit: total(unit = …) sums what has one")
	}
	if d.By, err = toNames("by", a.by); err != nil {
		return err
	}
	if d.Size, err = checkSize(a.size); err != nil {
		return err
	}
	d.Unit, d.UnitName, err = toUnit(a.unit)
	return err
}

// toUnit reads unit= and gives its label.
func toUnit(v starlark.Value) (int64, string, error) {
	if v == nil || v == starlark.None {
		return 1, "", nil
	}
	n, ok := int64(0), false
	if i, isInt := v.(starlark.Int); isInt {
		n, ok = i.Int64()
	}
	for _, u := range timeUnits {
		if ok && u.ns == n {
			return n, u.name, nil
		}
	}
	return 0, "", fmt.Errorf("unit: got %s, want NSEC, USEC, MSEC or SEC", v)
}

// tableCall makes a table: table(), table(size = 100), table(lru = True). It has no unit, because its values are of any
// kind.
func tableCall(e *Env, c *call) (starlark.Value, error) {
	d := &plan.Container{Kind: plan.Table}
	var size *int
	var by starlark.Value
	if err := c.unpack("size?", asked(&size), "lru?", &d.LRU, "by?", &by); err != nil {
		return nil, err
	}
	var err error
	if d.Size, err = checkSize(size); err != nil {
		return nil, fmt.Errorf("table: %w", err)
	}
	if d.By, err = toNames("by", by); err != nil {
		return nil, fmt.Errorf("table: %w", err)
	}
	return e.declare(c, d, func() value.Container { return value.NewTable(d) }), nil
}

// cellCall makes a cell. Its first value decides what kernel halves may keep in it, so it must be one that they can
// hold.
func cellCall(e *Env, c *call) (starlark.Value, error) {
	var init starlark.Value = starlark.MakeInt(0)
	if err := c.unpack("value?", &init); err != nil {
		return nil, err
	}
	first, ok := PlainValue(init)
	if !ok {
		return nil, fmt.Errorf("cell: got %s, want an int, float, bool, string, tuple or record: "+
			"what kernel halves can hold", init.Type())
	}
	if err := value.CheckWords(init); err != nil {
		return nil, fmt.Errorf("cell: %w", err)
	}
	d := &plan.Container{Kind: plan.Cell, Init: first}
	return e.declare(c, d, func() value.Container { return value.NewCell(d, init) }), nil
}

// agg makes an aggregation with the common arguments.
func (e *Env) agg(c *call, d *plan.Container, extra ...any) (starlark.Value, error) {
	var a common
	if err := c.unpack(append(extra, a.pairs()...)...); err != nil {
		return nil, err
	}
	if err := a.into(d); err != nil {
		return nil, fmt.Errorf("%s: %w", c.name, err)
	}
	if err := checkBuckets(d); err != nil {
		return nil, fmt.Errorf("%s: %w", c.name, err)
	}
	return e.declare(c, d, func() value.Container { return value.NewAgg(d) }), nil
}

// histCall makes a histogram with a bucket for each power of two, of which sub= makes 2^sub.
func histCall(e *Env, c *call) (starlark.Value, error) {
	d := &plan.Container{Kind: plan.Hist}
	// sub comes last for scripts that pass arguments by position.
	var a common
	if err := c.unpack(append(a.pairs(), "sub?", &d.Sub)...); err != nil {
		return nil, err
	}
	if d.Sub < 0 || d.Sub > 6 {
		return nil, fmt.Errorf("hist: sub: got %d, want 0 to 6", d.Sub)
	}
	if err := a.into(d); err != nil {
		return nil, fmt.Errorf("hist: %w", err)
	}
	return e.declare(c, d, func() value.Container { return value.NewAgg(d) }), nil
}

// lhistCall makes a histogram with buckets of one width, from lo to hi. What is outside has a bucket at each end.
func lhistCall(e *Env, c *call) (starlark.Value, error) {
	d := &plan.Container{Kind: plan.LHist}
	return e.agg(c, d, "lo", &d.Lo, "hi", &d.Hi, "step", &d.Step)
}

// quantilesCall makes quantiles, which are read off the buckets of a fine histogram.
func quantilesCall(e *Env, c *call) (starlark.Value, error) {
	return e.agg(c, &plan.Container{Kind: plan.Quantiles})
}

// maxBuckets bounds the value of a histogram: 8 bytes a bucket, and a map
// value is copied whole when it is read.
const maxBuckets = 4000

// checkBuckets refuses a histogram of buckets of one width that has none, too many, or bounds that look like ns.
func checkBuckets(d *plan.Container) error {
	if d.Kind != plan.LHist {
		return nil
	}
	if d.Step < 1 || d.Hi <= d.Lo {
		return fmt.Errorf("got lo = %d, hi = %d, step = %d; want lo < hi and a step of at least 1", d.Lo, d.Hi, d.Step)
	}
	if inNanoseconds(d) {
		return fmt.Errorf("lo = %d, hi = %d, step = %d look like times in ns; with unit= they are in the unit: "+
			"%d, %d, %d", d.Lo, d.Hi, d.Step, d.Lo/d.Unit, d.Hi/d.Unit, d.Step/d.Unit)
	}
	if n := wire.LinearBuckets(d.Lo, d.Hi, d.Step) - 2; n > maxBuckets {
		return fmt.Errorf("%d buckets, want at most %d: use a larger step", n, maxBuckets)
	}
	return nil
}

// inNanoseconds reports whether all bounds are whole units already. Of microseconds nobody can tell: a step of 1000
// is one of a millisecond.
func inNanoseconds(d *plan.Container) bool {
	return d.Unit >= 1e6 && d.Lo%d.Unit == 0 && d.Hi%d.Unit == 0 && d.Step%d.Unit == 0
}

// groupCall makes one aggregation of several, which have a row together: group(reads = count(), took = mean()). Its
// members are no containers of the script any more: they live in the value of the group.
func groupCall(e *Env, c *call) (starlark.Value, error) {
	if len(c.args) > 0 {
		return nil, fmt.Errorf("group: got a positional argument, want aggregations by name: group(reads = count())")
	}
	d := &plan.Container{Kind: plan.Group}
	var a common
	rest := call{name: c.name}
	for _, kv := range c.kwargs {
		name := string(kv[0].(starlark.String))
		if name == "by" || name == "size" {
			rest.kwargs = append(rest.kwargs, kv)
			continue
		}
		member, ok := kv[1].(*value.Agg)
		if !ok || !member.Decl().Kind.IsAggregation() {
			return nil, fmt.Errorf("group: %s: got %s, want an aggregation such as count()", name, kv[1].Type())
		}
		if !e.release(member) {
			return nil, fmt.Errorf("group: %s belongs to another group, make one for each", name)
		}
		if member.Used() {
			return nil, fmt.Errorf("group: %s has been added to: make the group before, and add to its member", name)
		}
		member.Decl().Name = name
		d.Members = append(d.Members, plan.GroupMember{Name: name, Agg: member.Decl()})
	}
	if err := rest.unpack("by?", &a.by, "size?", asked(&a.size)); err != nil {
		return nil, err
	}
	if err := a.into(d); err != nil {
		return nil, fmt.Errorf("group: %w", err)
	}
	if len(d.Members) == 0 {
		return nil, fmt.Errorf("group: no aggregations, want group(reads = count(), …)")
	}
	g := e.declare(c, d, func() value.Container { return value.NewAgg(d) })
	for _, m := range d.Members {
		m.Agg.Group = cmp.Or(d.Name, "the group")
	}
	return g, nil
}

// release takes a container out of the plan: a member of a group lives in the
// group. It is false where the container is not there.
func (e *Env) release(v value.Container) bool {
	i := slices.Index(e.containers, v)
	if i < 0 {
		return false
	}
	e.containers = slices.Delete(e.containers, i, i+1)
	return true
}
