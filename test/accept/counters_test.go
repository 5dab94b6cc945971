package accept

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/startrace/startrace/internal/kernel"
)

// needCounters skips where hardware events cannot be.
func needCounters(t *testing.T) {
	t.Helper()
	needTracing(t)
	if !kernel.HasCounters() {
		t.Skip("needs counters of the CPU: go run ./test/vm -kernel 6.12-arm64 has some")
	}
}

// needClock skips where the frequency of the CPU is not known: QEMU's has 1 GHz by the clock of its machine. Unless
// that clock counts instructions, its counters are off by a factor of two and more, startrace or not.
func needClock(t *testing.T) {
	t.Helper()
	needCounters(t)
	if os.Getenv("STARTRACE_VM_ICOUNT") == "" {
		t.Skip("needs a CPU of known frequency: go run ./test/vm -kernel 6.12-arm64 -icount has one")
	}
}

// spinning is how long a thread has the CPU in these tests.
const spinning = time.Second

// checkCycles checks the number of samples of the thread that spins, so many ns apart. It has had the CPU for as many
// ns as it says, or longer, as gaps do not count for it; and not longer than the work took.
func checkCycles(t *testing.T, samples int, apart time.Duration, d done) {
	t.Helper()
	least, most := int(spinning/apart), int(d.Nanoseconds/apart)
	t.Logf("%d samples in %v", samples, d.Nanoseconds)
	if samples < least*95/100 || samples > most+1 {
		t.Errorf("%d samples of the thread; want %d to %d", samples, least, most)
	}
}

// Samples of cycles, by their names and their number in the CPU's manual (r11), come as often as the clock says, and
// where the program is.
//
// > Events that are counted have the names that `perf list` shows: `page-faults`, `cs`, `cycles`,
// > `L1-dcache-load-misses`.
// > An event can also be a number of the CPU's manual (`r01c2`).
func TestCycles(t *testing.T) {
	needClock(t)
	for _, c := range []struct {
		event string
		apart time.Duration
	}{
		{"cpu-cycles:1000000", time.Millisecond},
		{"cpu-cycles:10000000", 10 * time.Millisecond},
		{"cycles", time.Millisecond},
		{"r11:2000000", 2 * time.Millisecond},
	} {
		t.Run(c.event, func(t *testing.T) {
			e, d := traced(t, fmt.Sprintf(`
stacks = count()
probe("hardware:%s", lambda e: stacks[e.ustack()].add(), where = lambda e: e.comm == "wl-spin")
def report():
    inside = sum([v for k, v in stacks.items() if "main.spin" in str(k)])
    printf("%%d %%d\n", sum([v for _, v in stacks.items()]), inside)
at_exit(report)
`, c.event), nil, "spin", "1", spinning.String())
			var samples, inside int
			if _, err := fmt.Sscan(e.stdout, &samples, &inside); err != nil {
				t.Fatalf("%v in %q\n%s", err, e.stdout, e.stderr)
			}
			checkCycles(t, samples, c.apart, d)
			if inside < samples*9/10 {
				t.Errorf("%d of %d stacks have main.spin", inside, samples)
			}
		})
	}
}

// A process that runs already is sampled, and no other.
func TestCyclesOfProcess(t *testing.T) {
	needClock(t)
	report := filepath.Join(t.TempDir(), "report.json")
	cmd, in := readied(t, exec.Command(program(t, "workload"), "-wait", "-report", report, "spin", "1",
		spinning.String()))
	r := start(t, script(t, `
n = count()
others = count()
def sample(e):
    if e.comm == "wl-spin":
        n.add()
    if e.pid != `+strconv.Itoa(cmd.Process.Pid)+`:
        others.add()
probe("hardware:cpu-cycles:1000000", sample)
`+attached+`
at_exit(lambda: printf("%d %d\n", n.value, others.value))
`), "-p", strconv.Itoa(cmd.Process.Pid))
	r.await(t, "attached")
	goOn(t, cmd, in)
	e, d := tracedBy(t, r.interrupt(t).ok(t), report)
	var samples, others int
	if _, err := fmt.Sscan(e.stdout, &samples, &others); err != nil || others != 0 {
		t.Fatalf("%q: %d samples of other processes, %v\n%s", e.stdout, others, err, e.stderr)
	}
	checkCycles(t, samples, time.Millisecond, d)
}

// An instruction takes that CPU 1 ns, so that there are not more of them than cycles.
func TestInstructions(t *testing.T) {
	needClock(t)
	e, d := traced(t, `
n = count()
probe("hardware:instructions:1000000", lambda e: n.add(), where = lambda e: e.comm == "wl-spin")
at_exit(lambda: print(n.value))
`, nil, "spin", "1", spinning.String())
	samples := number(t, e.stdout, `^(\d+)\n$`)
	if most := int(d.Nanoseconds / time.Millisecond); samples == 0 || samples > most+1 {
		t.Errorf("%d samples, want 1 to %d\n%s", samples, most+1, e.stderr)
	}
}

// A rate makes the kernel choose the period. It begins with single cycles and then looks for the one that suits.
//
// > N is a number of events (`software:page-faults:1` is each one) or a rate (`hardware:cycles:99hz`).
// > Without N, startrace takes a number that gives a picture and costs little.
func TestCyclesByRate(t *testing.T) {
	needCounters(t)
	e, d := traced(t, `
n = count()
probe("hardware:cycles:100hz", lambda e: n.add(), where = lambda e: e.comm == "wl-spin")
at_exit(lambda: print(n.value))
`, nil, "spin", "1", "2s")
	samples := number(t, e.stdout, `^(\d+)\n$`)
	if most := int(d.Nanoseconds.Seconds() * 100); samples < 100 || samples > 2*most {
		t.Errorf("%d samples in %v, of which 2 s on the CPU; want about %d\n%s", samples, d.Nanoseconds, most, e.stderr)
	}
}

// What the CPU does not count is said, and what it may be instead.
func TestUncountedEvent(t *testing.T) {
	needCounters(t)
	const event = "L1-icache-stores" // no CPU has them: it is only read
	e := startrace(t, "-e", fmt.Sprintf(`probe("hardware:%s", lambda e: print(e.cpu))`, event), "-c", "true")
	if e.status != failedBeside || !strings.Contains(e.stderr, "this CPU does not count "+event) {
		t.Errorf("status %d: %s", e.status, e.stderr)
	}
}
