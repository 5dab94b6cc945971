package diff

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/startrace/startrace/bpfgen"
	"github.com/startrace/startrace/bpfgen/infer"
	"github.com/startrace/startrace/builtins"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/starlark/script"
	"github.com/startrace/startrace/test/need"
)

// examples are arguments that builtins of kernel halves take, by the name of the builtin and the parameter, or by the
// parameter alone. What a signature has in quotes is an argument of its own.
var examples = map[string]string{
	"n": "e.pid", "addr": "e.task", "dev": "e.pid", "v": "e.pid", "family": `"O_"`, "format": `"%T"`, "time": "e.time",
	"text": "e.comm", "signal": "SIGTERM", "address": "e.task", "cstr n": "8", "mem n": "8", "pointer": "e.task",
	"file": "e.task.mm.exe_file", "inet addr": "e.pid", "mac addr": "mem(e.task, 6)",
	`matches "glob"`:             `"*a"`,
	`cast "struct sock"`:         `"struct task_struct"`,
	`sizeof "struct sock"`:       `"struct task_struct"`,
	`uaddr "./shop:counter"`:     `"./shop:counter"`,
	`container_of "struct sock"`: `"struct task_struct"`, `container_of "member"`: `"comm"`,
}

// methodsOf are methods that kernel halves have, with the parameters that docs/builtins.md, docs/language.md or the
// messages give them.
var methodsOf = []string{
	`T.get(key = 1, default = 2)`, `T.pop(key = 1, default = 2)`, `T.set(key = 1, value = 2)`,
	`T.add(key = 1, value = 2)`, `T.remove(key = 1)`, `C.set(value = 2)`, `C.add(value = 2)`,
	`A_count.add(n = 2)`, `K_count[1].add(n = 2)`, `A_total.add(value = 2, weight = 3)`,
	`A_mean.add(value = 2, weight = 3)`, `A_lowest.add(value = 2)`, `A_highest.add(value = 2)`,
	`A_stats.add(value = 2, weight = 3)`, `K_hist[1].add(value = 2, weight = 3)`, `A_lhist.add(value = 2, weight = 3)`,
	`A_quantiles.add(value = 2, weight = 3)`, `A_group.one.add(n = 2)`, `K_group[1].two.add(value = 2, weight = 3)`,
	`e.file(fd = 1)`, `e.stack(frames = 3)`, `e.ustack(frames = 3)`,
}

// containersOf declares what is in methodsOf.
func containersOf() string {
	text := "T, C, K_count, K_hist = table(), cell(), count(), hist()\nA_lhist = lhist(0, 9, 1)\n" +
		"A_group, K_group = group(one = count(), two = total()), group(one = count(), two = total())\n"
	for _, kind := range []string{"count", "total", "mean", "lowest", "highest", "stats", "quantiles"} {
		text += "A_" + kind + " = " + kind + "()\n"
	}
	return text
}

var aName = regexp.MustCompile(`([(,] ?)[a-z]+ = `)

// namedCalls are calls with all arguments named, and the same with as many as can be in the other order.
func namedCalls(t *testing.T) (out [][]string) {
	for _, c := range methodsOf {
		out = append(out, []string{aName.ReplaceAllString(c, "$1"), c, reversed(c)})
	}
	inKernel := map[string]bool{}
	for _, b := range infer.Builtins() {
		inKernel[b.Name] = b.Kernel
	}
	for _, en := range builtins.Entries() {
		if !inKernel[en.Name] || strings.Contains(en.Signature, "…") {
			continue
		}
		_, list, _ := strings.Cut(strings.TrimSuffix(en.Signature, ")"), "(")
		var positional, named []string
		for p := range strings.SplitSeq(list, ", ") {
			p, _, _ = strings.Cut(p, "=")
			x := examples[en.Name+" "+p]
			if x == "" {
				x = examples[p]
			}
			if x == "" {
				t.Errorf("no example of %s in %s", p, en.Signature)
			}
			positional = append(positional, x)
			if !strings.HasPrefix(p, `"`) {
				x = p + " = " + x
			}
			named = append(named, x)
		}
		call := func(args []string) string { return en.Name + "(" + strings.Join(args, ", ") + ")" }
		if !strings.Contains(named[len(named)-1], " = ") { // it comes behind those with names, and has none
			continue
		}
		out = append(out, []string{call(positional), call(named), reversed(call(named))})
	}
	return out
}

// reversed has the named arguments the other way round.
func reversed(call string) string {
	fn, list, _ := strings.Cut(strings.TrimSuffix(call, ")"), "(")
	args := strings.Split(list, ", ")
	if !slices.ContainsFunc(args, func(a string) bool { return !strings.Contains(a, " = ") }) {
		slices.Reverse(args)
	}
	return fn + "(" + strings.Join(args, ", ") + ")"
}

// TestNamedArguments calls each builtin that kernel halves have, and each method, by the names of its parameters: the
// program is that of the call without them.
func TestNamedArguments(t *testing.T) {
	need.Loading(t)
	real := kernel.Open(kernel.Options{})
	for _, forms := range namedCalls(t) {
		var first string
		for i, call := range forms {
			text, err := programOf(call, real)
			switch {
			case err != nil:
				t.Errorf("%s: %v", call, err)
			case i == 0:
				first = text
			case text != first:
				t.Errorf("%s is another program than %s", call, forms[0])
			}
		}
	}
	for call, want := range map[string]string{
		"A_total.add(v = 3)":             "add(value, weight) has no parameter v",
		"A_total.add(2, value = 3)":      "add(value, weight) got value twice",
		"A_total.add(weight = 3)":        "add(value, weight) wants value",
		"T.set(1, 2, 3, value = 3)":      "set(key, value) got 4 arguments",
		`names(value = 3, family = "O")`: "names(v, family) has no parameter value",
	} {
		if _, err := programOf(call, real); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", call, err, want)
		}
	}
}

// programOf gives the instructions of a kernel half that makes a call.
func programOf(call string, facts *kernel.Facts) (string, error) {
	h := script.New(script.Options{Constant: kernel.Constant})
	text := containersOf() + "def f(e):\n    return " + call + "\n" +
		"probe(\"rawtracepoint:sched_switch\", lambda e: print(e.value), kernel = f)\n"
	if err := h.ParseText("t.star", []byte(text)); err != nil {
		return "", err
	}
	if err := h.Run(nil); err != nil {
		return "", err
	}
	h.Plan().Unsafe = true
	res, err := infer.Plan(h.Plan(), facts, infer.Options{})
	if err != nil {
		return "", err
	}
	u, err := bpfgen.Generate(res.Tree, options())
	if err != nil {
		return "", err
	}
	var out strings.Builder
	if len(u.Spec.Programs) == 0 {
		return "", errors.New("no program")
	}
	for _, p := range u.Spec.Programs {
		for _, ins := range p.Instructions {
			fmt.Fprintln(&out, ins.OpCode, ins.Dst, ins.Src, ins.Offset, ins.Constant)
		}
	}
	return out.String(), nil
}
