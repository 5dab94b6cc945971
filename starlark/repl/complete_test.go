package repl

import (
	"strconv"
	"strings"
	"testing"
)

// source answers with what it was asked for.
type source struct{}

func (source) Names() []string                    { return []string{"probe", "probes", "print", "_hidden"} }
func (source) Arguments(function string) []string { return []string{"of_" + function} }
func (source) Strings(function string) Strings {
	return map[string]Strings{"probe": Points, "event": Points, "span": Points, "first": Points, "list": Points,
		"load": Modules, "reload": Modules, "save": Files}[function]
}
func (source) Attributes(path []string) []string { return []string{"attr_" + strings.Join(path, "_")} }
func (source) Points(typed string) ([]string, []string) {
	return []string{"kprobe:a", "tracepoint:b", "tracepoint:c"}, nil
}

func (source) Fields(points, path []string) []string {
	return []string{"field_" + strings.Join(points, "+") + "_" + strings.Join(path, "_")}
}

func (source) Files(typed string, modules bool) []string {
	if modules {
		return []string{"std/x.star"}
	}
	return []string{"mine.star"}
}

func TestComplete(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"x = pro", "4 probe probes"},
		{"_", "0 _hidden"},
		{"f(p", "2 print probe probes"},
		{"f(of", "2 of_f = "},
		{"f((of", "3"},
		{"a.b.", "4 attr_a_b"},
		{"a.b.at", "4 attr_a_b"},
		{"f().at", "6"},
		{`probe("tr`, "7 tracepoint:b tracepoint:c"},
		{`probe(["kprobe:z", "k`, "20 kprobe:a"},
		{`probe("kprobe:z", name = "k`, "26 kprobe:a"},
		{`list('`, "6 kprobe:a tracepoint:b tracepoint:c"},
		{`load("s`, "6 std/x.star"},
		{`save("m`, "6 mine.star"},
		{`print("m`, "8"},
		{`"m`, "2"},
		{`probe("r:x", lambda e: e.`, "25 field_r:x_"},
		{`probe(["r:x", 'b:y'], where = lambda e: e.pid == 1 and e.args.fi`, "62 field_b:y+r:x_args"},
		{"probe(\n  event((\"r:x\", lambda ev: ev.args.p.", "44 field_r:x_args_p"},
		{"def f(e):\n  print(e.", "20 field__"},
		{`probe("r:x", f); e.`, "19 attr_e"},
		{"# pro", "5"},
	} {
		got := Complete(c.text, source{})
		if text := strings.TrimSpace(strings.Join(append([]string{strconv.Itoa(got.From)}, got.Words...),
			" ")); text != strings.TrimSpace(c.want) {
			t.Errorf("%q: %q, want %q", c.text, text, c.want)
		}
	}
}
