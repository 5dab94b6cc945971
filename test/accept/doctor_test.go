package accept

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

const nobody = "65534"

// confined runs a startrace that others may execute with the rights that the flags of test/confine leave.
func confined(t *testing.T, flags []string, args ...string) ended {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	words := append(append(append([]string{}, flags...), "--", forOthers(t)), args...)
	cmd := exec.CommandContext(ctx, program(t, "confine"), words...)
	var stdout, stderr bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = "/", &stdout, &stderr
	tellWhere(cmd)
	if err := cmd.Run(); cmd.ProcessState == nil || ctx.Err() != nil {
		t.Fatalf("confine %q: %v\n%s", words, err, excerpt(stderr.String()))
	}
	return ended{stdout: stdout.String(), stderr: stderr.String(), status: cmd.ProcessState.ExitCode()}
}

// begins checks the first two lines of a text: cause and remedy.
func begins(t *testing.T, what, text, cause, remedy string) {
	t.Helper()
	lines := strings.SplitN(text, "\n", 3)
	if len(lines) < 3 || !regexp.MustCompile(cause).MatchString(lines[0]) ||
		!regexp.MustCompile(remedy).MatchString(lines[1]) {
		t.Errorf("%s: want %q and %q in the first two lines of\n%s", what, cause, remedy, excerpt(text))
	}
}

// attempt is a script of one probe with what it comes to: no cause means that its events are seen.
type attempt struct{ point, cause, remedy string }

const (
	execPoint    = "tracepoint:sched:sched_process_exec"
	rawExecPoint = "rawtracepoint:sched_process_exec"
	syscallPoint = "syscall:execve"
)

func (a attempt) check(t *testing.T, flags []string) {
	t.Helper()
	e := confined(t, flags, "-e", fmt.Sprintf(`probe(%q, lambda e: print("seen", e.pid))`, a.point), "-c", "true")
	switch {
	case a.cause != "":
		if e.status != failedBeside {
			t.Errorf("%s: exit status %d", a.point, e.status)
		}
		begins(t, a.point, e.stderr, a.cause, a.remedy)
	case e.status != 0 || strings.Count(e.stdout, "seen ") != 1:
		t.Errorf("%s: exit status %d, stdout %q, stderr %q", a.point, e.status, e.stdout, e.stderr)
	}
}

// Each thing that keeps a machine from being traced is named, with its remedy, in the first two lines, by the doctor
// and by a script that fails for it; what can be traced nevertheless is traced (S1-20).
func TestDoctorCauses(t *testing.T) {
	needTracing(t)
	const setcap = "root.*setcap cap_bpf,cap_perfmon"
	unprivileged := "user 65534 may not trace without CAP_BPF, CAP_PERFMON and CAP_DAC_READ_SEARCH"
	for _, tt := range []struct {
		name          string
		flags         []string
		status        int
		cause, remedy string
		attempts      []attempt
	}{
		{"unprivileged", []string{"-uid", nobody, "-caps", ""}, 1, "cannot be traced: " + unprivileged, setcap,
			[]attempt{
				{execPoint, unprivileged, setcap}, {rawExecPoint, unprivileged, setcap},
				{syscallPoint, unprivileged, setcap},
				{"fentry:begin_new_exec", unprivileged, setcap}, {"profile:hz:99", unprivileged, setcap},
			}},
		{"bpf", []string{"-uid", nobody, "-caps", "bpf"}, 1,
			"cannot be traced: user 65534 may not trace without CAP_PERFMON", setcap, []attempt{
				{rawExecPoint, "user 65534 may not trace without CAP_PERFMON", setcap},
			}},
		{"root without capabilities", []string{"-caps", ""}, 1,
			"cannot be traced: user 0 may not trace without CAP_BPF and CAP_PERFMON", "--cap-add BPF", []attempt{
				{rawExecPoint, "user 0 may not trace without CAP_BPF", "--cap-add BPF"},
			}},
		{"bpf and perfmon", []string{"-uid", nobody, "-caps", "bpf,perfmon"}, 0,
			"can be traced, but for tracepoints: user 65534 may not read tracefs", "CAP_DAC_READ_SEARCH", []attempt{
				{execPoint, "user 65534 may not read tracefs", "CAP_DAC_READ_SEARCH"}, {point: rawExecPoint},
				{point: syscallPoint},
			}},
		{"user namespace", []string{"-userns"}, 1, "cannot be traced: this process is in a user namespace",
			"outside of the namespace", []attempt{
				{execPoint, "in a user namespace", "outside of the namespace"},
				{rawExecPoint, "in a user namespace", "outside of the namespace"},
			}},
		{"filter", []string{"-refuse", "bpf"}, 1,
			`cannot be traced: the system calls of this process are filtered \(seccomp\)`, "--privileged", []attempt{
				{rawExecPoint, `are filtered \(seccomp\)`, "--privileged"},
				{execPoint, `are filtered \(seccomp\)`, "--privileged"},
			}},
		{"filter of perf events", []string{"-refuse", "perf_event_open"}, 0,
			`can be traced, but for tracepoints, profiles.*filtered \(seccomp\)`, "--privileged", []attempt{
				{execPoint, `are filtered \(seccomp\)`, "--privileged"}, {point: rawExecPoint},
			}},
		{"no types", []string{"-hide", "/sys/kernel/btf"}, 0,
			"can be traced, but for .*raw tracepoints.*: this kernel has no BTF", "CONFIG_DEBUG_INFO_BTF", []attempt{
				{rawExecPoint, "this kernel has no BTF", "CONFIG_DEBUG_INFO_BTF"},
				{execPoint, "this kernel has no BTF", "CONFIG_DEBUG_INFO_BTF"}, // -c
			}},
		{"no tracefs", []string{"-caps", "bpf,perfmon", "-hide", "/sys/kernel/tracing", "-hide", "/sys/kernel/debug"},
			0,
			"can be traced, but for tracepoints: tracefs.* is not mounted", "mount", []attempt{
				{execPoint, "tracefs.* is not mounted at /sys/kernel/tracing", "mount"}, {point: rawExecPoint},
				{point: syscallPoint},
			}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := confined(t, tt.flags, "doctor")
			begins(t, "doctor", e.stdout, tt.cause, tt.remedy)
			if e.status != tt.status || e.stderr != "" {
				t.Errorf("doctor: exit status %d, want %d, stderr %q", e.status, tt.status, e.stderr)
			}
			for _, a := range tt.attempts {
				a.check(t, tt.flags)
			}
		})
	}
}

// Without the kernel's types tracepoints and system calls are traced nevertheless, but for -c.
func TestWithoutTypes(t *testing.T) {
	needTracing(t)
	comm, err := os.ReadFile("/proc/self/comm")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		for ctx.Err() == nil {
			os.Getppid()
		}
	}()
	for _, point := range []string{"syscall:getppid", "tracepoint:syscalls:sys_enter_getppid"} {
		if _, err := os.Stat("/sys/kernel/tracing/events/syscalls"); err != nil && point[0] == 't' {
			continue // CONFIG_FTRACE_SYSCALLS
		}
		script := fmt.Sprintf("def seen(e):\n    print(e.comm)\n    exit()\n\nprobe(%q, seen)", point)
		e := confined(t, []string{"-hide", "/sys/kernel/btf"}, "-e", script, "-p", fmt.Sprint(os.Getpid())).ok(t)
		if !strings.HasPrefix(e.stdout, string(comm)) {
			t.Errorf("%s: %q", point, e.stdout)
		}
	}
}

// What needs types is told at its place: to follow the children of a command does.
func TestWithoutTypesCommand(t *testing.T) {
	needTracing(t)
	e := confined(t, []string{"-hide", "/sys/kernel/btf"}, "-e", `probe("syscall:getppid", lambda e: None)`, "-c",
		"true")
	if flat := strings.Join(strings.Fields(e.stderr), " "); e.status != failedBeside ||
		!strings.Contains(flat, "-e:1:1: to follow the children of a command (-c)") ||
		!strings.Contains(flat, "trace a running process with -p") {
		t.Errorf("status %d: %s", e.status, e.stderr)
	}
}

// With the capabilities that tracing needs, no root is needed, but where perf events ask for more.
func TestWithoutRoot(t *testing.T) {
	needTracing(t)
	flags := []string{"-uid", nobody, "-caps", "bpf,perfmon,dac_read_search,sys_ptrace,syslog"}
	setting, err := os.ReadFile(paranoidFile)
	if err != nil {
		t.Fatal(err)
	}
	if level := strings.TrimSpace(string(setting)); level == "3" || level == "4" {
		begins(t, "doctor", confined(t, flags, "doctor").stdout,
			"but for tracepoints.* kernel.perf_event_paranoid is "+level, "sysctl kernel.perf_event_paranoid=2")
		attempt{execPoint, "kernel.perf_event_paranoid is " + level, "sysctl kernel.perf_event_paranoid=2"}.check(t,
			flags)
		needGuest(t)
		lower(t, setting)
	}
	for _, point := range []string{execPoint, rawExecPoint, syscallPoint} {
		attempt{point: point}.check(t, flags)
	}
	if kernelFunctions(t) {
		needGuest(t)
		for _, point := range []string{"kprobe:begin_new_exec", "fentry:begin_new_exec", "kretprobe:begin_new_exec"} {
			attempt{point: point}.check(t, flags)
		}
	}
}

const paranoidFile = "/proc/sys/kernel/perf_event_paranoid"

// lower sets perf_event_paranoid as the mainline kernel does, for the time of the test.
func lower(t *testing.T, old []byte) {
	t.Helper()
	if err := os.WriteFile(paranoidFile, []byte("2"), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.WriteFile(paranoidFile, old, 0o644); err != nil {
			t.Error(err)
		}
	})
}

// The limit of locked memory counts before 5.11.
func TestDoctorMemlock(t *testing.T) {
	needTracing(t)
	flags := []string{"-memlock", "65536", "-uid", nobody, "-caps", "bpf,perfmon,dac_read_search"}
	if atLeast(t, 5, 11) {
		attempt{point: rawExecPoint}.check(t, flags)
		return
	}
	const cause, remedy = "the limit of locked memory is 64 KB", "ulimit -l unlimited"
	e := confined(t, flags, "doctor")
	begins(t, "doctor", e.stdout, "cannot be traced: "+cause, remedy)
	if e.status != 1 {
		t.Errorf("exit status %d", e.status)
	}
	attempt{rawExecPoint, cause, remedy}.check(t, flags)
	attempt{point: rawExecPoint}.check(t, []string{"-memlock", "65536"}) // root raises it
}

// TestLockdownDoctor needs a kernel booted with lockdown=integrity or lockdown=confidentiality.
func TestLockdownDoctor(t *testing.T) {
	words, err := os.ReadFile("/proc/cmdline")
	if err != nil || !bytes.Contains(words, []byte("lockdown=")) {
		t.Skip("needs a kernel booted with lockdown=integrity or lockdown=confidentiality (make test-vm)")
	}
	if !lockedDown() {
		const cause, remedy = `can be traced\. .*locked down \(integrity\)`, "boot without lockdown=integrity"
		e := confined(t, nil, "doctor").ok(t)
		begins(t, "doctor", e.stdout, cause, remedy)
		for _, point := range []string{execPoint, rawExecPoint, syscallPoint} {
			attempt{point: point}.check(t, nil)
		}
		return
	}
	const cause, remedy = `the kernel is locked down \(confidentiality\)`, "boot without lockdown=confidentiality"
	e := confined(t, nil, "doctor")
	begins(t, "doctor", e.ok(t).stdout, "can be traced, but for tracepoints, .*: "+cause, remedy)
	if strings.Contains(e.stdout, "security module") {
		t.Errorf("what the lockdown forbids is laid to a security module: %s", excerpt(e.stdout))
	}
	attempt{execPoint, cause, remedy}.check(t, nil)
	reads := confined(t, nil, "-e", `probe("rawtracepoint:sched_process_exec", lambda e: print(e.args.bprm.filename))`,
		"-c", "true")
	begins(t, "a script that reads memory", reads.stderr, cause, remedy)
	// What reads nothing works; -c does not, for it reads who started whom, nor do spans, which read whose they are.
	const first = "def seen(e):\n    print(e.pid)\n    exit()\n\nprobe(%q, seen)"
	for _, point := range []string{"rawtracepoint:sched_switch", "profile:hz:99"} {
		if e := confined(t, nil, "-e", fmt.Sprintf(first, point)).ok(t); e.stdout == "" {
			t.Errorf("%s: no event, stderr %q", point, e.stderr)
		}
	}
}

// Where Secure Boot has locked the kernel, it is named, whether the variables of the firmware are mounted or not.
func TestLockdownSecureBoot(t *testing.T) {
	needGuest(t)
	state, err := os.ReadFile("/sys/kernel/security/lockdown")
	words, cmdErr := os.ReadFile("/proc/cmdline")
	if err != nil || cmdErr != nil || !bytes.Contains(state, []byte("[integrity]")) ||
		bytes.Contains(words, []byte("lockdown=")) {
		t.Skip("needs a kernel that locks itself down under Secure Boot (go run ./test/vm -secureboot, make test-vm)")
	}
	const cause, remedy = `can be traced\. .*locked down \(integrity\)`,
		"none is needed to trace; to write, switch Secure Boot off, which locked it"
	const variables = "/sys/firmware/efi/efivars"
	begins(t, "doctor without variables", confined(t, nil, "doctor").ok(t).stdout, cause, remedy)
	if err := unix.Mount("efivarfs", variables, "efivarfs", 0, ""); err != nil {
		t.Fatal(err)
	}
	defer unix.Unmount(variables, 0)
	e := confined(t, nil, "doctor").ok(t)
	begins(t, "doctor", e.stdout, cause, remedy)
	e.has(t, `(?m)^  note  Secure Boot +on;`)
	for _, point := range []string{execPoint, rawExecPoint, syscallPoint, "kprobe:begin_new_exec",
		"fentry:begin_new_exec"} {
		attempt{point: point}.check(t, nil)
	}
}

// What the doctor says is also an object for programs.
func TestDoctorJSON(t *testing.T) {
	needTracing(t)
	var r struct {
		Verdict            string
		Problems, Findings []map[string]any
	}
	e := confined(t, []string{"-uid", nobody, "-caps", ""}, "doctor", "--json")
	if err := json.Unmarshal([]byte(e.stdout), &r); err != nil {
		t.Fatal(err)
	}
	if r.Verdict != "fails" || e.status != 1 || len(r.Problems) == 0 || r.Problems[0]["id"] != "capabilities" {
		t.Errorf("status %d, verdict %s, problems %v", e.status, r.Verdict, r.Problems)
	}
	states := map[string]any{}
	for _, f := range r.Findings {
		states[f["subject"].(string)] = f["state"]
	}
	for subject, state := range map[string]string{"kernel": "ok", "types (BTF)": "ok", "CAP_BPF": "no",
		"CAP_SYSLOG": "no", "programs": "no", "ring buffer": "no"} {
		if states[subject] != state {
			t.Errorf("%s is %v, want %s", subject, states[subject], state)
		}
	}
}

// Once everything is attached startrace keeps only the rights to read; its command keeps what it had.
func TestPrivilegesDropped(t *testing.T) {
	needTracing(t)
	const show = `sh -c 'grep CapPrm /proc/self/status; grep -e CapPrm -e CapEff /proc/$PPID/status ` +
		`/proc/$PPID/task/*/status'`
	script := `probe("syscall:getppid", lambda e: None)`
	full := capabilitySets(startrace(t, "-e", script+`.enable() if False else None`, "-c", show).ok(t).stdout)
	e := startrace(t, "-v", "-e", script, "-c", show).ok(t)
	dropped := capabilitySets(e.stdout)
	own, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	command := regexp.MustCompile(`(?m)^CapPrm:.*$`).FindString(e.stdout)
	if command == "" || command != regexp.MustCompile(`(?m)^CapPrm:.*$`).FindString(string(own)) {
		t.Errorf("the command has %q", command)
	}
	// CAP_DAC_READ_SEARCH, CAP_KILL, CAP_SYS_PTRACE, CAP_SYSLOG, CAP_PERFMON, CAP_BPF, CAP_CHECKPOINT_RESTORE
	const want = "000001c400080024"
	if len(full) != 1 || len(dropped) != 1 || !dropped[want] || full[want] {
		t.Errorf("with .enable() in the script %v, without %v, want all of the first and %s of the second\n%s", full,
			dropped, want, e.stderr)
	}
}

// capabilitySets are the different sets of a process's threads.
func capabilitySets(text string) map[string]bool {
	out := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^/proc/\S*:Cap(?:Prm|Eff):\s*([0-9a-f]+)$`).FindAllStringSubmatch(text,
		-1) {
		out[m[1]] = true
	}
	return out
}
