package procs

import (
	"errors"
	"fmt"
	"os"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/startrace/startrace/internal/bpf"
)

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

// ErrNamespace says that the number of a process in the initial pid namespace
// cannot be known from inside of another one: /proc shows numbers only from
// the namespace it was mounted in downwards.
var ErrNamespace = errors.New("startrace runs in a pid namespace of its own (a container) and cannot know the number that the kernel uses for this process")

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
	pid, err := bpf.Run(int(who.Fd()), nil)
	return int(pid), err
}

// InitPID is the number in the initial pid namespace of the process that has
// the number pid here. For another process than this one it fails with
// ErrNamespace outside of the initial namespace.
func InitPID(pid int) (int, error) {
	if pid == os.Getpid() {
		return SelfInitPID()
	}
	initial, err := inInitialNamespace()
	switch {
	case err != nil:
		return 0, err
	case !initial:
		return 0, fmt.Errorf("process %d: %w", pid, ErrNamespace)
	}
	if _, err := os.Stat(fmt.Sprintf("/proc/%d", pid)); errors.Is(err, os.ErrNotExist) {
		return 0, fmt.Errorf("there is no process %d", pid)
	}
	return pid, nil
}

// loadWhoami loads a program that returns the number of the process that runs
// it by test run.
func loadWhoami() (*os.File, error) {
	fd, err := bpf.Load(&bpf.Program{Name: "whoami", Type: ebpf.RawTracepoint, Instructions: asm.Instructions{
		asm.FnGetCurrentPidTgid.Call(), asm.RSh.Imm(asm.R0, 32), asm.Return(),
	}}, nil)
	if err != nil {
		return nil, fmt.Errorf("program that finds the number of a process: %w", err)
	}
	return os.NewFile(uintptr(fd), "whoami"), nil
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
