package procs

import (
	"bytes"
	"fmt"
	"os"
)

// Whether a process of a number runs no more.

// Ended reports whether the process of that number, as the kernel counts, runs no more, be it that nobody has waited
// for it yet. From inside of another namespace it cannot be known: false.
func Ended(pid int) bool {
	if ThreadEnded(pid) {
		return true
	}
	if initial, err := inInitialNamespace(); err != nil || !initial {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return os.IsNotExist(err)
	}
	end := bytes.LastIndexByte(stat, ')') // of the name, which can hold anything
	if end < 0 || end+2 >= len(stat) || stat[end+2] != 'Z' && stat[end+2] != 'X' {
		return false
	}
	threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	return err != nil || len(threads) <= 1 // others can outlive the first one
}
