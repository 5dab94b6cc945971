package procs

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/startrace/startrace/internal/bpf"
)

// Numbers of processes in the initial pid namespace.

// initialNamespace is the link of the initial pid namespace: its inode has a
// fixed number (PROC_PID_INIT_INO, include/linux/proc_ns.h).
const initialNamespace = "pid:[4026531836]"

func inInitialNamespace() (bool, error) {
	link, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return false, fmt.Errorf("find the pid namespace: %w", err)
	}
	return link == initialNamespace, nil
}

// SelfInitPID is this process's number in the initial pid namespace. Outside
// of that it takes the right to load programs.
func SelfInitPID() (int, error) {
	initial, err := inInitialNamespace()
	if err != nil {
		return 0, err
	}
	if initial {
		return os.Getpid(), nil
	}
	who, err := loadWhoami()
	if err != nil {
		return 0, err
	}
	defer who.Close()
	pid, err := bpf.Run(who.Program, nil)
	return int(pid), err
}

// leaderOf is the process that a thread belongs to: itself, where it is one.
func leaderOf(tid int) (pid int, ok bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", tid))
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(text)) {
		if n, err := fmt.Sscanf(line, "Tgid: %d", &pid); n == 1 && err == nil {
			return pid, true
		}
	}
	return 0, false
}

// A whoami is a program that returns the number of the process that runs it by
// test run.
type whoami struct{ *ebpf.Program }

// Fd is its descriptor, for a child.
func (w whoami) Fd() uintptr { return uintptr(w.FD()) }

func loadWhoami() (whoami, error) {
	p, err := bpf.Load(&bpf.Program{Name: "whoami", Type: ebpf.RawTracepoint, Instructions: asm.Instructions{
		asm.FnGetCurrentPidTgid.Call(), asm.RSh.Imm(asm.R0, 32), asm.Return(),
	}}, nil)
	if err != nil {
		return whoami{}, fmt.Errorf("program that finds the number of a process: %w", err)
	}
	return whoami{p}, nil
}

// ThreadEnded reports whether there is no thread of that number, as the kernel
// counts, any more. From inside of another namespace it cannot be known: false.
func ThreadEnded(tid int) bool {
	initial, err := inInitialNamespace()
	if err != nil || !initial {
		return false
	}
	_, err = os.Stat(fmt.Sprintf("/proc/%d", tid))
	return errors.Is(err, os.ErrNotExist)
}
