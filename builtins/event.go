package builtins

import (
	"fmt"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/internal/plan"
)

// event(), span(), first(): points that scripts make, with key=, timeout= and size=.

var pointFamily = []Entry{
	{
		Name: "event", Family: "points",
		Signature: `event((points, fn), …, doc="")`,
		Doc: `Makes a point of your own: event((points, fn), …). The functions run in the kernel. The point
happens when one of them returns a record, whose fields are the event's. A function that returns None only keeps state.
A field that handlers take is in the records of all functions. A field without a value is None there: record(a = 1, b =
None).`,
		Points: true, call: eventCall,
	},
	{
		Name: "span", Family: "points",
		Signature: `span(start, end, key=None, again="last", size=10240, timeout=None)`,
		Doc: `Makes one event of a start and an end that belong together by thread, or by key. The key is a
function, or (start_fn, end_fn). A key of None means: not this one. again says which start counts when there is one
already: "last" or "first". An end that comes later than timeout ("5s", or ns) after its start is counted and not
paired. s.items() gives the starts that wait for their ends, each as (key, record). The key is that of key=, else the
thread. The record has the time of the start and what handlers take from e.start, by their names.`,
		Points: true, call: spanCall,
	},
	{
		Name: "first", Family: "points",
		Signature: "first(a, b, …)",
		Doc:       "The first of the points that this kernel has.",
		Points:    true, call: firstCall,
	},
}

func (p *PointValue) String() string        { return "<" + p.kind + " " + p.text() + ">" }
func (p *PointValue) Type() string          { return p.kind }
func (p *PointValue) Freeze()               {}
func (p *PointValue) Truth() starlark.Bool  { return starlark.True }
func (p *PointValue) Hash() (uint32, error) { return starlark.String(p.pos.String()).Hash() }

// text names the point by the points it is made of.
func (p *PointValue) text() string { return pointsText([]Point{{value: p}}) }

// names are those of the points that it is made of; a span and a choice have one.
func (p *PointValue) names() (out []string) {
	switch p.kind {
	case "span":
		return []string{pointsText(p.start) + " → " + pointsText(p.end)}
	case "first":
		return []string{"first(" + pointsText(p.alts) + ")"}
	}
	for _, a := range p.arms {
		out = append(out, pointNames(a.points)...)
	}
	return out
}

// eventCall makes an event of pairs of points and functions: event((points, fn), …). What fn gives is the event, and
// points without one give theirs.
func eventCall(e *Env, c *call) (starlark.Value, error) {
	p := &PointValue{kind: "event"}
	_, p.pos = e.CallAt(c.pos())
	rest := call{name: c.name, kwargs: c.kwargs}
	if err := rest.unpack("doc?", &p.doc); err != nil {
		return nil, err
	}
	if len(c.args) == 0 {
		return nil, fmt.Errorf("event: got no points, want event((points, fn), …)")
	}
	for i, a := range c.args {
		arm, err := toArm(a, p.pos)
		if err != nil {
			return nil, fmt.Errorf("event: argument %d: %w", i+1, err)
		}
		p.arms = append(p.arms, arm)
	}
	return p, nil
}

// toArm reads (points, fn), or points alone.
func toArm(v starlark.Value, pos plan.Pos) (a arm, err error) {
	if t, ok := v.(starlark.Tuple); ok && len(t) == 2 {
		if _, isFn := t[1].(starlark.Callable); isFn || t[1] == starlark.None {
			if a.fn, err = toFunction("function", t[1], 1); err != nil {
				return a, err
			}
			v = t[0]
		}
	}
	a.points, err = toPoints(v, pos)
	return a, err
}

// spanCall makes a span of a start and an end. Everything is checked here, so that a mistake is told at the call of
// span() and not at the probe that has it.
func spanCall(e *Env, c *call) (starlark.Value, error) {
	var start, end, key, timeout starlark.Value
	p := &PointValue{kind: "span", again: "last", env: e}
	var size *int
	if err := c.unpack("start", &start, "end", &end, "key?", &key, "again?", &p.again, "size?", asked(&size),
		"timeout?", &timeout); err != nil {
		return nil, err
	}
	_, p.pos = e.CallAt(c.pos())
	if p.again != "last" && p.again != "first" {
		return nil, fmt.Errorf("span: again: got %q, want \"last\" or \"first\"", p.again)
	}
	var err error
	if p.size, err = checkSize(size); err != nil {
		return nil, fmt.Errorf("span: %w", err)
	}
	if p.start, err = toPoints(start, p.pos); err != nil {
		return nil, fmt.Errorf("span: start: %w", err)
	}
	if p.end, err = toPoints(end, p.pos); err != nil {
		return nil, fmt.Errorf("span: end: %w", err)
	}
	if err := p.setKeys(key); err != nil {
		return nil, fmt.Errorf("span: %w", err)
	}
	if timeout != nil && timeout != starlark.None {
		if p.timeout, err = toDuration(timeout); err != nil {
			return nil, fmt.Errorf("span: timeout: %w", err)
		}
		if p.timeout <= 0 {
			return nil, fmt.Errorf("span: timeout: got %s, want a time such as \"5s\", or None for no limit", timeout)
		}
	}
	return p, nil
}

// setKeys takes key=: one function for both ends, or a pair. A pair has two functions, because a start that has a key
// of its own is never found by an end that has none.
func (p *PointValue) setKeys(key starlark.Value) (err error) {
	start, end := key, key
	if t, ok := key.(starlark.Tuple); ok {
		if len(t) != 2 {
			return fmt.Errorf("key: got a tuple of %d, want a function or (start_fn, end_fn)", len(t))
		}
		if start, end = t[0], t[1]; start == starlark.None || end == starlark.None {
			return fmt.Errorf("key: got None in (start_fn, end_fn), want two functions: " +
				"the start and the end are found by the same key")
		}
	}
	if p.startKey, err = toFunction("key", start, 1); err != nil {
		return err
	}
	p.endKey, err = toFunction("key", end, 1)
	return err
}

// firstCall makes the first of some points that this kernel has. Which one that is the compiler decides, kernel by
// kernel.
func firstCall(e *Env, c *call) (starlark.Value, error) {
	if len(c.kwargs) > 0 {
		return nil, fmt.Errorf("first: unexpected keyword argument %s", c.kwargs[0][0])
	}
	p := &PointValue{kind: "first"}
	_, p.pos = e.CallAt(c.pos())
	for _, a := range c.args {
		ps, err := toPoints(a, p.pos)
		if err != nil {
			return nil, fmt.Errorf("first: %w", err)
		}
		p.alts = append(p.alts, ps...)
	}
	if len(p.alts) == 0 {
		return nil, fmt.Errorf("first: got no points")
	}
	return p, nil
}
