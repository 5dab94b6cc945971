package attach

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"go.starlark.net/syntax"
	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/bpfgen"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/test/need"
)

// counting is code that adds one to entry i of the sites, for events of this
// process only.
func counting(i int) asm.Instructions {
	count := asm.LoadMapValue(asm.R1, 0, uint32(8*i)).WithReference(bpfgen.MapSites)
	return asm.Instructions{
		asm.FnGetCurrentPidTgid.Call(),
		asm.RSh.Imm(asm.R0, 32),
		asm.JNE.Imm(asm.R0, int32(os.Getpid()), "out"),
		count,
		asm.Mov.Imm(asm.R2, 1),
		asm.AddAtomic.Mem(asm.R1, asm.R2, asm.DWord, 0),
		asm.Mov.Imm(asm.R0, 0).WithSymbol("out"),
		asm.Return(),
	}
}

// unitOf makes a unit with one counting program for each point, each with a
// probe and a site of its number.
func unitOf(points ...tree.Attach) *bpfgen.Unit {
	u := &bpfgen.Unit{
		Tree: &tree.Unit{Spans: []*tree.Span{{}}}, // the one of all points at system calls
		Spec: &ebpf.CollectionSpec{
			Maps: map[string]*ebpf.MapSpec{bpfgen.MapSites: {
				Name: "sites", Type: ebpf.Array, KeySize: 4, ValueSize: uint32(8 * len(points)),
				MaxEntries: 1, Flags: unix.BPF_F_MMAPABLE,
			}},
			Programs: map[string]*ebpf.ProgramSpec{},
		},
		Lines: map[string][]bpfgen.Line{},
	}
	for i, a := range points {
		name := fmt.Sprint("p", i)
		u.Tree.Programs = append(u.Tree.Programs, &tree.Program{Name: name, Probe: i, Attach: a})
		u.Spec.Programs[name] = &ebpf.ProgramSpec{Name: name, Type: programType(a.Kind()), Instructions: counting(i),
			License: "GPL"}
		u.Sites = append(u.Sites, bpfgen.Site{Kind: bpfgen.SiteRing, Probe: i, Container: -1})
	}
	return u
}

func programType(k tree.AttachKind) ebpf.ProgramType {
	switch k {
	case tree.AttachTracepoint:
		return ebpf.TracePoint
	case tree.AttachProfile, tree.AttachInterval:
		return ebpf.PerfEvent
	case tree.AttachKprobe, tree.AttachKretprobe:
		return ebpf.Kprobe
	}
	return ebpf.RawTracepoint
}

// tracefsID is the number of a tracepoint as tracefs has it.
func tracefsID(group, name string) (uint64, error) {
	text, err := os.ReadFile("/sys/kernel/tracing/events/" + group + "/" + name + "/id")
	if err != nil {
		return 0, err
	}
	return strconv.ParseUint(strings.TrimSpace(string(text)), 10, 32)
}

func mustLoad(tb testing.TB, u *bpfgen.Unit) *Loaded {
	tb.Helper()
	need.BPF(tb)
	l, err := Load(u, Options{TracepointID: tracefsID})
	if errors.Is(err, ErrPermission) || errors.Is(err, kernel.ErrLockdown) {
		tb.Skip("needs the right to load eBPF programs:", err)
	}
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := l.Close(); err != nil {
			tb.Error(err)
		}
	})
	return l
}

func attached(tb testing.TB, u *bpfgen.Unit) *Loaded {
	tb.Helper()
	l := mustLoad(tb, u)
	if err := l.Attach(); err != nil {
		tb.Fatal(err)
	}
	return l
}

// counts gives the sites by number, from the losses.
func counts(l *Loaded) map[int]uint64 {
	out := map[int]uint64{}
	losses, _, _ := l.Losses()
	for _, loss := range losses {
		if loss.Site != nil {
			out[loss.Probe] = loss.Count
		}
	}
	return out
}

func getppid(n int) {
	for range n {
		unix.Getppid()
	}
}

func needTracefs(tb testing.TB) {
	tb.Helper()
	if _, err := tracefsID("raw_syscalls", "sys_enter"); err != nil {
		tb.Skip("needs tracefs with the system call tracepoints:", err)
	}
}

func TestRawTracepoints(t *testing.T) {
	l := attached(t, unitOf(
		tree.Attach{Way: tree.SyscallEnter{}},
		tree.Attach{Way: tree.SyscallExit{}},
		tree.Attach{Way: tree.RawTracepoint{Name: "sys_enter"}}))
	getppid(1000)
	l.Disable()
	got := counts(l)
	getppid(1000)
	for i := range 3 {
		if got[i] < 1000 {
			t.Errorf("program %d ran %d times, want at least 1000", i, got[i])
		}
	}
	if after := counts(l); after[0] != got[0] || after[1] != got[1] || after[2] != got[2] {
		t.Errorf("programs run after Disable: %v, then %v", got, after)
	}
}

func TestTracepointSplitClose(t *testing.T) {
	needTracefs(t)
	l := attached(t, unitOf(
		tree.Attach{Way: tree.Tracepoint{Group: "raw_syscalls", Name: "sys_enter"}},
		tree.Attach{Way: tree.Tracepoint{Group: "raw_syscalls", Name: "sys_exit"}}))
	getppid(1000)
	// A preempted tracepoint program makes others miss events, on 6.1 uncounted.
	if got := counts(l); got[0] < 500 || got[1] < 500 {
		t.Errorf("ran %v, want some 1000 each", got)
	}
	start := time.Now()
	l.Disable()
	disabled := time.Since(start)
	before := counts(l)
	for end := time.Now().Add(5 * time.Second); ; time.Sleep(time.Millisecond) {
		getppid(1000)
		after := counts(l)
		if after[0] == before[0] && after[1] == before[1] {
			break
		}
		if time.Now().After(end) {
			t.Errorf("programs run after Disable: %v, then %v", before, after)
			break
		}
		before = after
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	t.Logf("Disable %v, all %v", disabled, time.Since(start))
	if got := counts(l); got[0] < 500 {
		t.Errorf("Close forgot the losses: %v", got)
	}
}

// spin keeps this thread busy.
func spin(d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end); {
	}
}

// cpuTime is what this process has used, in ms.
func cpuTime(t *testing.T) uint64 {
	var ru unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &ru); err != nil {
		t.Fatal(err)
	}
	return uint64((ru.Utime.Nano() + ru.Stime.Nano()) / 1e6)
}

func TestProfileAndInterval(t *testing.T) {
	l := attached(t, unitOf(
		tree.Attach{Way: tree.Clock{EveryCPU: true, Freq: 1000}},
		tree.Attach{Way: tree.Clock{EveryCPU: true, Period: 1e6}},
		tree.Attach{Way: tree.Clock{Period: 1e6}}))
	start, used := time.Now(), cpuTime(t)
	for range runtime.NumCPU() - 1 {
		go spin(300 * time.Millisecond)
	}
	spin(300 * time.Millisecond)
	l.Disable()
	used, took := cpuTime(t)-used, uint64(time.Since(start).Milliseconds())
	got := counts(l)
	t.Logf("samples at 1000 Hz, each 1 ms, on one CPU: %d, %d, %d in %d ms of CPU", got[0], got[1], got[2], used)
	for _, n := range []uint64{got[0], got[1]} {
		// An emulated machine that is busy misses most ticks.
		if n < used/10 || n > used+used/2+20 {
			t.Errorf("%d samples in %d ms of CPU", n, used)
		}
	}
	if got[2] > took+10 {
		t.Errorf("an interval of 1 ms came %d times in %d ms: on more than one CPU", got[2], took)
	}
	spin(20 * time.Millisecond)
	if after := counts(l); after[0] != got[0] || after[1] != got[1] {
		t.Errorf("samples after Disable: %v, then %v", got, after)
	}
}

func TestProbesOneByOne(t *testing.T) {
	l := attached(t, unitOf(
		tree.Attach{Way: tree.SyscallEnter{}},
		tree.Attach{Way: tree.SyscallExit{}}))
	if err := l.DetachProbe(0); err != nil {
		t.Fatal(err)
	}
	before := counts(l)
	getppid(500)
	if after := counts(l); after[0] != before[0] || after[1] < before[1]+500 {
		t.Errorf("with probe 0 detached: %v, then %v", before, after)
	}
	if err := l.AttachProbe(0); err != nil {
		t.Fatal(err)
	}
	before = counts(l)
	getppid(500)
	if after := counts(l); after[0] < before[0]+500 {
		t.Errorf("with probe 0 attached again: %v, then %v", before, after)
	}
}

// A probe that is detached can be attached again at once, though the kernel takes its program off a tracepoint later.
func TestAttachAgainAtOnce(t *testing.T) {
	l := attached(t, unitOf(tree.Attach{Way: tree.Tracepoint{Group: "raw_syscalls", Name: "sys_enter"}}))
	for range 20 {
		if err := l.DetachProbe(0); err != nil {
			t.Fatal(err)
		}
		if err := l.AttachProbe(0); err != nil {
			t.Fatal(err)
		}
	}
	before := counts(l)
	getppid(500)
	if after := counts(l); after[0] < before[0]+500 {
		t.Errorf("attached again: %v, then %v", before, after)
	}
}

func TestAttachFailureUndoesAll(t *testing.T) {
	l := mustLoad(t, unitOf(
		tree.Attach{Way: tree.SyscallExit{}},
		tree.Attach{Way: tree.RawTracepoint{Name: "no_such_point"}}))
	err := l.Attach()
	var at *Error
	if !errors.As(err, &at) || at.Program.Probe != 1 {
		t.Fatalf("got %v", err)
	}
	const want = "attach rawtracepoint:no_such_point: this kernel has no raw tracepoint no_such_point"
	if err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
	before := counts(l)
	getppid(500)
	if after := counts(l); after[0] > before[0] {
		t.Error("the other program still runs")
	}
}

// TestStop: what is not wanted any more is given up between programs, and nothing of it stays.
func TestStop(t *testing.T) {
	u := unitOf(tree.Attach{Way: tree.SyscallEnter{}}, tree.Attach{Way: tree.SyscallExit{}})
	l := mustLoad(t, u)
	enough := errors.New("enough")
	asked := 0
	l.opts.Stop = func() error {
		if asked++; asked > 1 {
			return enough
		}
		return nil
	}
	if err := l.Attach(); !errors.Is(err, enough) {
		t.Errorf("attach: %v", err)
	}
	before := counts(l)
	getppid(500)
	if after := counts(l); after[0] > before[0] || after[1] > before[1] {
		t.Errorf("a program runs: %v, then %v", before, after)
	}
	asked = 0
	if _, err := Load(u, Options{TracepointID: tracefsID, Stop: l.opts.Stop}); !errors.Is(err, enough) {
		t.Errorf("load: %v", err)
	}
}

// TestMissedRuns makes a program miss events by calling what it is attached to.
func TestMissedRuns(t *testing.T) {
	u := unitOf(
		tree.Attach{Way: tree.RawTracepoint{Name: "bpf_trace_printk"}},
		tree.Attach{Way: tree.SyscallEnter{}})
	printk := asm.Instructions{
		asm.StoreImm(asm.RFP, -8, 'x', asm.Word), asm.Mov.Reg(asm.R1, asm.RFP), asm.Add.Imm(asm.R1, -8),
		asm.Mov.Imm(asm.R2, 2), asm.FnTracePrintk.Call(),
	}
	for i := range 2 {
		code := counting(i)
		u.Spec.Programs[fmt.Sprint("p", i)].Instructions = slices.Concat(code[:6], printk, code[6:])
	}
	l := mustLoad(t, u)
	if _, complete, _ := l.Losses(); !complete {
		// Such a kernel also runs a program within itself, here into a deadlock.
		t.Skip("needs recursion_misses of programs (Linux 5.12)")
	}
	if err := l.Attach(); err != nil {
		t.Fatal(err)
	}
	getppid(100)
	l.Disable()
	losses, _, _ := l.Losses()
	ran := counts(l)
	// On 7.2 the second program can be held by a task that was preempted in it: then it is the one that misses calls.
	missed := map[int]uint64{}
	for _, loss := range losses {
		if loss.Kind == LossMissed {
			missed[loss.Probe] = loss.Count
		}
	}
	if missed[0]+missed[1] < 100 || missed[1] == 0 && missed[0] > ran[0] {
		t.Errorf("got %+v, want at least 100 missed of probe 0, which ran %d times", losses, ran[0])
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if after, _, _ := l.Losses(); !reflect.DeepEqual(after, losses) {
		t.Errorf("after Close: %+v, before: %+v", after, losses)
	}
}

func TestProfileRateTooHigh(t *testing.T) {
	l := mustLoad(t, unitOf(tree.Attach{Way: tree.Clock{EveryCPU: true, Freq: 1 << 40}}))
	if err := l.Attach(); err == nil || !strings.Contains(err.Error(), "samples per second are more than the") {
		t.Errorf("got %v", err)
	}
}

// A limit that was lowered can be raised again; what no kernel allows is only too much.
func TestRateError(t *testing.T) {
	for freq, want := range map[uint64]string{
		99:      "want at most 50, or raise it, as root: sysctl kernel.perf_event_max_sample_rate=100000",
		1 << 40: "want at most 50",
	} {
		want = fmt.Sprintf("%d samples per second are more than the 50 that kernel.perf_event_max_sample_rate allows: "+
			"%s: invalid argument", freq, want)
		if err := rateError(freq, 50, unix.EINVAL); err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestVerifierError(t *testing.T) {
	u := unitOf(tree.Attach{Way: tree.RawTracepoint{Name: "sys_enter"}})
	mustLoad(t, u) // skips without rights
	u.Spec.Programs["p0"].Instructions = asm.Instructions{
		asm.LoadImm(asm.R1, 1<<40, asm.DWord), // counts two
		asm.Mov.Imm(asm.R0, 0),
		asm.LoadMem(asm.R2, asm.R3, 0, asm.DWord), // R3 is not set
		asm.Return(),
	}
	file := "a.star"
	at := func(line int32) plan.Pos { return syntax.MakePosition(&file, line, 7) }
	t.Setenv("TMPDIR", t.TempDir())
	u.Lines["p0"] = []bpfgen.Line{{Insn: 0, Pos: at(1)}, {Insn: 3, Pos: at(2)}, {Insn: 4, Pos: at(3)}}
	_, err := Load(u, Options{})
	var v *VerifierError
	if !errors.As(err, &v) {
		t.Fatalf("got %v", err)
	}
	if v.Insn != 3 || v.Pos != at(2) || !strings.Contains(v.Log, "R3 !read_ok") {
		t.Errorf("instruction %d at %s of %q", v.Insn, v.Pos, v.Log)
	}
	want := "a.star:2:7: internal compiler error: the kernel refuses the code for this place: " +
		"a value is used that was not computed on some way through the code\n" +
		"    this is a bug in startrace, not in the script; to report it, send the output of\n" +
		"        startrace explain --asm FILE\n" +
		"    and the file\n        " + v.File
	if err.Error() != want || filepath.Dir(v.File) != os.TempDir() {
		t.Errorf("got %q, want %q", err, want)
	}
}

func TestComplexityError(t *testing.T) {
	u := unitOf(tree.Attach{Way: tree.RawTracepoint{Name: "sys_enter"}})
	mustLoad(t, u) // skips without rights
	// More branches on unknown data than the verifier keeps for later (8192).
	code := asm.Instructions{asm.LoadMem(asm.R1, asm.R1, 0, asm.DWord), asm.Mov.Imm(asm.R0, 0)}
	for i := range int32(8300) {
		code = append(code, asm.JEq.Imm(asm.R1, i, "out"))
	}
	u.Spec.Programs["p0"].Instructions = append(code, asm.Return().WithSymbol("out"))
	_, err := Load(u, Options{})
	var c *ComplexityError
	if !errors.As(err, &c) {
		t.Fatalf("got %v", err)
	}
}

func TestProgramArray(t *testing.T) {
	u := unitOf(tree.Attach{Way: tree.SyscallEnter{}}, tree.Attach{Way: tree.RawTracepoint{Name: "sys_exit"}})
	u.Spec.Maps["calls"] = &ebpf.MapSpec{
		Name: "calls", Type: ebpf.ProgramArray, KeySize: 4, ValueSize: 4, MaxEntries: 4,
		Contents: []ebpf.MapKV{{Key: uint32(2), Value: "p1"}},
	}
	u.Spec.Programs["p0"].Instructions = asm.Instructions{
		asm.LoadMapPtr(asm.R2, 0).WithReference("calls"),
		asm.Mov.Imm(asm.R3, 2),
		asm.FnTailCall.Call(),
		asm.Mov.Imm(asm.R0, 0),
		asm.Return(),
	}
	l := mustLoad(t, u)
	if err := l.AttachProbe(0); err != nil {
		t.Fatal(err)
	}
	getppid(100)
	if got := counts(l); got[1] < 100 {
		t.Errorf("the called program ran %d times, want at least 100", got[1])
	}
}

func BenchmarkLoadAttachRaw(b *testing.B) {
	mustLoad(b, unitOf(tree.Attach{Way: tree.SyscallEnter{}}))
	for b.Loop() {
		b.StopTimer()
		time.Sleep(50 * time.Millisecond) // else attach waits for the RCU of the last detach
		b.StartTimer()
		l, err := Load(unitOf(tree.Attach{Way: tree.SyscallEnter{}}), Options{})
		if err != nil {
			b.Fatal(err)
		}
		if err := l.Attach(); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if err := l.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}
