package builtins

import (
	"fmt"

	"go.starlark.net/starlark"
)

// Flags whose value is an expression of the event, as --by and --where of verbs.

// expressionName is the type of flags whose value is an expression of the
// event.
const expressionName = "expression"

var expressionFamily = []Entry{
	{
		Name: expressionName, Family: "flags",
		Signature: "expression(text)",
		Doc: `The function lambda e: (TEXT) of a text: expression("e.comm, e.pid"). It is the type of flags that take
expressions of the event: flag("where", type = expression) gives a function, None where the flag was not given.`,
		call: expressionCall,
	},
	{
		Name: "spelling", Family: "flags",
		Signature: "spelling(f)",
		Doc:       `The parts of what expression() made, as they were written: ["e.comm", "e.pid"].`,
		call:      spellingCall,
	},
	{
		Name: "is_duration", Family: "flags",
		Signature: "is_duration(f)",
		Doc: `Whether what expression() made is a duration of its event: e.duration, whatever the event is called, with
a sign, in abs(), min(), max(), … if … else …, and with + and -, beside other durations and numbers.`,
		call: isDurationCall,
	},
}

// expressionCall makes a function of the event of a text.
func expressionCall(e *Env, c *call) (starlark.Value, error) {
	var text string
	if err := c.unpack("text", &text); err != nil {
		return nil, err
	}
	return e.expressionOf(expressionName, text)
}

// expressionOf makes a function of a text; messages call its place name.
func (e *Env) expressionOf(name, text string) (starlark.Value, error) {
	if e.Expression == nil {
		return nil, fmt.Errorf("there are no expressions here")
	}
	fn, parts, err := e.Expression(name, text)
	if err != nil {
		return nil, err
	}
	if e.spelled == nil {
		e.spelled = make(expressionParts)
	}
	e.spelled[fn] = parts
	return fn, nil
}

// spellingCall gives the parts of a text of which expressionCall has made a function. Tools name their columns by them.
func spellingCall(e *Env, c *call) (starlark.Value, error) {
	spelled, err := e.spellingOf(c, "spelling")
	if err != nil {
		return nil, err
	}
	out := make([]starlark.Value, len(spelled.Parts))
	for i, p := range spelled.Parts {
		out[i] = starlark.String(p)
	}
	return starlark.NewList(out), nil
}

// isDurationCall tells whether a function that expressionCall made gives a duration. Tools show that in a unit of time.
func isDurationCall(e *Env, c *call) (starlark.Value, error) {
	spelled, err := e.spellingOf(c, "is_duration")
	return starlark.Bool(spelled.Duration), err
}

// spellingOf is the spelling of the function that a call has as its argument; messages call its place name.
func (e *Env) spellingOf(c *call, name string) (Spelling, error) {
	var fn starlark.Callable
	if err := c.unpack("f", &fn); err != nil {
		return Spelling{}, err
	}
	spelled, ok := e.spelled[fn]
	if !ok {
		return Spelling{}, fmt.Errorf("%s: got %s, want what expression() gave", name, fn.Name())
	}
	return spelled, nil
}
