package accept

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/cilium/ebpf"
)

// A probe is switched off, on and detached at the prompt, with calls of known number after each; nothing stays in the
// kernel. (S4-02)
func TestToggleAtPrompt(t *testing.T) {
	needTracing(t)
	needGuest(t)
	const calls = 100
	call := fmt.Sprintf("run([%q, \"-report\", \"/dev/null\", \"getppid\", \"%d\"])\n", program(t, "workload"), calls)
	cmd := exec.Command(program(t, "startrace"), "--allow-run")
	var stdout, stderr strings.Builder
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(`n = count()
p = probe("syscall:getppid", lambda e: n.add(), where = lambda e: e.comm == "wl-getppid")
p.disable()
x = `+call+`print("off", n.value)
p.enable()
x = `+call+`print("on", n.value)
p.detach()
x = `+call+`print("detached", n.value)
`), &stdout, &stderr
	before := programs(t)
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	e := ended{stdout: stdout.String(), stderr: stderr.String()}
	e.has(t, `(?m)^off 0$`)
	checkAccount(t, e, number(t, e.stdout, `(?m)^on (\d+)$`), calls)
	checkAccount(t, e, number(t, e.stdout, `(?m)^detached (\d+)$`), calls)
	awaitUnloaded(t, before)
}

// awaitUnloaded waits until no programs are loaded but those that were before. Since 6.13 the kernel drops a link's
// program only a grace period after the link is gone, so it can outlive the process (bpf_link_dealloc,
// kernel/bpf/syscall.c).
func awaitUnloaded(t *testing.T, before map[ebpf.ProgramID]string) {
	t.Helper()
	began := time.Now()
	for ; ; time.Sleep(10 * time.Millisecond) {
		left := programs(t)
		for id := range before {
			delete(left, id)
		}
		if len(left) == 0 {
			t.Logf("the last program went within %v of the end of the process", time.Since(began))
			return
		}
		if time.Since(began) > limit {
			t.Fatalf("programs are still loaded: %v", left)
		}
	}
}

// programs are those in the kernel, with their names.
func programs(t *testing.T) map[ebpf.ProgramID]string {
	t.Helper()
	out := map[ebpf.ProgramID]string{}
	for id := ebpf.ProgramID(0); ; {
		next, err := ebpf.ProgramGetNextID(id)
		if errors.Is(err, os.ErrNotExist) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		id = next
		p, err := ebpf.NewProgramFromID(id)
		if errors.Is(err, os.ErrNotExist) {
			continue // it has just gone
		}
		if err != nil {
			t.Fatal(err)
		}
		info, err := p.Info()
		p.Close()
		if err != nil {
			t.Fatal(err)
		}
		out[id] = info.Name
	}
}
