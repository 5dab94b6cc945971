package accept

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/startrace/startrace/internal/point"
	"github.com/startrace/startrace/test/tried"
)

// documented are the capabilities with which startrace works without root, as docs/troubleshooting.md has them.
const documented = "bpf,perfmon,dac_read_search,sys_ptrace,syslog"

// attachable has a point of each kind that every kernel with that kind has. WORKLOAD stands for a program.
var attachable = map[string]string{
	"tracepoint": "tracepoint:sched:sched_switch", "rawtracepoint": "rawtracepoint:sched_switch",
	"syscall": "syscall:read", "profile": "profile:99hz", "interval": "interval:1s",
	"software": "software:page-faults:1", "hardware": "hardware:cycles:1000000", "iter": "iter:task",
	"kprobe": "kprobe:vfs_read", "kretprobe": "kretprobe:vfs_read", "func": "func:vfs_read",
	"fentry": "fentry:vfs_read", "fexit": "fexit:vfs_read", "lsm": "lsm:file_open",
	"uprobe": "uprobe:WORKLOAD:main.storeWatched", "uretprobe": "uretprobe:WORKLOAD:main.storeWatched",
	"ufunc": "ufunc:WORKLOAD:main.storeWatched", "watchpoint": "watchpoint:WORKLOAD:main.watched:8:w",
}

// What the doctor says of each kind of points is what attaching comes to, for root, for a user with the documented
// capabilities and for one with none. Its verdict is not that all is well where more rights would attach more.
func TestDoctorPoints(t *testing.T) {
	needTracing(t)
	root := attachedKinds(t, nil, attachesBesideCommand)
	for _, flags := range [][]string{{"-uid", nobody, "-caps", documented}, {"-uid", nobody, "-caps", ""}} {
		verdict, works := attachedKinds(t, flags, attachesBesideCommand), false
		for kind, attached := range root.works {
			if attached && !verdict.works[kind] && verdict.is == "works" {
				t.Errorf("%q: the doctor says that all is well, and root can trace %s", flags, kind)
			}
			works = works || verdict.works[kind]
		}
		if works == (verdict.is == "fails") {
			t.Errorf("%q: the verdict is %s, and a kind works: %v", flags, verdict.is, works)
		}
	}
	tried.Many(t, "%d kinds, %d users", len(attachable), 3)
}

// Under lockdown=confidentiality a script that only counts is attached to what the doctor says, without -c.
func TestDoctorPointsInLockdown(t *testing.T) {
	if !lockedDown() {
		t.Skip("needs a kernel in lockdown=confidentiality (make test-vm)")
	}
	verdict := attachedKinds(t, nil, attachesAlone)
	if verdict.is != "partly" {
		t.Errorf("the verdict is %s", verdict.is)
	}
	tried.Many(t, "%d kinds", len(attachable))
}

// attachesBesideCommand runs a probe at a point with a command.
func attachesBesideCommand(t *testing.T, flags []string, text string) ended {
	return confined(t, flags, "-e", fmt.Sprintf("probe(%q, lambda e: None)", text), "-c",
		program(t, "workload")+" getppid 1")
}

// attachesAlone runs a probe that counts. Whose variable a watchpoint is at has to be said.
func attachesAlone(t *testing.T, flags []string, text string) ended {
	args := []string{"-e", "n = count()", "-e", fmt.Sprintf("probe(%q, kernel = lambda e: n.add())", text),
		"--duration", "100ms"}
	if strings.HasPrefix(text, "watchpoint:") {
		cmd := exec.Command(program(t, "workload"), "stores", "endless")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}()
		args = append(args, "-p", fmt.Sprint(cmd.Process.Pid))
	}
	return confined(t, flags, args...)
}

// verdict is what the doctor says of a machine and of kinds of points.
type verdict struct {
	is    string
	works map[string]bool
}

// attachedKinds compares the doctor's points with what attaching comes to.
func attachedKinds(t *testing.T, flags []string, attach func(*testing.T, []string, string) ended) verdict {
	t.Helper()
	e := confined(t, flags, "doctor", "--json")
	var r struct {
		Verdict string
		Points  []struct {
			Kind  string
			Works bool
		}
	}
	if err := json.Unmarshal([]byte(e.stdout), &r); err != nil {
		t.Fatalf("%v in %q\n%s", err, e.stdout, e.stderr)
	}
	out := verdict{r.Verdict, map[string]bool{}}
	for _, p := range r.Points {
		out.works[p.Kind] = p.Works
		text := attachable[p.Kind]
		if text == "" {
			continue
		}
		text = strings.ReplaceAll(text, "WORKLOAD", program(t, "workload"))
		e := attach(t, flags, text)
		if attached := e.status == 0 && strings.Contains(e.stderr, "Attached 1 probe"); attached != p.Works {
			t.Errorf("%q: the doctor says that %s works: %v; attached: %v\n%s\n%s", flags, p.Kind, p.Works, attached,
				text, excerpt(e.stderr))
		}
	}
	if len(out.works) != len(point.Kinds()) {
		t.Errorf("the doctor speaks of %d kinds of points, there are %d", len(out.works), len(point.Kinds()))
	}
	return out
}

// Each kind is tried, but for static probes, which the workload does not have.
func TestAttachableKinds(t *testing.T) {
	for _, k := range point.Kinds() {
		if attachable[k.Name] == "" && k.Name != "usdt" {
			t.Errorf("there is no point of %s to try", k.Name)
		}
	}
}
