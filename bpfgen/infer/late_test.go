package infer_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/startrace/startrace/bpfgen/infer"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/test/smallkernel"
)

// A growing kernel has a tracefs of its own, to which modules add.
type growingKernel struct {
	t     *testing.T
	dir   string
	facts *kernel.Facts
}

func growing(t *testing.T) *growingKernel {
	t.Helper()
	k := &growingKernel{t: t, dir: t.TempDir()}
	if err := os.CopyFS(k.dir, os.DirFS("testdata/tracefs")); err != nil {
		t.Fatal(err)
	}
	k.facts = kernel.Open(kernel.Options{
		BTF: smallkernel.BTF(t, smallkernel.Types()...), TracefsPath: k.dir, Symbols: testSymbols,
		Blacklist: testBlacklist,
		Modules: fstest.MapFS{"modules.dep": {Data: []byte("kernel/nbd.ko:\nkernel/fs/over-lay.ko:\n")},
			"modules.builtin": {Data: []byte("kernel/fs/ext4.ko\n")}},
	})
	return k
}

// load adds tracepoints nbd:… and functions of the module over_lay.
func (k *growingKernel) load(tracepoints, functions []string) {
	k.t.Helper()
	for _, name := range tracepoints {
		folder := filepath.Join(k.dir, "events/nbd", name)
		format := "name: " + name +
			"\nID: 4711\nformat:\n\tfield:int nr;\toffset:8;\tsize:4;\tsigned:1;\n\nprint fmt: \"%d\", REC->nr\n"
		if err := os.MkdirAll(folder, 0o755); err != nil {
			k.t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "format"), []byte(format), 0o644); err != nil {
			k.t.Fatal(err)
		}
	}
	f, err := os.OpenFile(filepath.Join(k.dir, "available_filter_functions"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		k.t.Fatal(err)
	}
	defer f.Close()
	for _, name := range functions {
		if _, err := fmt.Fprintf(f, "%s [over_lay]\n", name); err != nil {
			k.t.Fatal(err)
		}
	}
	k.facts = k.facts.Again()
}

// What waits for a module gets its points when it is there, once, with the numbers that go on where those of the units
// before end.
func TestLate(t *testing.T) {
	k := growing(t)
	p := planOf(t, `
n = count()
probe("tracepoint:nbd:*", lambda e: n.add())
probe("kprobe:over-lay:ovl_*", lambda e: n.add(1))
probe("kprobe:{task_read,task_write,ovl_open,ovl_read}", lambda e: n.add(2 if e.func == "task_read" else 3))
probe("tracepoint:sched:sched_switch", lambda e: n.add(4))
`)
	if !infer.Grows(p) {
		t.Error("the plan does not grow")
	}
	var types infer.Types
	first, err := infer.Plan(p, k.facts, infer.Options{Earlier: &types})
	if err != nil {
		t.Fatal(err)
	}
	types.Add(first)
	if got := fmt.Sprint(first.Waits); got != "[{0 tracepoint:nbd:* nbd} {1 kprobe:over-lay:ovl_* over_lay}]" {
		t.Errorf("waits %s", got)
	}
	var last *infer.Result
	late := func(want string) {
		t.Helper()
		r, err := infer.Plan(p, k.facts, infer.Options{Earlier: &types, Late: true})
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(r.Names); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if len(r.Names) == 0 && len(r.Tree.Programs) > 0 {
			t.Errorf("programs without points: %s", r.Tree)
		}
		types.Add(r)
		last = r
	}
	late("map[]")
	k.load([]string{"nbd_send"}, []string{"ovl_open"})
	late("map[0:[tracepoint:nbd:nbd_send] 1:[kprobe:ovl_open] 2:[kprobe:ovl_open]]")
	late("map[]")
	k.load([]string{"nbd_sent"}, []string{"ovl_read"})
	late("map[0:[tracepoint:nbd:nbd_sent] 1:[kprobe:ovl_read] 2:[kprobe:ovl_read]]")
	if got := fmt.Sprint(last.Tree.Points[2]); got != "[{kprobe:task_read task_read} {kprobe:task_write task_write} "+
		"{kprobe:ovl_open ovl_open} {kprobe:ovl_read ovl_read}]" {
		t.Errorf("points %s", got)
	}
}

func TestLateMistakes(t *testing.T) {
	k := growing(t)
	for _, c := range []struct {
		point, want string
		now         bool
	}{
		{`"kprobe:nbb:f"`, "no module nbb is loaded, nor is there one for this kernel (did you mean nbd?)", false},
		{`"func:ext4:ext4_open"`, "ext4 is built into this kernel and is no module: leave it out", false},
		{`"tracepoint:nbb:*"`, "no tracepoint matches tracepoint:nbb:*", false},
		{`"kprobe:nbd:nbd_open"`, "the module nbd is not loaded (modprobe nbd)", true},
		{`span("kprobe:nbd:f", "kretprobe:nbd:f", key = lambda e: e.tid)`, "the module nbd is not loaded", false},
		{`first("kprobe:nbd:f", "tracepoint:nbd:*")`, "this kernel has none of these points", false},
		{`"kprobe:n*:f"`, "name one module", false},
	} {
		p := planOf(t, "probe("+c.point+", kernel = lambda e: record(x = 1))")
		_, err := infer.Plan(p, k.facts, infer.Options{Earlier: &infer.Types{Now: c.now}})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.point, err, c.want)
		}
	}
	for _, src := range []string{`probe("kprobe:vfs_read", kernel = lambda e: record(x = 1))`,
		`probe("syscall:*", kernel = lambda e: record(x = 1))`,
		`probe(first("kprobe:n*", "tracepoint:nbd:*"), kernel = lambda e: record(x = 1))`} {
		if infer.Grows(planOf(t, src)) {
			t.Errorf("%s grows", src)
		}
	}
}
