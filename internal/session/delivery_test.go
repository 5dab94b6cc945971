package session

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/builtins"
	"github.com/startrace/startrace/internal/parts"
	"github.com/startrace/startrace/internal/timers"
	"github.com/startrace/startrace/internal/wire"
	"github.com/startrace/startrace/starlark/value"
)

// fakeRun is a session whose events come from the test and whose handler
// calls f.
type fakeRun struct {
	*session
	stdout, stderr bytes.Buffer
	log            []string
}

func newFakeRun(f func(*fakeRun) error) *fakeRun {
	r := &fakeRun{}
	r.session = newSession(Options{Stdout: &r.stdout, Stderr: &r.stderr})
	rec := &wire.Record{FixedSize: wire.HeaderSize + 8, Fields: []wire.Field{
		{Name: "args.n", Type: wire.Type{Kind: wire.Int, Off: wire.HeaderSize, Size: 8, TagOff: -1}}}}
	fn := starlark.NewBuiltin("handler", func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple,
		_ []starlark.Tuple) (starlark.Value, error) {
		n, err := args[0].(*value.Event).Field(0)
		if err != nil {
			return nil, err
		}
		r.log = append(r.log, fmt.Sprintf("e%s@%d", n, r.delivery.Time()))
		return starlark.None, f(r)
	})
	r.delivery.Add(rec, "test", fn, r.calls.Count("handler of test"))
	return r
}

func (r *fakeRun) send(at uint64, n uint64) {
	rec := make([]byte, wire.HeaderSize+8)
	binary.NativeEndian.PutUint64(rec[wire.HeaderTime:], at)
	binary.NativeEndian.PutUint64(rec[wire.HeaderSize:], n)
	r.delivery.Take(&parts.Part{}, rec)
}

func (r *fakeRun) at(deadline uint64, name string) {
	r.timers.Add(&timers.Timer{Deadline: deadline, Call: func(uint64) { r.log = append(r.log, name) }})
}

// flush delivers all up to a time, as turn does.
func (r *fakeRun) flush(until uint64) {
	r.delivery.Flush(until)
	r.timers.Fire(until, until, r.halted)
}

func (r *fakeRun) want(t *testing.T, log string) {
	t.Helper()
	if got := strings.Join(r.log, " "); got != log {
		t.Errorf("\n got %s\nwant %s", got, log)
	}
}

func TestOrderOfTime(t *testing.T) {
	r := newFakeRun(func(*fakeRun) error { return nil })
	r.at(20, "t20")
	r.at(35, "t35")
	r.send(30, 3)
	r.send(10, 1)
	r.send(20, 2)
	r.send(40, 4)
	r.flush(25)
	r.want(t, "e1@10 t20 e2@20")
	r.flush(100)
	r.want(t, "e1@10 t20 e2@20 e3@30 t35 e4@40")
}

func TestExitStopsDelivery(t *testing.T) {
	r := newFakeRun(func(r *fakeRun) error {
		runtime{r.session}.Exit(3)
		return &builtins.ExitError{Code: 3}
	})
	r.send(1, 1)
	r.send(2, 2)
	r.at(1, "t1")
	r.at(3, "t3")
	r.flush(10)
	r.flush(20)
	r.want(t, "t1 e1@1")
	if !r.over() || r.code != 3 || r.stderr.Len() > 0 {
		t.Errorf("over %v, code %d, stderr %q", r.over(), r.code, r.stderr.String())
	}
}

func TestFailuresAreCounted(t *testing.T) {
	r := newFakeRun(func(*fakeRun) error { return fmt.Errorf("it broke") })
	for i := range uint64(5) {
		r.send(i, i)
	}
	r.flush(10)
	failed := r.calls.Report(&r.stderr)
	text := r.stderr.String()
	if !failed || len(r.log) != 5 || strings.Count(text, "it broke") != 1 ||
		!strings.HasSuffix(text, "startrace: handler of test failed 5 times; the first is shown above\n") {
		t.Errorf("failed %v, %d calls, stderr:\n%s", failed, len(r.log), r.stderr.String())
	}
}

// TestDamagedRecords: what nothing describes is counted, not delivered.
func TestDamagedRecords(t *testing.T) {
	r := newFakeRun(func(*fakeRun) error { return nil })
	short := make([]byte, wire.HeaderSize)
	r.delivery.Take(&parts.Part{}, short)
	stray := make([]byte, wire.HeaderSize+8)
	binary.NativeEndian.PutUint32(stray[wire.HeaderNumber:], 7)
	r.delivery.Take(&parts.Part{}, stray)
	r.flush(10)
	if r.delivery.Unknown() != 2 || len(r.log) != 0 {
		t.Errorf("%d strays, log %v", r.delivery.Unknown(), r.log)
	}
}
