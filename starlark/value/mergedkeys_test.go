package value

import (
	"fmt"
	"strings"
	"testing"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/internal/plan"
)

// mergedText runs a script that adds to n by stacks s and loop, of the same functions, and by others. It gives what n
// then has by merged stacks, a line for each.
func mergedText(t *testing.T, decl *plan.Container, text string) string {
	t.Helper()
	agg := NewAgg(decl)
	env := starlark.StringDict{"n": agg, "s": Stack{7, someStacks}, "loop": Stack{13, someStacks},
		"u": Stack{9, someStacks}, "lost": Stack{11, someStacks}}
	if _, err := starlark.ExecFileOptions(&syntax.FileOptions{}, &starlark.Thread{}, "", text, env); err != nil {
		t.Fatal(err)
	}
	all, err := agg.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	before := len(all.Entries())
	merged, err := all.Merged(someStacks)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, kv := range merged.items() {
		v := kv[1]
		if h, ok := v.(*Histogram); ok {
			v = h.list()
		}
		out = append(out, strings.ReplaceAll(fmt.Sprint(kv[0], v), "\n", ""))
	}
	if len(all.Entries()) != before {
		t.Errorf("merging has changed the snapshot: %d entries, and there were %d", len(all.Entries()), before)
	}
	return strings.Join(out, "\n")
}

// Entries whose stacks reports do not tell apart are one, with the values of all of them, in the way of each
// aggregation.
func TestMergedValues(t *testing.T) {
	const stack, other = "    vfs_write    nft_do [nf_tables]    a;b ",
		"    write+0x10 (libc.so.6)    app+0x20    0x30    … cut at 3 frames "
	group := &plan.Container{Kind: plan.Group, Name: "n", Members: []plan.GroupMember{
		{Name: "calls", Agg: agg(plan.Count)}, {Name: "most", Agg: agg(plan.Highest)}}}
	const adds = "n[s].add(3)\nn[loop].add(9)\nn[loop].add(3)\nn[u].add(20)\n"
	for _, test := range []struct {
		decl             *plan.Container
		text, want, rest string
	}{
		{agg(plan.Count), "n[s].add(2)\nn[u].add()\nn[loop].add(5)\n", "7", "1"},
		{agg(plan.Total), adds, "15", "20"},
		{agg(plan.Mean), adds, "5.0", "20.0"},
		{agg(plan.Lowest), adds, "3", "20"},
		{agg(plan.Highest), adds, "9", "20"},
		{agg(plan.Stats), adds, "record(count = 3, mean = 5.0, total = 15, lowest = 3, highest = 9)",
			"record(count = 1, mean = 20.0, total = 20, lowest = 20, highest = 20)"},
		{agg(plan.Hist), adds, "[record(lo = 2, hi = 4, count = 2), record(lo = 4, hi = 8, count = 0), " +
			"record(lo = 8, hi = 16, count = 1)]", "[record(lo = 16, hi = 32, count = 1)]"},
		{&plan.Container{Kind: plan.LHist, Name: "n", Unit: 1, Hi: 30, Step: 10}, adds,
			"[record(lo = 0, hi = 10, count = 3)]", "[record(lo = 20, hi = 30, count = 1)]"},
		{agg(plan.Quantiles), "n[s].add(3)\nn[loop].add(3)\nn[u].add(5)\n", "[record(lo = 3, hi = 4, count = 2)]",
			"[record(lo = 5, hi = 6, count = 1)]"},
		{group, "n[s].calls.add()\nn[loop].calls.add(4)\nn[s].most.add(8)\nn[loop].most.add(3)\nn[u].calls.add()\n",
			"record(calls = 5, most = 8)", "record(calls = 1, most = None)"},
	} {
		if got, want := mergedText(t, test.decl, test.text), stack+test.want+"\n"+other+test.rest; got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", test.decl.Kind, got, want)
		}
	}
}

// The other parts of a key keep entries apart, and what has no stack stays as it is.
func TestMergedKeys(t *testing.T) {
	for text, want := range map[string]string{
		`n["a", s].add()` + "\n" + `n["b", loop].add()` + "\n" + `n["a", loop].add(2)`: `("a",     vfs_write    ` +
			`nft_do [nf_tables]    a;b) 3` + "\n" + `("b",     vfs_write    nft_do [nf_tables]    a;b) 1`,
		`n[s[0], 1].add()` + "\n" + `n[loop[0], 1].add(4)`:           "(vfs_write, 1) 5",
		`n[(1, (s[0],))].add()` + "\n" + `n[(1, (loop[0],))].add(4)`: "(1, (vfs_write,)) 5",
		`n[1].add()` + "\n" + `n["1"].add()`:                         `1 1` + "\n" + `"1"1`,
		`n[lost].add()` + "\n" + `n[u[:1]].add()`:                    `    read ` + `1` + "\n" + `(write,) 1`,
	} {
		if got := mergedText(t, agg(plan.Count), text); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", text, got, want)
		}
	}
}

func agg(kind plan.ContainerKind) *plan.Container {
	return &plan.Container{Kind: kind, Name: "n", Unit: 1}
}
