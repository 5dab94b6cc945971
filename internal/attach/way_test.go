package attach

import (
	"reflect"
	"testing"

	"github.com/startrace/startrace/bpfgen/tree"
)

// Each kind of attaching gives all answers.
func TestWays(t *testing.T) {
	for _, kind := range tree.AttachKinds() {
		if openerOf(kind) == nil {
			t.Errorf("kind %d cannot be opened", kind)
		}
		w := reflect.ValueOf(wayOf(kind))
		for i := range w.NumField() {
			switch name := w.Type().Field(i).Name; {
			case name == "probes" || name == "returns": // some stand at no place
			case w.Field(i).IsZero():
				t.Errorf("kind %d gives no %s", kind, name)
			}
		}
	}
}

// Points are named as scripts name them, and each kind by words of its own.
func TestPointNames(t *testing.T) {
	at := func(mech tree.AttachKind, names ...string) tree.Way {
		f := &tree.Functions{Mech: mech, Cookies: len(names) > namedPlaces}
		for _, name := range names {
			f.Places = append(f.Places, tree.Place{Func: name})
		}
		return f
	}
	for _, test := range []struct {
		way  tree.Way
		want string
	}{
		{tree.Tracepoint{Group: "sched", Name: "sched_switch"}, "tracepoint:sched:sched_switch"},
		{tree.RawTracepoint{Name: "sched_switch"}, "rawtracepoint:sched_switch"},
		{tree.SyscallEnter{}, "syscall entry"},
		{tree.SyscallExit{}, "syscall exit"},
		{tree.Clock{EveryCPU: true, Freq: 99}, "profile"},
		{tree.Clock{Period: 1e9}, "interval"},
		{tree.Counter{Group: "software", Name: "page-faults"}, "software:page-faults"},
		{tree.Watchpoint{Name: "jiffies"}, "watchpoint:jiffies"},
		{tree.Iterator{Name: "task"}, "iter:task"},
		{at(tree.AttachKprobe, "f"), "kprobe f"},
		{at(tree.AttachKretprobe, "f", "g", "h"), "kretprobe f g h"},
		{at(tree.AttachFexit, "f"), "fexit f"},
		{at(tree.AttachHook, "f"), "lsm f"},
		{at(tree.AttachUprobe, "f", "g", "h", "i", "j"), "uprobe f g h and 2 more"},
	} {
		if got := pointName(&tree.Attach{Way: test.way}); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}

// A kind that is forgotten here is not taken for another one.
func TestUnknownWay(t *testing.T) {
	for name, ask := range map[string]func(){"way": func() { wayOf(255) }, "opener": func() { openerOf(255) }} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("a kind that nobody knows has one")
				}
			}()
			ask()
		})
	}
}
