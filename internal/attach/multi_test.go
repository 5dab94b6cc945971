package attach

import (
	"runtime"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/bpfgen/tree"
)

// syscallFunction is the kernel's function of a system call.
func syscallFunction(name string) string {
	return map[string]string{"amd64": "__x64_sys_", "arm64": "__arm64_sys_"}[runtime.GOARCH] + name
}

// What a link does not take is found and left out; the others stay together.
func TestLinkWithoutRefused(t *testing.T) {
	if !Features().KprobeMulti {
		t.Skip("needs a kernel with links to many functions (kprobe_multi, 5.18)")
	}
	var places []tree.Place
	for _, name := range []string{"getppid", "getpgid", "getsid", "umask", "alarm", "times"} {
		places = append(places, tree.Place{Func: syscallFunction(name)})
	}
	places = slices.Insert(places, 3, tree.Place{Func: "startrace_has_no_such_function"},
		tree.Place{Func: "notify_die"})
	unit := unitOf(tree.Attach{Way: &tree.Functions{Mech: tree.AttachKprobe, Places: places}},
		tree.Attach{Way: &tree.Functions{Mech: tree.AttachKretprobe, Places: places}})
	l, err := Load(unit, Options{Features: Features})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	const calls = 100
	for round := range 2 { // what was refused is not asked for again
		if err := l.Attach(); err != nil {
			t.Fatal(err)
		}
		for range calls {
			unix.Getppid()
			unix.Umask(unix.Umask(0o22))
		}
		for _, p := range l.programs {
			if len(p.points) > 4 || len(p.Attach.At()) != 6 {
				t.Errorf("%s: %d links for %d places", p.Name, len(p.points), len(p.Attach.At()))
			}
		}
		for probe, n := range counts(l) {
			if want := uint64(3 * calls * (round + 1)); n != want {
				t.Errorf("probe %d ran %d times, want %d", probe, n, want)
			}
		}
		l.Disable()
		if err := l.closing.wait(); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"startrace_has_no_such_function", "notify_die"}
	for i, refused := range l.Refused() {
		if refused.Probe != i || !slices.Equal(refused.Places, want) {
			t.Errorf("refused %v, want %v", refused, want)
		}
	}
	if len(l.Refused()) != 2 || len(counts(l)) != 2 {
		t.Errorf("refused %v, counts %v", l.Refused(), counts(l))
	}
}
