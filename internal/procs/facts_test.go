package procs

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestFacts(t *testing.T) {
	pid := os.Getpid()
	if exe, ok := Link(pid, "exe"); !ok || exe == "" {
		t.Errorf("exe is %q, %v", exe, ok)
	}
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if cwd, ok := Link(pid, "cwd"); !ok || cwd != wd {
		t.Errorf("cwd is %q, want %q", cwd, wd)
	}
	if words := Cmdline(pid); !slices.Equal(words, os.Args) {
		t.Errorf("cmdline is %q, want %q", words, os.Args)
	}
	f, err := os.Open("facts_test.go")
	if os.IsNotExist(err) { // in a guest
		f, err = os.Open(os.Args[0])
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	files, ok := Open(pid)
	fd := strconv.Itoa(int(f.Fd()))
	i := slices.IndexFunc(files, func(o OpenFile) bool { return o.FD == fd })
	if !ok || i < 0 || !strings.HasSuffix(files[i].To, strings.TrimPrefix(f.Name(), "./")) {
		t.Errorf("descriptor %s is not among %v", fd, files)
	}
	const gone = 1 << 22 // above pid_max
	if _, ok := Link(gone, "exe"); ok || Cmdline(gone) != nil {
		t.Error("a process that is not there has facts")
	}
	if _, ok := Open(gone); ok {
		t.Error("a process that is not there has descriptors")
	}
	if _, ok := Cgroup(gone); ok {
		t.Error("a process that is not there has a cgroup")
	}
}

func TestContainerOf(t *testing.T) {
	id := strings.Repeat("0123456789abcdef", 4)
	for path, want := range map[string]string{
		"/": "", "/user.slice/session-1.scope": "",
		"/system.slice/docker-" + id + ".scope":                id,
		"/docker/" + strings.Repeat("f", 64) + "/docker/" + id: id,
	} {
		if got := ContainerOf(path); got != want {
			t.Errorf("%s is of %q, want %q", path, got, want)
		}
	}
}
