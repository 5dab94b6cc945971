package diff

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

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
	open    map[string]map[string]Input // spans by the program and the key
}

func newReference(src string) (*reference, error) {
	env := environment().Predeclared()
	for _, w := range []wrap{asInt, asUint, check} {
		env[string(w)] = starlark.NewBuiltin(string(w), func(_ *starlark.Thread, _ *starlark.Builtin,
			args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
			return wrapValue(w, args[0])
		})
	}
	env["_shr"] = starlark.NewBuiltin("_shr", shiftRight)
	for name, fn := range map[string]func(*starlark.Thread, *starlark.Builtin, starlark.Tuple,
		[]starlark.Tuple) (starlark.Value, error){
		"_update": update, "_attr": attr, "_at": element, "_all": elements, "_join": joined, "_present": present,
		"_cast": converted, "_around": around, "_same": itself, "_sizeof": sizeOf, "_mem": memOf, "_byte": byteOf,
		"cstr":   itself, // of a field of a site, as _same
		"_add_s": addWrapped(asInt), "_cell_add": cellAdd, "_exact": updateExactly,
	} {
		env[name] = starlark.NewBuiltin(name, fn)
	}
	r := &reference{thread: &starlark.Thread{}, open: map[string]map[string]Input{}}
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
func shiftRight(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value,
	error) {
	if n, ok := args[1].(starlark.Int); ok {
		if i, ok := n.Int64(); !ok || i < 0 || i > 511 {
			return nil, fmt.Errorf("shift count %s", n)
		}
	}
	return starlark.Binary(syntax.GTGT, args[0], args[1])
}

// present gives what is not None of a pair.
func present(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	pair, ok := args[0].(starlark.Tuple)
	if !ok || len(pair) != 2 {
		return args[0], nil // made by Shrink
	}
	if pair[0] == starlark.None {
		return pair[1], nil
	}
	return pair[0], nil
}

// update is t[k] op= v: what scripts do, with the result in 64 bits.
func update(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	t := args[0].(*value.Table)
	old, found, err := t.Get(args[3])
	switch {
	case err != nil:
		return nil, err
	case !found:
		old = starlark.MakeInt(0)
	}
	sum, err := wrapped(string(args[1].(starlark.String)), wrap(args[2].(starlark.String)), old, args[4])
	if err != nil {
		return nil, err
	}
	return starlark.None, t.SetKey(args[3], sum)
}

// updateExactly is t[k] op= v as user code has it.
func updateExactly(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value,
	error) {
	return starlark.None, value.Update(args[0], args[1], string(args[2].(starlark.String)), args[3])
}

// operators are those that change entries.
var operators = map[string]syntax.Token{"+": syntax.PLUS, "-": syntax.MINUS, "*": syntax.STAR, "&": syntax.AMP,
	"|": syntax.PIPE, "^": syntax.CIRCUMFLEX}

// wrapped is x op y in 64 bits.
func wrapped(op string, w wrap, x, y starlark.Value) (starlark.Value, error) {
	result, err := starlark.Binary(operators[op], x, y)
	if err != nil {
		return nil, err
	}
	return wrapValue(w, result)
}

// addWrapped is t.add(k, n).
func addWrapped(w wrap) func(*starlark.Thread, *starlark.Builtin, starlark.Tuple, []starlark.Tuple) (starlark.Value,
	error) {
	return func(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value,
		error) {
		if len(args) < 3 {
			args = append(args, starlark.MakeInt(1))
		}
		return update(nil, b, starlark.Tuple{args[0], starlark.String("+"), starlark.String(w), args[1], args[2]}, nil)
	}
}

// cellAdd is c.add(n).
func cellAdd(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	c, n := args[0].(*value.Cell), starlark.Value(starlark.MakeInt(1))
	if len(args) > 1 {
		n = args[1]
	}
	old, err := c.Value()
	if err != nil {
		return nil, err
	}
	sum, err := wrapped("+", asInt, old, n)
	if err != nil {
		return nil, err
	}
	return starlark.None, c.Set(sum)
}

// run calls the function of a program.
func (r *reference) run(p *Program, in Input) outcome {
	event := eventOf(in, StrMax)
	if p.Site != nil {
		event = eventAt(p.Site, &in)
	}
	if p.Span {
		key, out, ok := r.keyOf(p, event)
		if !ok {
			return out
		}
		began, ok := r.open[p.Name][key]
		if !ok {
			return outcome{value: starlark.None}
		}
		delete(r.open[p.Name], key)
		event["start"] = attrs{"args": argsOf(&began, StrMax)}
	}
	return outcomeOf(starlark.Call(r.thread, r.globals[p.Name], starlark.Tuple{event}, nil))
}

// starts calls the handler of the start of a call.
func (r *reference) starts(p *Program, in Input) outcome {
	return outcomeOf(starlark.Call(r.thread, r.globals[p.BeginName], starlark.Tuple{eventAt(p.Site.Start, &in)}, nil))
}

// begin starts a span.
func (r *reference) begin(p *Program, in Input) outcome {
	key, out, ok := r.keyOf(p, attrs{"args": argsOf(&in, StrMax)})
	if !ok {
		return out
	}
	if r.open[p.Name] == nil {
		r.open[p.Name] = map[string]Input{}
	}
	r.open[p.Name][key] = in
	return outcome{value: starlark.None}
}

// keyOf is the key of a start or an end; ok is false where there is none.
func (r *reference) keyOf(p *Program, event starlark.Value) (key string, out outcome, ok bool) {
	if p.Key == nil {
		return "", outcome{}, true
	}
	out = outcomeOf(starlark.Call(r.thread, r.globals[p.Key.Name], starlark.Tuple{event}, nil))
	if out.value == nil || out.value == starlark.None {
		return "", out, false
	}
	return value.Text(ofKey(out.value)), out, true // with the marks of what was cut: another key
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

// Get is e.args[i].
func (a attrs) Get(k starlark.Value) (v starlark.Value, found bool, err error) {
	if v, ok := a["["+k.String()+"]"]; ok { // of a site
		return v, true, nil
	}
	i, err := starlark.AsInt32(k)
	if err != nil || i < 0 || i >= len(Fields) {
		return nil, false, fmt.Errorf("no argument %s", k)
	}
	return a[Fields[i].Name], true, nil
}

// eventOf is the event of an input, with strings of at most strMax bytes.
func eventOf(in Input, strMax int) attrs {
	event := attrs{"args": argsOf(&in, strMax), "first": firstBytes(in.Texts[10])}
	if long := in.Nodes[0].Long; long != nil {
		event["list"], event["joined"] = listOf(long), joinOf(long)
	}
	return event
}

// firstBytes is what mem(p, 4) reads of a string.
func firstBytes(t Text) starlark.Value {
	if t.Fault {
		return value.FAULT
	}
	return value.Bytes((t.S + "\x00\x00\x00\x00")[:4])
}

func argsOf(in *Input, strMax int) starlark.Value {
	args := attrs{}
	for i, f := range Fields {
		args[f.Name] = in.value(i, f, strMax)
	}
	return args
}

// value is that of a field.
func (in *Input) value(i int, f Field, strMax int) starlark.Value {
	if f.Path != "" {
		i = f.From
	}
	w := in.Words[i]
	switch {
	case f.Far:
		return value.FAULT
	case f.Void, f.Address && w == 0:
		return starlark.None
	case f.Address && w > math.MaxUint64-4095: // an error of the kernel
		return starlark.MakeInt64(int64(w))
	case f.Bits == 0:
		return textValue(in.Texts[i], strMax)
	case f.Ptr:
		return leads(in, in.P, strMax)
	case f.Bool:
		return starlark.Bool(w != 0)
	case f.Signed:
		return widen(w, f.Bits, signed)
	}
	return widen(w, f.Bits, unsigned)
}

var pathPart = regexp.MustCompile(`\w+|\[\d+\]`)

// eventAt is the event of a site.
func eventAt(site *Site, in *Input) attrs {
	root := attrs{}
	for i, f := range site.Fields {
		for _, path := range []string{f.Path, f.Alias} {
			if path != "" {
				root.put(pathPart.FindAllString(strings.TrimPrefix(path, "cstr("), -1)[1:], in.value(i, f, StrMax))
			}
		}
	}
	for _, k := range site.Stacks {
		root.put(pathPart.FindAllString(k.Name, -1)[1:], k.reference(in))
	}
	return root
}

// put sets what a path leads to.
func (a attrs) put(path []string, v starlark.Value) {
	if len(path) == 1 {
		a[path[0]] = v
		return
	}
	next, ok := a[path[0]].(attrs)
	if !ok {
		next = attrs{}
		a[path[0]] = next
	}
	next.put(path[1:], v)
}
