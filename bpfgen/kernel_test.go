package bpfgen

import (
	"encoding/binary"
	"errors"
	"os"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/cilium/ebpf"

	"github.com/startrace/startrace/bpfgen/layout"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/test/need"
)

// The tests below run generated programs in the kernel by BPF_PROG_TEST_RUN.

func before512(t *testing.T) bool {
	t.Helper()
	return !runningKernel(t).AtLeast(5, 12)
}

func runningKernel(t *testing.T) kernel.Version {
	t.Helper()
	v, err := kernel.Release()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// load generates and loads u.
func load(t *testing.T, u *tree.Unit, o Options) (*ebpf.Collection, *Unit) {
	t.Helper()
	need.Loading(t)
	o.Dump = true
	o.NoCmpXchg = o.NoCmpXchg || before512(t)
	if o.RingSize == 0 {
		o.RingSize = 1 << 16
	}
	unit, err := Generate(u, o)
	if err != nil {
		t.Fatal(err)
	}
	c, err := ebpf.NewCollection(unit.Spec)
	if err != nil {
		var v *ebpf.VerifierError
		if errors.As(err, &v) {
			n := len(v.Log)
			for _, l := range v.Log[max(0, n-60):] {
				t.Log(l)
			}
		}
		for _, d := range unit.Dumps {
			t.Logf("%s\n%s\n%s\n%s\n%s", d.Tree, d.IR, d.Machine, d.Alloc, d.Asm)
		}
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c, unit
}

// run runs the raw tracepoint program with arguments.
func run(t *testing.T, c *ebpf.Collection, args ...uint64) {
	t.Helper()
	ctx := make([]uint64, 12)
	copy(ctx, args)
	for _, name := range []string{"p0"} {
		if _, err := c.Programs[name].Run(&ebpf.RunOptions{Context: ctx}); err != nil {
			t.Fatalf("run %s: %v", name, err)
		}
	}
}

// word is element i of a one-entry array or of an entry's value.
func word(b []byte, i int) int64 { return int64(binary.NativeEndian.Uint64(b[8*i:])) }

// single is the value of a one-entry array.
func single(t *testing.T, m *ebpf.Map) []byte {
	t.Helper()
	v, err := m.LookupBytes(uint32(0))
	if err != nil || v == nil {
		t.Fatalf("read %s: %v", m, err)
	}
	return v
}

// sites gives the counters that are not 0, by what they count.
func sites(t *testing.T, c *ebpf.Collection, u *Unit) map[string]int64 {
	t.Helper()
	out := map[string]int64{}
	if c.Maps[MapSites] == nil {
		return out
	}
	v := single(t, c.Maps[MapSites])
	for i, s := range u.Sites {
		if n := word(v, i); n != 0 {
			out[siteName(s)] += n
		}
	}
	return out
}

func siteName(s Site) string {
	if s.Kind == SiteError {
		return s.What
	}
	return map[SiteKind]string{
		SiteFull: "full", SiteNoMem: "nomem", SiteRing: "ring", SiteScratch: "scratch", SiteOrphanEnd: "orphan",
		SiteOpenStart: "open", SiteSpanFull: "spanfull", SiteContention: "contention", SiteTimeout: "timeout",
		SiteSpanRace: "race", SiteSpanDeep: "deep",
		SiteReturnDeep: "deepreturn", SiteThreadEnded: "ended",
	}[s.Kind]
}

func container(kind plan.ContainerKind, key, value types.Type) *tree.Container {
	return &tree.Container{Container: &plan.Container{Kind: kind, Unit: 1}, Key: key, Value: value}
}

// program makes a raw tracepoint program with locals of the types.
func program(locals []types.Type, stmts ...*tree.Stmt) *tree.Program {
	p := &tree.Program{
		Name: "p0", Attach: tree.Attach{Way: tree.RawTracepoint{Name: "sys_enter"}},
		Body: &tree.Block{Stmts: stmts},
	}
	for _, t := range locals {
		p.Locals = append(p.Locals, tree.Local{Type: t})
	}
	return p
}

func arg(n int64, t types.Type) *tree.Expr {
	return &tree.Expr{Op: tree.OpLoad, Type: t, Str: tree.Ctx, Int: 8 * n,
		Args: []*tree.Expr{{Op: tree.OpCtx, Type: types.U64}}}
}

func konst(n int64) *tree.Expr { return &tree.Expr{Op: tree.OpConst, Type: types.I64, Int: n} }

func builtin(name string, t types.Type) *tree.Expr {
	return &tree.Expr{Op: tree.OpBuiltin, Type: t, Str: name}
}

func op(o tree.Op, t types.Type, args ...*tree.Expr) *tree.Expr {
	return &tree.Expr{Op: o, Type: t, Args: args}
}

func stmt(o tree.StmtOp, n int64, exprs ...*tree.Expr) *tree.Stmt {
	return &tree.Stmt{Op: o, Int: n, Exprs: exprs}
}

// comm is the name of the thread that runs f, padded.
func comm(t *testing.T) []byte {
	t.Helper()
	b, err := os.ReadFile("/proc/thread-self/comm")
	if err != nil {
		t.Fatal(err)
	}
	out := make([]byte, 16)
	copy(out, b[:len(b)-1])
	return out
}

func TestCountByComm(t *testing.T) {
	u := &tree.Unit{
		Containers: []*tree.Container{container(plan.Count, types.Comm, types.Type{})},
		Programs: []*tree.Program{program(nil, stmt(tree.SAggAdd, 0, konst(1), konst(1),
			builtin("comm", types.Comm)))},
	}
	c, unit := load(t, u, Options{})
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for range 5 {
		run(t, c)
	}
	v, err := c.Maps["c0"].LookupBytes(comm(t))
	if err != nil || v == nil || word(v, 0) != 5 {
		t.Errorf("count of %q: %v %v, want 5", comm(t), v, err)
	}
	t.Logf("%d instructions\n%s", len(unit.Spec.Programs["p0"].Instructions), unit.Dumps["p0"].Asm)
}

// TestSend sends pid, comm and a string of user memory.
func TestSend(t *testing.T) {
	name := &tree.Expr{Op: tree.OpStr, Type: types.StrOf(16).OrFault(), Str: tree.User,
		Args: []*tree.Expr{arg(0, types.U64)}}
	fields := []*tree.Expr{builtin("pid", types.U32), builtin("comm", types.Comm), name, arg(1, types.I64)}
	var ts []types.Type
	for _, f := range fields {
		ts = append(ts, f.Type)
	}
	u := &tree.Unit{Programs: []*tree.Program{program(nil, stmt(tree.SSend, 0, fields...))}}
	u.Records = append(u.Records, layout.Record(0, 0, []string{"pid", "comm", "name", "x"}, ts))
	c, unit := load(t, u, Options{})
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	me := comm(t)
	reader := newRing(t, c.Maps[MapRing])
	for _, tt := range []struct {
		text string
		want string
	}{
		{"hello", "hello"}, {"", ""}, {"fifteen chars..", "fifteen chars.."},
		{"sixteen chars...", "sixteen chars..…"}, {"a very long string indeed", "a very long str…"},
	} {
		b := append([]byte(tt.text), 0)
		run(t, c, uint64(uintptr(unsafe.Pointer(&b[0]))), 77)
		runtime.KeepAlive(b)
		rec := reader.next(t)
		if got := recordString(u.Records[0].Fields[2].Type.Off, rec); got != tt.want {
			t.Errorf("%q arrived as %q, want %q", tt.text, got, tt.want)
		}
		if got := binary.NativeEndian.Uint32(rec[16:]); int(got) != os.Getpid() {
			t.Errorf("pid %d, want %d", got, os.Getpid())
		}
		// What is behind the NUL is not sent on by readers, and 6.1 does not write it.
		if got, _, _ := strings.Cut(recordString(20, rec), "\x00"); got != strings.TrimRight(string(me), "\x00") {
			t.Errorf("comm %q, want %q", got, me)
		}
	}
	run(t, c, 8, 77)
	if got := recordString(24, reader.next(t)); got != "<fault>" {
		t.Errorf("string at 8 arrived as %q, want a fault", got)
	}
	t.Logf("%d instructions\n%s", len(unit.Spec.Programs["p0"].Instructions), unit.Dumps["p0"].Asm)
}
