package diff

import (
	"fmt"
	"sort"
	"strings"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/builtins"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/state"
	"github.com/startrace/startrace/starlark/value"
)

// decoder makes text of labels as a session does, of the names of functions and points those of a unit.
func decoder(names []string) *value.Decoder {
	labels := environment().Labels
	labels.Ints["name"] = func(v uint64) string {
		name, _ := tree.NameOf(int64(v), names)
		return name
	}
	return &value.Decoder{Labels: labels}
}

// environment are the builtins, with labels of a machine that is none.
func environment() *builtins.Env {
	env := builtins.New(builtins.Idle{})
	for name, f := range machineLabels {
		env.Labels.Ints[name] = f
	}
	return env
}

var machineLabels = map[string]value.LabelFunc{
	"ksym":     func(v uint64) string { return fmt.Sprintf("symbol_%d", v>>8) },
	"dev_name": func(v uint64) string { return fmt.Sprintf("disk%d", v%16) },
}

// bind makes values of the containers in maps, with what they begin with.
func (m *machine) bind() error {
	m.state = map[string]starlark.Value{}
	options := state.Options{Epochs: m.loaded.Maps[tree.MapEpochs]}
	for i, c := range m.unit.Tree.Containers {
		if c == nil {
			continue
		}
		be, err := state.New(c, m.loaded.Maps[tree.ContainerMap(i)], options)
		if err != nil {
			return err
		}
		be.Settle() // nothing runs while this test reads
		m.backends = append(m.backends, be)
		if m.state[c.Name], err = bound(c, be, m.decoder); err != nil {
			return err
		}
	}
	return nil
}

func bound(c *tree.Container, be state.Container, d *value.Decoder) (starlark.Value, error) {
	switch c.Kind {
	case plan.Table:
		t := value.NewTable(c.Container)
		return t, t.Bind(be, d)
	case plan.Cell:
		cell := value.NewCell(c.Container, initial(c.Init))
		return cell, cell.Bind(be, d)
	}
	a := value.NewAgg(c.Container)
	a.BindAgg(be, d, c.Agg)
	return a, nil
}

// initial is the first value of a cell.
func initial(v plan.Value) starlark.Value {
	switch v := v.(type) {
	case plan.Int:
		return starlark.MakeBigInt(v.Big)
	case plan.Float:
		return starlark.Float(v)
	case plan.Bool:
		return starlark.Bool(v)
	case plan.String:
		return starlark.String(v)
	}
	return starlark.None
}

// compareState gives the first difference of what the containers of a program hold.
func (m *machine) compareState(r *reference, p *Program) string {
	for name, k := range m.state {
		want, ok := r.globals[name]
		if !ok || !strings.HasPrefix(name, p.Name+"_") {
			continue
		}
		got, err := held(k)
		ref, refErr := held(want)
		switch {
		case err != nil || refErr != nil:
			return fmt.Sprintf("%s: %v, %v", name, err, refErr)
		case !sameValues(got, ref):
			return name + " holds " + apart(got, ref)
		}
	}
	return ""
}

// apart is the first difference.
func apart(got, want []starlark.Value) string {
	for i := range min(len(got), len(want)) {
		if !sameValue(got[i], want[i]) {
			return fmt.Sprintf("%s, in the interpreter %s (entry %d of %d, %d)", got[i], want[i], i, len(got),
				len(want))
		}
	}
	return fmt.Sprintf("%d entries, in the interpreter %d", len(got), len(want))
}

// unused is the value of an aggregation like c that nothing has been added to. Whether it has keys is known to a kernel
// half, and to user space only when it has one.
func unused(c *value.Agg) starlark.Value {
	s, err := value.NewAgg(c.Decl()).Snapshot()
	if err != nil {
		return starlark.None
	}
	whole, err := s.Attr("value")
	if err != nil {
		return starlark.None
	}
	return whole
}

// ofKey is a value as a part of a key: 0.0 for both zeros.
func ofKey(v starlark.Value) starlark.Value {
	switch v := v.(type) {
	case starlark.Float:
		return v + 0
	case starlark.Tuple:
		out := make(starlark.Tuple, len(v))
		for i := range v {
			out[i] = ofKey(v[i])
		}
		return out
	}
	return v
}

// held is what a container holds, in an order.
func held(c starlark.Value) ([]starlark.Value, error) {
	var items []starlark.Tuple
	switch c := c.(type) {
	case *value.Cell:
		v, err := c.Value()
		return []starlark.Value{bare(v)}, err
	case *value.Table:
		items = c.Items()
	case *value.Agg:
		s, err := c.Snapshot()
		if err != nil {
			return nil, err
		}
		v, err := s.Attr("items")
		if err != nil {
			return nil, err
		}
		list, err := starlark.Call(&starlark.Thread{}, v, nil, nil)
		if err != nil {
			return nil, err
		}
		for x := range starlark.Elements(list.(*starlark.List)) {
			items = append(items, x.(starlark.Tuple))
		}
		if whole, err := s.Attr("value"); err == nil && len(items) == 0 && value.Text(whole) != value.Text(unused(c)) {
			return []starlark.Value{whole}, nil
		}
	}
	for i, x := range items {
		items[i] = bare(x).(starlark.Tuple)
		items[i][0] = ofKey(items[i][0])
	}
	sort.Slice(items, func(i, j int) bool {
		return value.Text(items[i][0]) < value.Text(items[j][0])
	})
	out := make([]starlark.Value, len(items))
	for i, x := range items {
		out[i] = x
	}
	return out, nil
}
