package delivery

import (
	"io"
	"testing"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/internal/callback"
	"github.com/startrace/startrace/internal/output"
	"github.com/startrace/startrace/internal/parts"
	"github.com/startrace/startrace/internal/timers"
	"github.com/startrace/startrace/internal/wire"
	"github.com/startrace/startrace/starlark/script"
	"github.com/startrace/startrace/starlark/value"
)

// fake is a delivery whose events come from the test and whose handler calls f.
func fake(f func()) *Delivery {
	out, messages := output.New(io.Discard), &output.Messages{W: io.Discard}
	calls := callback.New(out, messages)
	calls.Host = script.New(script.Options{})
	d := New(Needs{Parts: &parts.Parts{}, Host: calls.Host, Calls: calls, Out: out, Timers: &timers.List{},
		Halted: func() bool { return false }, Event: value.NewEvent(&value.Decoder{})})
	fn := starlark.NewBuiltin("handler", func(*starlark.Thread, *starlark.Builtin, starlark.Tuple,
		[]starlark.Tuple) (starlark.Value, error) {
		f()
		return starlark.None, nil
	})
	rec := &wire.Record{FixedSize: wire.HeaderSize + 8, Fields: []wire.Field{
		{Name: "args.n", Type: wire.Type{Kind: wire.Int, Off: wire.HeaderSize, Size: 8, TagOff: -1}}}}
	d.Add(rec, "test", fn, calls.Count("handler of test"))
	return d
}

// TestDeliverAllocations: beyond what the interpreter does for a call.
func TestDeliverAllocations(t *testing.T) {
	d := fake(func() {})
	d.routes[0].fn = starlark.NewBuiltin("handler", func(*starlark.Thread, *starlark.Builtin, starlark.Tuple,
		[]starlark.Tuple) (starlark.Value, error) {
		return starlark.None, nil
	})
	rec := make([]byte, wire.HeaderSize+8)
	direct := testing.AllocsPerRun(100, func() {
		route := &d.routes[0]
		if _, err := starlark.Call(d.run.Host.Thread(), route.fn, route.args, nil); err != nil {
			t.Fatal(err)
		}
	})
	if n := testing.AllocsPerRun(100, func() { d.deliver(rec) }); n > direct {
		t.Errorf("%v allocations a record, %v for the call alone", n, direct)
	}
}

func BenchmarkDeliver(b *testing.B) {
	d := fake(func() {})
	globals, err := starlark.ExecFileOptions(&syntax.FileOptions{}, d.run.Host.Thread(), "x.star",
		"def f(e): return e[0]", nil)
	if err != nil {
		b.Fatal(err)
	}
	d.routes[0].fn = globals["f"].(starlark.Callable)
	rec := make([]byte, wire.HeaderSize+8)
	b.ReportAllocs()
	for b.Loop() {
		d.deliver(rec)
	}
	if d.run.Calls.Report(io.Discard) {
		b.Error("the handler failed")
	}
}
