package accept

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/test/tried"
)

// needSpareCPU skips where no CPU can be taken off, and gives the file that does it and the number of the CPU, which is
// on again after the test.
func needSpareCPU(t *testing.T) (file string, cpu int) {
	t.Helper()
	needTracing(t)
	needGuest(t)
	cpus, err := kernel.OnlineCPUs()
	if err != nil {
		t.Fatal(err)
	}
	cpu = slices.Max(cpus)
	file = fmt.Sprintf("/sys/devices/system/cpu/cpu%d/online", cpu)
	if _, err := os.Stat(file); err != nil || len(cpus) == 1 {
		t.Skip("needs a CPU that can be taken off: go run ./test/vm -kernel 7.2 -smp 2 has one")
	}
	t.Cleanup(func() { turnCPU(t, file, "1") })
	return file, cpu
}

func turnCPU(t *testing.T, file, state string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(state), 0); err != nil {
		t.Error(err)
	}
}

// hotplugPoints are points with an event on each CPU.
func hotplugPoints(t *testing.T) []string {
	points := []string{"profile:99hz", "software:cpu-clock:1000000", "software:context-switches:1"}
	if runtime.GOARCH == "amd64" { // on arm64 it is not known what is counted
		points = append(points, "watchpoint:"+program(t, "workload")+":main.watched:8:w")
	}
	return points
}

// onTheCPU is a script that ends once it has seen events of all points from a program that runs on a CPU only after
// the command has taken it off and put it on.
const onTheCPU = `
points = %q.split(" ")
seen = {}
def declare(i):
    def hit(e):
        seen[i] = seen.get(i, 0) + 1
        if len([n for n in seen.values() if n >= 3]) == len(points):
            print("all")
            exit()
    probe(points[i], hit, where = lambda e: e.comm == "wl-stores" and e.cpu == %d)
[declare(i) for i in range(len(points))]
at_exit(lambda: print(seen))
`

// Events of a CPU go on when it comes back, and begin on one that comes, whatever counts them.
//
// > A CPU that comes online during a run gets the events of profiles, counters and watchpoints.
// > A message says so, and another one that a CPU went offline.
func TestCPUsComeAndGo(t *testing.T) {
	file, cpu := needSpareCPU(t)
	points := hotplugPoints(t)
	name := script(t, fmt.Sprintf(onTheCPU, strings.Join(points, " "), cpu))
	work := fmt.Sprintf("taskset %x %s stores endless &\nwhile :; do taskset %x usleep 1000; done\n", 1<<cpu,
		program(t, "workload"), 1<<cpu)
	came := fmt.Sprintf("CPU %d came online: attached profile:99hz, software:cpu-clock:1000000, "+
		"software:context-switches:1", cpu)
	went := fmt.Sprintf("CPU %d went offline: profile:99hz, software:cpu-clock:1000000, "+
		"software:context-switches:1", cpu)
	runs := []struct {
		title, before, turns string
		want                 []string
	}{
		{"off and on", "1", "0 1", []string{went, came}},
		{"off and on twice", "1", "0 1 0 1", []string{went, came, went, came}},
		{"off at the start", "0", "1", []string{came}},
	}
	for _, c := range runs {
		t.Run(c.title, func(t *testing.T) {
			turnCPU(t, file, c.before)
			dir := t.TempDir()
			said, load := filepath.Join(dir, "said"), filepath.Join(dir, "load.sh")
			commands := ""
			for i, state := range strings.Fields(c.turns) { // the next turn waits for what is said of the last
				commands += fmt.Sprintf("echo %s > %s || exit\nuntil [ $(grep -c ^CPU %s) -gt %d ]\n"+
					"do usleep 10000; done\n", state, file, said, i)
			}
			if err := os.WriteFile(load, []byte(commands+work), 0o644); err != nil {
				t.Fatal(err)
			}
			e := startraceSaying(t, said, name, "--duration", "3m", "-c", "sh "+load)
			if !strings.HasPrefix(e.stdout, "all\n") {
				t.Errorf("not all points had events on the CPU: %s%s", e.stdout, e.stderr)
			}
			got := regexp.MustCompile(`(?m)^CPU \d+ (came online: attached|went offline:) [^ ]+, [^ ]+, [^ ,]+`).
				FindAllString(e.stderr, -1)
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q\n%s", got, c.want, e.stderr)
			}
		})
	}
	tried.Many(t, "%d runs of %d points", len(runs), len(points))
}

// startraceSaying runs startrace with its standard error in a file, so that the command can read what it says.
func startraceSaying(t *testing.T, said string, args ...string) ended {
	t.Helper()
	words := append([]string{"-c", `said=$1; shift; exec "$@" 2> "$said"`, "sh", said, program(t, "startrace")},
		args...)
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", words...)
	tellWhere(cmd)
	stdout, err := cmd.Output()
	stderr, readErr := os.ReadFile(said)
	if err := errors.Join(err, readErr); err != nil {
		t.Fatalf("%v\n%s", err, stderr)
	}
	return ended{stdout: string(stdout), stderr: string(stderr)}
}

// Tables, aggregations and the memory in which records are made have room for CPUs that are offline at the start.
//
// > Tables and aggregations have room for all CPUs that the machine can have.
func TestStateOfLateCPU(t *testing.T) {
	file, cpu := needSpareCPU(t)
	const calls = 1000
	text := `
n, sums, sizes, last = count(), total(), hist(), table()
def hit(e):
    n[e.cpu].add()
    sums[e.cpu].add(2)
    sizes[e.cpu].add(1)
    last[e.cpu] = e.comm
sent = {}
def got(e): sent[e.cpu] = sent.get(e.cpu, 0) + 1
probe("syscall:getppid", hit, where = lambda e: e.comm == "wl-getppid")
probe("tracepoint:syscalls:sys_enter_getppid", got, where = lambda e: e.comm == "wl-getppid")
at_exit(lambda: [printf("%d %d %d %s %d\n", cpu, v, sums[cpu].value, last[cpu], sent[cpu]) for cpu, v in n.items()])
`
	load := filepath.Join(t.TempDir(), "load.sh")
	commands := fmt.Sprintf("echo 1 > %s\nexec taskset %x %s getppid %d", file, 1<<cpu, program(t, "workload"), calls)
	if err := os.WriteFile(load, []byte(commands), 0o644); err != nil {
		t.Fatal(err)
	}
	turnCPU(t, file, "0")
	e := startrace(t, script(t, text), "-c", "sh "+load).ok(t)
	var on, counted, added, sent int
	var comm string
	line := e.stdout[strings.Index(e.stdout, "}\n")+2:] // behind what the workload reports
	if _, err := fmt.Sscanf(line, "%d %d %d %s %d\n", &on, &counted, &added, &comm, &sent); err != nil {
		t.Fatalf("%v in %q\n%s", err, e.stdout, e.stderr)
	}
	if on != cpu || comm != "wl-getppid" || added != 2*counted {
		t.Errorf("got %q; want CPU %d, wl-getppid, and twice the count as the sum", line, cpu)
	}
	checkAccount(t, e, counted, calls)
	checkAccount(t, e, sent, calls)
	tried.Many(t, "%d calls", calls)
}
