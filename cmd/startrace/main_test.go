package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/session"
)

func TestMain(m *testing.M) {
	session.MaybeCommand()
	testscript.Main(m, map[string]func(){"startrace": main})
}

// TestCommand runs the scripts in testdata. Those that trace say [!bpf] skip.
func TestCommand(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:  "testdata",
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"whole": whole},
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "bpf":
				return canTrace(), nil
			case "env-S":
				return exec.Command("env", "-S", "true").Run() == nil, nil
			case "counts": // the kernel what it drops itself; else the end of a run says that it does not
				v, err := kernel.Release()
				return err != nil || v.AtLeast(5, 12), nil
			case "skips":
				return skips(t), nil
			}
			return false, fmt.Errorf("unknown condition %s", cond)
		},
		Setup: func(e *testscript.Env) error {
			if !canTrace() {
				t.Log("the parts that trace are skipped:", needsTypes)
			}
			program, err := os.Executable()
			e.Setenv("PROGRAM", program) // a program that Go built
			return err
		},
	})
}

// whole runs a command as exec does, and again while the kernel is said to have skipped events: what is compared with a
// known answer is to be all of it. A kernel that skips in ten runs fails the comparison. What stdin gives, the first
// run takes.
func whole(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: whole COMMAND…")
	}
	for range 10 {
		ts.Check(ts.Exec(args[0], args[1:]...))
		if !strings.Contains(ts.ReadFile("stderr"), "the kernel skips") {
			return
		}
	}
}

// skips reports whether this kernel skips a program while a preempted task is in
// it, and counts that.
func skips(t *testing.T) bool {
	t.Helper()
	release, err := kernel.Release()
	if err != nil {
		t.Fatal(err)
	}
	return release.AtLeast(6, 19)
}

// needsTypes is why a test is skipped where canTrace is false.
const needsTypes = "needs root and BTF of the kernel (CONFIG_DEBUG_INFO_BTF, /sys/kernel/btf/vmlinux)"

// canTrace reports whether this process may load programs and knows the
// kernel's types.
func canTrace() bool {
	_, err := os.Stat("/sys/kernel/btf/vmlinux")
	return err == nil && unix.Geteuid() == 0
}
