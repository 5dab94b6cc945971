package procs

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// Processes that others have started.

// Descendants are the processes that some processes have started, by whichever of their threads, and those that these
// have started. What an ended process had started is not among them: the kernel gave it to another one.
func Descendants(of []int) []int {
	children := map[int][]int{}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil // then nothing is known of processes here
	}
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			if parent, ok := parentOf(pid); ok {
				children[parent] = append(children[parent], pid)
			}
		}
	}
	var out []int
	met := map[int]bool{}
	for list := of; len(list) > 0; list = list[1:] {
		for _, child := range children[list[0]] {
			if !met[child] {
				met[child] = true
				out, list = append(out, child), append(list, child)
			}
		}
	}
	return out
}

// parentOf is the process whose thread started a process: the number behind the state in stat.
func parentOf(pid int) (parent int, ok bool) {
	fields := statOf(pid)
	if len(fields) < 2 {
		return 0, false
	}
	parent, err := strconv.Atoi(string(fields[1]))
	return parent, err == nil
}

// statOf are the fields of /proc/PID/stat behind the name, from the state on; nil if there is no such process.
func statOf(pid int) [][]byte {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	end := bytes.LastIndexByte(stat, ')') // of the name, which can hold anything
	if err != nil || end < 0 {
		return nil
	}
	return bytes.Fields(stat[end+1:])
}
