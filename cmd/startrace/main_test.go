package main

import (
	"os"
	"os/exec"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/internal/session"
)

func TestMain(m *testing.M) {
	session.MaybeCommand()
	testscript.Main(m, map[string]func(){"startrace": main})
}

// TestCommand runs the scripts in testdata. Those that trace say [!bpf] skip.
func TestCommand(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Condition: func(cond string) (bool, error) {
			return cond == "bpf" && canTrace() || cond == "env-S" && exec.Command("env", "-S", "true").Run() == nil, nil
		},
		Setup: func(e *testscript.Env) error {
			if !canTrace() {
				t.Log("tests that trace are skipped: they need root and a kernel with BTF")
			}
			program, err := os.Executable()
			e.Setenv("PROGRAM", program) // a program that Go built
			return err
		},
	})
}

// canTrace reports whether this process may load programs and knows the
// kernel's types.
func canTrace() bool {
	_, err := os.Stat("/sys/kernel/btf/vmlinux")
	return err == nil && unix.Geteuid() == 0
}
