package infer_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/startrace/startrace/bpfgen/infer"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/test/smallkernel"
)

// With --exact programs go, on kernels that preempt them, where the kernel preempts none, and what cannot go there has
// a warning. On other kernels the flag changes nothing.
//
// > | `rawtracepoint:`, `fentry:`, `fexit:`, `lsm:` | misses none | can miss some | can miss some; a warning names the
// > kind to take |
//
// > The programs of `syscall:` run at the tracepoints of all system calls (`tracepoint:raw_syscalls:sys_enter`), where
// > the kernel preempts nothing.
//
// > Their programs then run there, too.
//
// > On kernels before 6.19 the flag changes nothing.
func TestExact(t *testing.T) {
	tracefs := openatTracefs(t)
	ofAllCalls(t, tracefs)
	const exact = "tracepoint raw_syscalls:sys_enter"
	for _, c := range []struct {
		point, release string
		exact          plan.Exactness
		attach, warns  string
	}{
		{"syscall:read", "7.2.0", plan.ExactAll, "syscall-exit exact span 0, syscall-enter exact span 0", ""},
		{"syscall:read", "7.2.0", plan.ExactNone, "syscall-exit span 0, syscall-enter span 0", ""},
		{"syscall:read", "6.18.0", plan.ExactAll, "syscall-exit span 0, syscall-enter span 0", ""},
		{"syscall:read", "7.2.0", plan.ExactCalls, "syscall-exit exact span 0, syscall-enter exact span 0", ""},
		{"syscall:read", "6.18.0", plan.ExactCalls, "syscall-exit span 0, syscall-enter span 0", ""},
		{"tracepoint:syscalls:sys_enter_openat", "7.2.0", plan.ExactCalls, "tracepoint syscalls:sys_enter_openat", ""},
		{"tracepoint:syscalls:sys_enter_openat", "7.2.0", plan.ExactAll, exact, ""},
		{"tracepoint:syscalls:sys_enter_openat", "7.2.0", plan.ExactNone, "tracepoint syscalls:sys_enter_openat", ""},
		{"tracepoint:syscalls:sys_enter_openat", "6.18.0", plan.ExactAll, "tracepoint syscalls:sys_enter_openat", ""},
		{"rawtracepoint:sched_switch", "7.2.0", plan.ExactAll, "rawtracepoint sched_switch",
			"rawtracepoint:sched_switch misses events where this kernel preempts its program: " +
				"tracepoint:CATEGORY:NAME misses none (--exact)"},
		{"rawtracepoint:sched_switch", "7.2.0", plan.ExactNone, "rawtracepoint sched_switch", ""},
		{"rawtracepoint:sched_switch", "6.18.0", plan.ExactAll, "rawtracepoint sched_switch", ""},
	} {
		facts := kernel.Open(kernel.Options{BTF: smallkernel.BTF(t, smallkernel.Types()...), Release: c.release,
			TracefsPath: tracefs, Symbols: testSymbols, Blacklist: testBlacklist})
		p := planOf(t, `n = count()
probe("`+c.point+`", lambda e: n.add())`)
		p.Exact = c.exact
		res, err := infer.Plan(p, facts, infer.Options{})
		if err != nil {
			t.Fatal(c.point, err)
		}
		var ways, warnings []string
		for _, prog := range res.Tree.Programs {
			ways = append(ways, prog.Attach.String())
		}
		for _, w := range res.Warnings {
			warnings = append(warnings, w.Msg)
		}
		if got := strings.Join(ways, ", "); got != c.attach || strings.Join(warnings, ", ") != c.warns {
			t.Errorf("%s on %s, exactness %d: %s, %q; want %s, %q", c.point, c.release, c.exact, got, warnings,
				c.attach, c.warns)
		}
	}
}

// ofAllCalls adds the tracepoint of all system calls.
func ofAllCalls(t *testing.T, tracefs string) {
	t.Helper()
	of := filepath.Join(tracefs, "events", "raw_syscalls", "sys_enter")
	if err := os.MkdirAll(of, 0o700); err != nil {
		t.Fatal(err)
	}
	const format = "name: sys_enter\nID: 8\nformat:\n" +
		"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n" +
		"\tfield:long id;\toffset:8;\tsize:8;\tsigned:1;\n" +
		"\tfield:unsigned long args[6];\toffset:16;\tsize:48;\tsigned:0;\n"
	if err := os.WriteFile(filepath.Join(of, "format"), []byte(format), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A script with points of syscall: has the tracepoints of single system calls at those of all, too.
//
// > In a script that has `syscall:` points as well, `tracepoint:syscalls:` misses none either.
func TestExactBesideCalls(t *testing.T) {
	tracefs := openatTracefs(t)
	ofAllCalls(t, tracefs)
	for _, c := range []struct {
		text, release string
		exact         plan.Exactness
		want          string
	}{
		{`probe("syscall:read", add)`, "7.2.0", plan.ExactCalls, "tracepoint raw_syscalls:sys_enter"},
		{`probe(event(("syscall:read", lambda e: record())), add)`, "7.2.0", plan.ExactCalls,
			"tracepoint raw_syscalls:sys_enter"},
		{`probe(first("kprobe:nowhere", "syscall:read"), add)`, "7.2.0", plan.ExactCalls,
			"tracepoint syscalls:sys_enter_openat"},
		{`probe("syscall:read", add)`, "7.2.0", plan.ExactNone, "tracepoint syscalls:sys_enter_openat"},
		{`probe("syscall:read", add)`, "6.18.0", plan.ExactCalls, "tracepoint syscalls:sys_enter_openat"},
	} {
		facts := kernel.Open(kernel.Options{BTF: smallkernel.BTF(t, smallkernel.Types()...), Release: c.release,
			TracefsPath: tracefs, Symbols: testSymbols, Blacklist: testBlacklist})
		p := planOf(t, "n = count()\nadd = lambda e: n.add()\n"+
			"probe(\"tracepoint:syscalls:sys_enter_openat\", add)\n"+c.text)
		p.Exact = c.exact
		res, err := infer.Plan(p, facts, infer.Options{})
		if err != nil {
			t.Fatal(c.text, err)
		}
		if got := res.Tree.Programs[0].Attach.String(); got != c.want {
			t.Errorf("beside %s on %s, exactness %d: %s, want %s", c.text, c.release, c.exact, got, c.want)
		}
	}
}

// Who may not read tracefs, or open perf events, has the programs of system calls that the kernel can preempt.
//
// > It preempts them also where startrace may not read tracefs or open perf events.
func TestExactWantsRights(t *testing.T) {
	whole := openatTracefs(t)
	ofAllCalls(t, whole)
	for name, o := range map[string]kernel.Options{
		"tracefs": {TracefsPath: openatTracefs(t)},
		"perf":    {TracefsPath: whole, Features: func() kernel.Features { return kernel.Features{PerfDenied: true} }},
	} {
		o.BTF, o.Release = smallkernel.BTF(t, smallkernel.Types()...), "7.2.0"
		o.Symbols, o.Blacklist = testSymbols, testBlacklist
		res, err := infer.Plan(planOf(t, `n = count()
probe("syscall:read", lambda e: n.add())`), kernel.Open(o), infer.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range res.Tree.Programs {
			if p.Attach.Exact() {
				t.Errorf("%s: %s is attached as %s", name, p.Name, p.Attach)
			}
		}
	}
}

// Children are followed by kprobes where the kernel preempts the programs of raw tracepoints and has kprobes.
func TestFollowsByKprobes(t *testing.T) {
	const raw, kprobes = "rawtracepoint sched_process_fork, rawtracepoint sched_process_free",
		"kprobe wake_up_new_task, kprobe delayed_put_task_struct"
	for _, c := range []struct {
		release string
		has     bool
		want    string
	}{{"6.18.0", true, raw}, {"7.2.0", true, kprobes}, {"7.2.0", false, raw}} {
		facts := kernel.Open(kernel.Options{BTF: smallkernel.BTF(t, smallkernel.Types()...), Release: c.release,
			Symbols: testSymbols, Blacklist: testBlacklist,
			Features: func() kernel.Features { return kernel.Features{Kprobe: c.has} }})
		p := planOf(t, `n = count()
probe("rawtracepoint:sched_switch", lambda e: n.add())`)
		p.Target = plan.Target{PID: 5, Follow: true}
		res, err := infer.Plan(p, facts, infer.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var ways []string
		for _, prog := range res.Tree.Programs {
			if prog.Probe < 0 {
				ways = append(ways, prog.Attach.String())
			}
		}
		if got := strings.Join(ways, ", "); got != c.want {
			t.Errorf("%s, kprobes %t: %s, want %s", c.release, c.has, got, c.want)
		}
	}
}

// openatTracefs is a folder as tracefs, with one tracepoint.
func openatTracefs(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	of := filepath.Join(dir, "events", "syscalls", "sys_enter_openat")
	if err := os.MkdirAll(of, 0o700); err != nil {
		t.Fatal(err)
	}
	const format = "name: sys_enter_openat\nID: 7\nformat:\n" +
		"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n" +
		"\tfield:int __syscall_nr;\toffset:8;\tsize:4;\tsigned:1;\n" +
		"\tfield:int dfd;\toffset:16;\tsize:8;\tsigned:0;\n" +
		"\tfield:__data_loc char[] __filename_val;\toffset:48;\tsize:4;\tsigned:0;\n"
	if err := os.WriteFile(filepath.Join(of, "format"), []byte(format), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// The strings that a call's own tracepoint has behind its arguments are not at the tracepoint of all calls.
func TestExactHasNoStrings(t *testing.T) {
	facts := kernel.Open(kernel.Options{BTF: smallkernel.BTF(t, smallkernel.Types()...), Release: "7.2.0",
		TracefsPath: openatTracefs(t), Symbols: testSymbols, Blacklist: testBlacklist})
	for _, exact := range []plan.Exactness{plan.ExactNone, plan.ExactAll} {
		p := planOf(t, `probe("tracepoint:syscalls:sys_enter_openat", lambda e: print(e.args.__filename_val))`)
		p.Exact = exact
		if _, err := infer.Plan(p, facts, infer.Options{}); (err != nil) != (exact == plan.ExactAll) {
			t.Errorf("exact %d: %v", exact, err)
		}
	}
}

// Programs count the calls that they have seen where the kernel can skip them, and where perf can count the same calls:
// each in one program, and by name not those of programs of 32 bits.
func TestCountsSeen(t *testing.T) {
	user, tracefs := uint32(0), openatTracefs(t)
	ofAllCalls(t, tracefs)
	for _, c := range []struct {
		point, release string
		exact          plan.Exactness
		of             plan.Target
		want           string // the programs that count
	}{
		{"syscall:getppid", "7.2.0", plan.ExactNone, plan.Target{}, "p0_getppid_out"},
		{"syscall:getppid", "7.2.0", plan.ExactNone, plan.Target{PID: 5}, "p0_getppid_out"},
		{"syscall:exit", "7.2.0", plan.ExactNone, plan.Target{}, "p0_exit_in"},
		{"syscall:{exit,getppid}", "7.2.0", plan.ExactNone, plan.Target{}, "p0_syscalls_out p0_syscalls_in"},
		{"syscall:*", "7.2.0", plan.ExactNone, plan.Target{}, "p0_syscalls_out p0_syscalls_in"},
		{"syscall:getppid", "7.2.0", plan.ExactNone, plan.Target{User: &user}, ""},
		{"syscall:getppid", "7.2.0", plan.ExactCalls, plan.Target{}, ""},
		{"syscall:getppid", "7.2.0", plan.ExactAll, plan.Target{}, ""},
		{"syscall:getppid", "6.18.0", plan.ExactNone, plan.Target{}, ""},
	} {
		facts := kernel.Open(kernel.Options{BTF: smallkernel.BTF(t, smallkernel.Types()...), Release: c.release,
			TracefsPath: tracefs, Symbols: testSymbols, Blacklist: testBlacklist})
		p := planOf(t, `n = count()
probe("`+c.point+`", lambda e: n.add(), where = lambda e: e.pid != 1)`)
		p.Exact, p.Target = c.exact, c.of
		res, err := infer.Plan(p, facts, infer.Options{})
		if err != nil {
			t.Fatal(c.point, err)
		}
		var counting []string
		for _, prog := range res.Tree.Programs {
			if countsSeen(prog) {
				counting = append(counting, prog.Name)
			}
		}
		if got := strings.Join(counting, " "); got != c.want {
			t.Errorf("%s on %s, exactness %d, of %+v: %q counts, want %q", c.point, c.release, c.exact, c.of, got,
				c.want)
		}
	}
}

func countsSeen(p *tree.Program) (counts bool) {
	for _, body := range p.Bodies() {
		tree.WalkBlock(body, func(s *tree.Stmt) {
			counts = counts || s.Op == tree.SCount && tree.SiteKind(s.Int) == tree.SiteSeen
		}, func(*tree.Expr) {})
	}
	return counts
}
