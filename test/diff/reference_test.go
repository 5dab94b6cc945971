package diff

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/builtins"
	"github.com/startrace/startrace/starlark/value"
)

// An outcome is what a function did with one input.
type outcome struct {
	value starlark.Value // nil: it ended with an error
	what  string         // the error
	line  int            // where
	skip  bool           // the documentation leaves open what happens
}

func (o outcome) String() string {
	switch {
	case o.skip:
		return "left open"
	case o.value == nil:
		return fmt.Sprintf("error in line %d: %s", o.line, o.what)
	}
	return o.value.String()
}

// errOpen ends a reference run whose result depends on what is not documented.
var errOpen = errors.New("the type is not known")

// reference runs programs in the interpreter.
type reference struct {
	thread  *starlark.Thread
	globals starlark.StringDict
}

func newReference(src string) (*reference, error) {
	env := builtins.New(nil).Predeclared()
	for _, w := range []wrap{asInt, asUint, check} {
		env[string(w)] = starlark.NewBuiltin(string(w), func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
			return wrapValue(w, args[0])
		})
	}
	env["_shr"] = starlark.NewBuiltin("_shr", shiftRight)
	env["_update"] = starlark.NewBuiltin("_update", update)
	r := &reference{thread: &starlark.Thread{}}
	var err error
	r.globals, err = starlark.ExecFileOptions(&syntax.FileOptions{}, r.thread, "ref.star", src, env)
	return r, err
}

// wrapValue keeps an int in 64 bits; other values stay as they are.
func wrapValue(w wrap, v starlark.Value) (starlark.Value, error) {
	n, ok := v.(starlark.Int)
	if !ok {
		return v, nil
	}
	x := n.BigInt()
	if w == check {
		if !x.IsInt64() {
			return nil, errOpen
		}
		return v, nil
	}
	x.And(x, new(big.Int).SetUint64(math.MaxUint64))
	if w == asInt {
		return starlark.MakeInt64(int64(x.Uint64())), nil
	}
	return starlark.MakeUint64(x.Uint64()), nil
}

// shiftRight refuses counts as << does.
func shiftRight(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	if n, ok := args[1].(starlark.Int); ok {
		if i, ok := n.Int64(); !ok || i < 0 || i > 511 {
			return nil, fmt.Errorf("shift count %s", n)
		}
	}
	return starlark.Binary(syntax.GTGT, args[0], args[1])
}

// update is t[k] op= v.
func update(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	t := args[0].(*value.Table)
	old, found, err := t.Get(args[3])
	if err != nil {
		return nil, err
	}
	if !found {
		old = starlark.MakeInt(0)
	}
	ops := map[string]syntax.Token{"+": syntax.PLUS, "-": syntax.MINUS, "*": syntax.STAR, "&": syntax.AMP, "|": syntax.PIPE, "^": syntax.CIRCUMFLEX}
	sum, err := starlark.Binary(ops[string(args[1].(starlark.String))], old, args[4])
	if err != nil {
		return nil, err
	}
	if sum, err = wrapValue(wrap(args[2].(starlark.String)), sum); err != nil {
		return nil, err
	}
	return starlark.None, t.SetKey(args[3], sum)
}

// run calls the function of a program.
func (r *reference) run(name string, in Input) outcome {
	return outcomeOf(starlark.Call(r.thread, r.globals[name], starlark.Tuple{eventOf(in, StrMax)}, nil))
}

func outcomeOf(v starlark.Value, err error) outcome {
	if err == nil {
		return outcome{value: v}
	}
	o := outcome{what: err.Error(), skip: errors.Is(err, errOpen)}
	var eval *starlark.EvalError
	if errors.As(err, &eval) {
		for _, fr := range eval.CallStack {
			if strings.HasSuffix(fr.Pos.Filename(), ".star") {
				o.line = int(fr.Pos.Line)
			}
		}
	}
	return o
}

// attrs is a value with attributes: e and e.args.
type attrs starlark.StringDict

func (a attrs) String() string                           { return "<event>" }
func (a attrs) Type() string                             { return "event" }
func (a attrs) Freeze()                                  {}
func (a attrs) Truth() starlark.Bool                     { return true }
func (a attrs) Hash() (uint32, error)                    { return 0, errors.New("unhashable") }
func (a attrs) Attr(name string) (starlark.Value, error) { return a[name], nil }
func (a attrs) AttrNames() []string                      { return nil }

// eventOf is the event of an input, with strings of at most strMax bytes.
func eventOf(in Input, strMax int) starlark.Value {
	args := attrs{}
	for i, f := range Fields {
		w := in.Words[i]
		switch {
		case f.Bits == 0 && in.Texts[i].Fault:
			args[f.Name] = value.FAULT
		case f.Bits == 0:
			args[f.Name] = starlark.String(in.Texts[i].S[:min(len(in.Texts[i].S), strMax)])
		case f.Bool:
			args[f.Name] = starlark.Bool(w != 0)
		case f.Signed:
			shift := 64 - f.Bits
			args[f.Name] = starlark.MakeInt64(int64(w<<shift) >> shift)
		default:
			args[f.Name] = starlark.MakeUint64(w)
		}
	}
	return attrs{"args": args}
}
