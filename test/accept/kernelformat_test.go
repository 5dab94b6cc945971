package accept

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/startrace/startrace/internal/machine"
	"github.com/startrace/startrace/internal/printfmt"
)

// formatGroups are those of tracepoints that any program fires.
var formatGroups = strings.Fields("sched signal task irq exceptions mmap maple_tree percpu filemap kmem")

// traceInstance is an instance of tracefs of the test's own, in which these groups are on. It follows children of the
// processes that are named there.
func traceInstance(t *testing.T) string {
	t.Helper()
	dir := filepath.Join("/sys/kernel/tracing/instances", "startrace_test_format")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Skipf("needs instances of tracefs (CONFIG_TRACING): %v", err)
	}
	t.Cleanup(func() { _ = os.Remove(dir) })
	for name, text := range map[string]string{"buffer_size_kb": "8192", "options/event-fork": "1"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0); err != nil {
			t.Skipf("needs instances of tracefs (CONFIG_TRACING): %v", err)
		}
	}
	for _, g := range formatGroups {
		if _, err := os.Stat(filepath.Join(dir, "events", g, "enable")); err == nil {
			if err := os.WriteFile(filepath.Join(dir, "events", g, "enable"), []byte("1"), 0); err != nil {
				t.Logf("%s: %v", g, err) // some of a group can be refused
			}
		}
	}
	return dir
}

// address is one in hex: the kernel prints a hash of it.
var address = regexp.MustCompile(`\b0x[0-9a-f]+\b|\b[0-9a-f]{16}\b`)

// kernelEvent is a line of tracefs: the name and what follows.
var kernelEvent = regexp.MustCompile(`(?m)^.*?\[\d+\] .*?: (\w+): ?(.*)$`)

// ownEvent is a line of startrace.
var ownEvent = regexp.MustCompile(`(?m)^.*? tracepoint:(\w+):(\w+)(?: (.*))?$`)

// comparable is what both print of an event. A flag of a format that pads numbers with spaces is no difference.
func comparable(text string) string {
	return strings.TrimSpace(address.ReplaceAllString(text, "ADDRESS"))
}

// The default line of each tracepoint is what the kernel prints of the same event, but for addresses, which the kernel
// hashes.
//
// > An address that the kernel would print as a hash of it (`%p`) is printed itself.
//
// The memory of fib_table_lookup is not written in all of its events, so it is not among these.
func TestLinesAsTheKernelPrints(t *testing.T) {
	needTracing(t)
	instance := traceInstance(t)
	var points []string
	for _, g := range formatGroups {
		if _, err := os.Stat(filepath.Join(instance, "events", g)); err == nil { // each kernel has others
			points = append(points, `"tracepoint:`+g+`:*"`)
		}
	}
	name := script(t, "probe(["+strings.Join(points, ", ")+"])")
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", `echo $$ > "$0"/set_event_pid; exec "$@"`, instance,
		program(t, "startrace"), "-q", "--drain", "1m", name, "-c", `sh -c "ls / > /dev/null; cat /proc/self/stat"`)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, excerpt(stderr.String()))
	}
	trace, err := os.ReadFile(filepath.Join(instance, "trace"))
	if err != nil {
		t.Fatal(err)
	}
	compareFormats(t, string(trace), stdout.String())
}

// compareFormats looks for each of startrace's lines among the kernel's of that event.
func compareFormats(t *testing.T, kernel, own string) {
	t.Helper()
	printed := map[string]map[string]bool{}
	for _, m := range kernelEvent.FindAllStringSubmatch(kernel, -1) {
		if printed[m[1]] == nil {
			printed[m[1]] = map[string]bool{}
		}
		printed[m[1]][comparable(m[2])] = true
	}
	m := machine.Open()
	defer m.Close()
	same, differ := map[string]bool{}, map[string]bool{}
	for _, line := range ownEvent.FindAllStringSubmatch(own, -1) {
		group, event, text := line[1], line[2], comparable(line[3])
		switch {
		case printed[event][text]:
			same[event] = true
		case len(printed[event]) == 0 || strings.Contains(text, printfmt.NotShown) || differ[event]:
		case shownByNames(m, group, event):
		default:
			differ[event] = true
			t.Errorf("%s:\nstartrace  %s\nthe kernel %s", event, text, first(printed[event]))
		}
	}
	if len(same) < 10 {
		t.Errorf("%d tracepoints were compared, want at least 10", len(same))
	}
	t.Logf("%d tracepoints were the same", len(same))
}

// shownByNames reports whether startrace cannot print the kernel's format of a tracepoint.
func shownByNames(m *machine.Machine, group, event string) bool {
	point, err := m.Tracepoint(group, event)
	if err != nil {
		return true
	}
	_, err = printfmt.Parse(point.PrintFmt, m.EnumValue)
	return err != nil
}

// first is one of some texts.
func first(texts map[string]bool) string {
	for text := range texts {
		return text
	}
	return ""
}
