package accept

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

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

// cyclesApart is how many cycles lie between two samples: so many that the kernel does not find the samples too dear
// (perf_event_max_sample_rate), and so few that one more or less is no matter.
const cyclesApart = 1_000_000

// rawCycles are the cycles by their number in the manual of the CPU.
var rawCycles = map[string]string{"arm64": "r11"}

// The samples of cycles, by each of their names, are as many as the kernel itself counts for the process.
func TestCyclesOfProcess(t *testing.T) {
	needCounters(t)
	events := []string{"cpu-cycles", "cycles"}
	if raw := rawCycles[runtime.GOARCH]; raw != "" {
		events = append(events, raw)
	}
	for _, event := range events {
		t.Run(event, func(t *testing.T) {
			report := filepath.Join(t.TempDir(), "report.json")
			cmd, in := readied(t, exec.Command(program(t, "workload"), "-wait", "-report", report, "spin", "1", "1s"))
			counters := countCycles(t, cmd.Process.Pid)
			r := start(t, script(t, fmt.Sprintf(`
n = count()
probe("hardware:%s:%d", lambda e: n.add())
`+attached+`
at_exit(lambda: print(n.value))
`, event, cyclesApart)), "-p", strconv.Itoa(cmd.Process.Pid))
			r.await(t, "attached")
			before := counters.total(t)
			if _, err := io.WriteString(in, "\n"); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Wait(); err != nil {
				t.Fatal(err)
			}
			if err := r.cmd.Process.Signal(os.Interrupt); err != nil && err != os.ErrProcessDone {
				t.Fatal(err)
			}
			e := r.end(t).ok(t)
			samples, err := strconv.Atoi(strings.TrimSpace(e.stdout))
			if err != nil {
				t.Fatalf("%v\n%s", err, e.stderr)
			}
			checkSamples(t, samples, counters.total(t)-before)
		})
	}
}

// checkSamples checks the number of samples of counted cycles. A turn of the process on the CPU may begin just before a
// sample or just after one, and a sample that comes while interrupts are off may be taken in the next one's turn.
func checkSamples(t *testing.T, samples int, cycles uint64) {
	t.Helper()
	want := int(cycles / cyclesApart)
	t.Logf("%d samples of %d cycles", samples, cycles)
	if samples < want*9/10-1 || samples > want*11/10+1 {
		t.Errorf("%d samples; want about %d, for %d cycles", samples, want, cycles)
	}
}

// cycleCounters count the cycles of a process, one of each thread that it had, and of those that the thread made.
type cycleCounters []int

func countCycles(t *testing.T, pid int) (all cycleCounters) {
	t.Helper()
	threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, thread := range threads {
		tid, err := strconv.Atoi(thread.Name())
		if err != nil {
			t.Fatal(err)
		}
		attr := unix.PerfEventAttr{Type: unix.PERF_TYPE_HARDWARE, Config: unix.PERF_COUNT_HW_CPU_CYCLES, Bits: unix.PerfBitInherit}
		fd, err := unix.PerfEventOpen(&attr, tid, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
		if err != nil {
			t.Fatalf("count the cycles of thread %d: %v", tid, err)
		}
		t.Cleanup(func() { unix.Close(fd) })
		all = append(all, fd)
	}
	return all
}

func (c cycleCounters) total(t *testing.T) (sum uint64) {
	t.Helper()
	for _, fd := range c {
		var value [8]byte
		if _, err := unix.Read(fd, value[:]); err != nil {
			t.Fatal(err)
		}
		sum += binary.NativeEndian.Uint64(value[:])
	}
	return sum
}

// The emulated CPU has 1 GHz by the clock of its machine: a thread that has had it for a second has used as many cycles
// as that has nanoseconds, and more only for the time that the thread did not count as its own.
func TestCyclesOfClock(t *testing.T) {
	needCounters(t)
	if !inGuest() || runtime.GOARCH != "arm64" {
		t.Skip("needs QEMU's arm64, whose frequency is known: go run ./test/vm -kernel 6.12-arm64 has it")
	}
	const length = time.Second
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
n = count()
own = count()
def sample(e):
    n.add()
    if e.comm == "wl-spin":
        own.add()
        stacks[e.ustack()].add()
stacks = count()
probe("hardware:%s", sample)
def report():
    spinning = sum([v for k, v in stacks.items() if "main.spin" in str(k)])
    printf("%%d %%d %%d\n", n.value, own.value, spinning)
at_exit(report)
`, c.event), nil, "spin", "1", length.String())
			var all, own, spinning int
			if _, err := fmt.Sscan(e.stdout, &all, &own, &spinning); err != nil {
				t.Fatalf("%v in %q\n%s", err, e.stdout, e.stderr)
			}
			t.Logf("%d samples, %d of the thread, %d with its function on the stack, in %v", all, own, spinning, d.Nanoseconds)
			least, most := int(length/c.apart), int(d.Nanoseconds/c.apart)
			if own < least*95/100 || own > most+1 || all < own {
				t.Errorf("%d samples, %d of the thread; want %d to %d of the thread\n%s", all, own, least, most, e.stderr)
			}
			if spinning < own*9/10 {
				t.Errorf("%d of %d stacks have main.spin", spinning, own)
			}
		})
	}
}

// A rate makes the kernel choose the period. It begins with single cycles and then looks for the one that suits.
func TestCyclesByRate(t *testing.T) {
	needCounters(t)
	e, d := traced(t, `
n = count()
probe("hardware:cycles:100hz", lambda e: n.add(), where = lambda e: e.comm == "wl-spin")
at_exit(lambda: print(n.value))
`, nil, "spin", "1", "2s")
	samples, err := strconv.Atoi(strings.TrimSpace(e.stdout))
	if err != nil {
		t.Fatalf("%v\n%s", err, e.stderr)
	}
	if most := int(d.Nanoseconds.Seconds() * 100); samples < 100 || samples > 2*most {
		t.Errorf("%d samples in %v, of which 2 s on the CPU; want about %d\n%s", samples, d.Nanoseconds, most, e.stderr)
	}
}

// What the CPU does not count is said, and what it may be instead.
func TestUncountedEvent(t *testing.T) {
	needCounters(t)
	const event = "L1-icache-stores" // no CPU has them: it is only read
	e := startrace(t, "-e", fmt.Sprintf(`probe("hardware:%s", lambda e: print(e.cpu))`, event), "-c", "true")
	if e.status != 1 || !strings.Contains(e.stderr, "this CPU does not count "+event) {
		t.Errorf("status %d: %s", e.status, e.stderr)
	}
}
