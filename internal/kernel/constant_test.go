package kernel

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/internal/naming"
)

func TestConstantText(t *testing.T) {
	line := regexp.MustCompile(`^[A-Z_][A-Za-z0-9_]* (-?\d+|(-|-?\d+) (-|-?\d+))$`)
	lines := strings.Split(strings.TrimSuffix(constantText, "\n"), "\n")
	for _, l := range lines {
		if !line.MatchString(l) {
			t.Errorf("bad line %q", l)
		}
	}
	names := make([]string, len(lines))
	for i, l := range lines {
		names[i], _, _ = strings.Cut(l, " ")
	}
	slices.Sort(names)
	if got := len(slices.Compact(names)); got != len(lines) {
		t.Errorf("%d names in %d lines", got, len(lines))
	}
}

func TestConstant(t *testing.T) {
	for name, want := range map[string]int64{
		lineName(constantText): firstValue(constantText), // the first line has no newline before it
		"O_CREAT":              unix.O_CREAT, "O_DIRECTORY": unix.O_DIRECTORY, "AT_FDCWD": unix.AT_FDCWD,
		"S_IFMT": unix.S_IFMT, "PROT_EXEC": unix.PROT_EXEC, "MAP_ANONYMOUS": unix.MAP_ANONYMOUS,
		"SIGKILL": int64(unix.SIGKILL), "EAGAIN": int64(unix.EAGAIN), "ERESTARTSYS": 512,
		"TASK_RUNNING": 0, "TASK_UNINTERRUPTIBLE": 2, "AF_INET6": unix.AF_INET6, "SOCK_STREAM": unix.SOCK_STREAM,
		"IPPROTO_TCP": unix.IPPROTO_TCP, "CLONE_NEWUSER": unix.CLONE_NEWUSER, "SOL_SOCKET": unix.SOL_SOCKET,
		"SO_REUSEPORT": unix.SO_REUSEPORT, "F_SETLKW": unix.F_SETLKW, "POLLIN": unix.POLLIN, "EPOLLET": 1 << 31,
		"SEEK_END": 2, "WNOHANG": unix.WNOHANG, "MSG_PEEK": unix.MSG_PEEK, "INT_MIN": -1 << 31,
		"UINT_MAX": 1<<32 - 1, "LONG_MAX": 1<<63 - 1, "PF_KTHREAD": 0x200000, "CAP_SYS_ADMIN": 21,
	} {
		if got, ok := Constant(name); !ok || got != want {
			t.Errorf("%s: got %d, %v, want %d", name, got, ok, want)
		}
	}
	for _, name := range []string{"", "O_CREA", "CREAT", "64", "O_CREAT 64", "ULONG_MAX"} {
		if v, ok := Constant(name); ok {
			t.Errorf("%q: got %d", name, v)
		}
	}
}

func lineName(s string) string { return s[:strings.IndexByte(s, ' ')] }

func firstValue(s string) int64 {
	v, _ := constantValue("amd64", s[:strings.IndexByte(s, '\n')])
	return v
}

func TestConstantByArch(t *testing.T) {
	for _, c := range []struct {
		name, arch string
		want       int64
		ok         bool
	}{
		{"O_DIRECTORY", "amd64", 0o200000, true}, {"O_DIRECTORY", "arm64", 0o40000, true},
		{"O_LARGEFILE", "amd64", 0o100000, true}, {"MAP_32BIT", "amd64", 0x40, true},
		{"MAP_32BIT", "arm64", 0, false}, {"PROT_BTI", "amd64", 0, false}, {"PROT_BTI", "arm64", 0x10, true},
	} {
		if got, ok := constantFor(c.arch, c.name); got != c.want || ok != c.ok {
			t.Errorf("%s on %s: got %d, %v", c.name, c.arch, got, ok)
		}
	}
}

// All numbers that the C library's table (by way of x/sys) has.
func TestErrnoAndSignalNames(t *testing.T) {
	for n := 1; n < 134; n++ {
		if got, want := ErrnoName(-n), unix.ErrnoName(unix.Errno(n)); got != want && want != "" && !isAlias[want] {
			t.Errorf("%d: got %s, want %s", n, got, want)
		}
	}
	for n := 1; n < 32; n++ {
		if got, want := SignalName(n), unix.SignalName(unix.Signal(n)); got != want {
			t.Errorf("%d: got %s, want %s", n, got, want)
		}
	}
	for n, want := range map[int]string{0: "", 32: "SIGRT_0", 34: "SIGRT_2", 64: "SIGRT_32", 65: ""} {
		if got := SignalName(n); got != want {
			t.Errorf("%d: got %q", n, got)
		}
	}
	if ErrnoName(0) != "" || ErrnoName(512) != "ERESTARTSYS" || ErrnoName(4000) != "" {
		t.Errorf("got %q, %q, %q", ErrnoName(0), ErrnoName(512), ErrnoName(4000))
	}
}

func TestConstantNames(t *testing.T) {
	names := ConstantNames()
	if len(names) < 3000 || !slices.Contains(names, "O_CREAT") {
		t.Errorf("%d names", len(names))
	}
	if got := naming.Suggest("O_CRAET", names); got != "O_CREAT" {
		t.Errorf("got %q", got)
	}
	if got := Constants("SEEK_SE"); !slices.Equal(got, []EnumValue{{"SEEK_SET", 0}}) {
		t.Errorf("got %v", got)
	}
}
