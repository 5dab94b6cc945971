package explain

import (
	"slices"
	"strconv"
	"strings"

	"go.starlark.net/resolve"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/bpfgen/infer"
	"github.com/startrace/startrace/internal/plan"
)

// What `explain` says of a function: where it runs, the reason (`kernelReasons`), what it captured.

// kernelReasons say why a function runs in the kernel, by its role.
var kernelReasons = map[string]string{
	"where":   "a filter runs in the kernel, so that what it drops costs nothing more",
	"kernel":  "kernel= says so",
	"event":   "the functions of event() run in the kernel",
	"key":     "the keys of span() are made in the kernel",
	"handler": "all that it does can be done in the kernel",
	"start":   "all that it does can be done in the kernel",
}

func (in *Input) function(at infer.Placement) Function {
	f := Function{Role: at.Role, Side: at.Side, Why: at.Why, Gets: at.Sends, Makes: at.Makes}
	if at.Why == "" {
		f.Why = kernelReasons[at.Role]
	}
	if at.Fn == nil {
		return f
	}
	f.Name, f.Pos = at.Fn.Name, at.Fn.Pos.String()
	w := funcWalk{constants: at.Side == "kernel", seen: map[*plan.Func]bool{}, out: &f}
	w.walk(at.Fn)
	slices.Sort(f.Shares)
	slices.SortFunc(f.Constants, func(a, b Constant) int { return strings.Compare(a.Name, b.Name) })
	f.Constants = slices.Compact(f.Constants)
	f.Shares = slices.Compact(f.Shares)
	return f
}

// funcWalk collects what a function and those that it uses captured.
type funcWalk struct {
	constants bool
	seen      map[*plan.Func]bool
	out       *Function
}

func (w *funcWalk) walk(fn *plan.Func) {
	if w.seen[fn] {
		return
	}
	w.seen[fn] = true
	for i, v := range fn.Free {
		w.captured(freeName(fn, i), v)
	}
	for i, v := range fn.Defaults {
		if v != nil && i < len(fn.ParamNames()) {
			w.captured(fn.ParamNames()[i], v)
		}
	}
	names := make([]string, 0, len(fn.Names))
	for name := range fn.Names {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		w.captured(name, fn.Names[name])
	}
}

func (w *funcWalk) captured(name string, v plan.Value) {
	switch v := v.(type) {
	case *plan.Func:
		if !w.seen[v] {
			w.out.Calls = append(w.out.Calls, v.Name+" ("+v.Pos.String()+")")
			w.walk(v)
		}
	case plan.Ref:
		w.out.Shares = append(w.out.Shares, containerName(v.Container)+" ("+v.Kind.String()+")")
	default:
		if text, ok := valueText(v); ok && w.constants && !universal(name) {
			w.out.Constants = append(w.out.Constants, Constant{name, text})
		}
	}
}

func universal(name string) bool { return name == "True" || name == "False" || name == "None" }

// freeName is the name of captured variable i.
func freeName(fn *plan.Func, i int) string {
	var of any
	if fn.Def != nil {
		of = fn.Def.Function
	} else if fn.Lambda != nil {
		of = fn.Lambda.Function
	}
	if r, ok := of.(*resolve.Function); ok && i < len(r.FreeVars) && r.FreeVars[i].First != nil {
		return r.FreeVars[i].First.Name
	}
	return "captured " + strconv.Itoa(i)
}

// longestValue is the width at which constants are cut.
const longestValue = 60

// valueText is a constant as the script would write it; false for what is no
// constant.
func valueText(v plan.Value) (string, bool) {
	var list []plan.Value
	open, end := "(", ")"
	switch v := v.(type) {
	case plan.None:
		return "None", true
	case plan.Bool:
		if v {
			return "True", true
		}
		return "False", true
	case plan.Int:
		return v.Big.String(), true
	case plan.Float:
		return strconv.FormatFloat(float64(v), 'g', -1, 64), true
	case plan.String:
		return cut(syntax.Quote(string(v), false)), true
	case plan.Bytes:
		return cut(syntax.Quote(string(v), true)), true
	case plan.Tuple:
		list = v
	case plan.List:
		list, open, end = v, "[", "]"
	case plan.Range:
		return "a range of " + strconv.Itoa(len(v)), true
	case plan.Dict:
		return "a dict of " + strconv.Itoa(len(v)) + " entries", true
	case plan.Record:
		return "a record of " + strconv.Itoa(len(v)) + " fields", true
	default:
		return "", false
	}
	var parts []string
	for _, e := range list {
		text, ok := valueText(e)
		if !ok {
			return "", false
		}
		parts = append(parts, text)
	}
	return cut(open + strings.Join(parts, ", ") + end), true
}

func cut(s string) string {
	if r := []rune(s); len(r) > longestValue {
		return string(r[:longestValue-1]) + "…"
	}
	return s
}

func containerName(c *plan.Container) string {
	if c.Name != "" {
		return c.Name
	}
	return "a " + c.Kind.String() + " without a name"
}
