// Package twins is for tests. It runs handlers in the kernel and in user space for
// the same events, and compares what they did.
package twins

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/startrace/startrace/internal/attach"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/starlark/value"
)

// For tests, the containers of handlers that ran on both sides, compared.

// Twins is for tests: handlers that can run in the kernel run there and in user space, of the same events
// (plan.InBoth). The kernel's containers are then others than those of the script, and when all events have been
// delivered both must hold the same.
type Twins struct {
	// Same says of each container that was compared how many entries it had, Differ what was not the same; Alone are
	// those that are changed on one side only, as well.
	Same   map[string]int
	Differ []string
	Alone  []string
	// Losses are what the programs lost, set at the end of the run: where there are some, the two sides may differ.
	Losses []attach.Loss

	pairs []pair
}

type pair struct{ script, kernel value.Container }

// Of gives the kernel's twin of a container of the script.
func (t *Twins) Of(c value.Container, decl *plan.Container, alone bool) value.Container {
	p := pair{script: c}
	switch c := c.(type) {
	case *value.Table:
		table := value.NewTable(decl)
		for _, item := range c.Items() {
			if err := table.SetKey(item[0], item[1]); err != nil {
				t.Differ = append(t.Differ, fmt.Sprintf("%s: %v", decl.Title(), err))
			}
		}
		p.kernel = table
	case *value.Cell:
		v, err := c.Value()
		if err != nil {
			t.Differ = append(t.Differ, fmt.Sprintf("%s: %v", decl.Title(), err))
		}
		p.kernel = value.NewCell(decl, v)
	default:
		p.kernel = value.NewAgg(decl)
	}
	if alone {
		t.Alone = append(t.Alone, decl.Title())
	} else {
		t.pairs = append(t.pairs, p)
	}
	return p.kernel
}

// Compare is called before the script's last functions, which may clear what they print.
func (t *Twins) Compare() {
	t.Same = map[string]int{}
	for _, p := range t.pairs {
		name := p.script.Decl().Title()
		script, err := contents(p.script)
		kernel, kernelErr := contents(p.kernel)
		switch {
		case err != nil || kernelErr != nil:
			t.Differ = append(t.Differ, fmt.Sprintf("%s: %v, %v", name, err, kernelErr))
		case maps.EqualFunc(script, kernel, slices.Equal):
			t.Same[name] = len(kernel)
		default:
			t.Differ = append(t.Differ, name+":\n"+differences(script, kernel))
		}
	}
}

// contents are the entries of a container as text. Keys with the same text are several where they have numbers, too, as
// the stacks of two processes of one program.
func contents(c value.Container) (map[string][]string, error) {
	out := map[string][]string{}
	add := func(key, v string) {
		out[key] = append(out[key], v)
		slices.Sort(out[key])
	}
	switch c := c.(type) {
	case *value.Table:
		for _, item := range c.Items() {
			add(item[0].String(), item[1].String())
		}
	case *value.Cell:
		v, err := c.Value()
		if err != nil {
			return nil, err
		}
		add("", v.String())
	case *value.Agg:
		snapshot, err := c.Peek()
		if err != nil {
			return nil, err
		}
		for _, e := range snapshot.Entries() {
			key := ""
			if e.Key != nil {
				key = e.Key.String()
			}
			add(key, resultText(snapshot.Columns(), e.States))
		}
	}
	return out, nil
}

// resultText is what a script sees of an entry; of a histogram, its buckets that are not empty.
func resultText(columns []*plan.Container, states []value.State) string {
	var b strings.Builder
	for i, c := range columns {
		s := &states[i]
		fmt.Fprint(&b, value.Result(c, s))
		for i, n := range s.Buckets {
			if n > 0 {
				fmt.Fprintf(&b, " [%d]=%d", i, n)
			}
		}
		b.WriteString("; ")
	}
	return b.String()
}

// differences has the first few entries that are not the same.
func differences(script, kernel map[string][]string) string {
	const most = 5
	var lines []string
	keys := maps.Clone(script)
	maps.Copy(keys, kernel)
	for _, k := range slices.Sorted(maps.Keys(keys)) {
		if len(lines) < most && !slices.Equal(script[k], kernel[k]) {
			lines = append(lines, fmt.Sprintf("  %s: user space has %q, the kernel %q", k, script[k], kernel[k]))
		}
	}
	return strings.Join(lines, "\n")
}
