package procs

import (
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// What any thread of a process has started is its child, and what that has started is found, too.
func TestDescendants(t *testing.T) {
	runtime.LockOSThread() // the first child is this thread's, which need not be the first
	defer runtime.UnlockOSThread()
	cmd := exec.Command("sh", "-c", "exec 3<&0; cat <&3 & echo $!; wait")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer in.Close()
	if _, err := out.Read(make([]byte, 16)); err != nil { // the second one is there
		t.Fatal(err)
	}
	all := Descendants([]int{os.Getpid()})
	below := Descendants([]int{cmd.Process.Pid})
	if !slices.Contains(all, cmd.Process.Pid) || len(below) != 1 || !slices.Contains(all, below[0]) {
		t.Errorf("descendants %v, those of %d are %v", all, cmd.Process.Pid, below)
	}
}

// Containers are found by how their ids begin in names of cgroups as Docker, containerd, CRI-O and Podman write them.
func TestContainers(t *testing.T) {
	tree := t.TempDir()
	ids := map[string]string{}
	for i, name := range []string{"docker/%s/init", "system.slice/docker-%s.scope",
		"kubepods.slice/kubepods-pod1.slice/cri-containerd-%s.scope", "kubepods/besteffort/pod2/%s/sub",
		"libpod-%s.scope/container"} {
		id := strings.Repeat(hex.EncodeToString([]byte{byte(i + 17)}), 32)
		path := filepath.Join(tree, strings.ReplaceAll(name, "%s", id))
		if err := os.MkdirAll(path, 0o755); err != nil {
			t.Fatal(err)
		}
		ids[id] = name
	}
	if err := os.Mkdir(filepath.Join(tree, "libpod-conmon-"+strings.Repeat("ab", 32)+".scope"), 0o755); err != nil {
		t.Fatal(err)
	}
	got := containers(tree)
	if len(got) != len(ids) {
		t.Errorf("%d containers %v, want %d", len(got), got, len(ids))
	}
	for _, c := range got {
		if ids[c.id] == "" || !strings.HasSuffix(strings.TrimSuffix(c.folder, ".scope"), c.id) {
			t.Errorf("container %+v", c)
		}
	}
}

// What is not there is named with what is.
func TestScopeMistakes(t *testing.T) {
	for _, tt := range []struct {
		find func() error
		want string
	}{
		{func() error { _, err := FindUser("nobody-of-that-name"); return err },
			"/etc/passwd has no user nobody-of-that-name; there are "},
		{func() error { _, err := FindUser("4294967295"); return err }, "users have numbers from 0 to 4294967294"},
		{func() error { _, err := FindUser("99999999999999999999"); return err }, "users have numbers from 0 to"},
		{func() error { _, err := FindUser("-1"); return err }, "got -1: users have numbers from 0 to 4294967294"},
		{func() error { _, err := FindContainer("not-hex"); return err }, "container"},
		{func() error { _, err := FindCgroup("/there/is/none"); return err }, "cgroup"},
	} {
		if err := tt.find(); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("got %v, want %q", err, tt.want)
		}
	}
	if uid, err := FindUser("4711"); err != nil || uid != 4711 {
		t.Errorf("user 4711 is %d, %v", uid, err)
	}
}
