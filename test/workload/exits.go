package main

import (
	"fmt"
	"os"
	"strconv"
)

// The work exits: processes that end with known numbers.

const exitWord = "-exit-as"

// exits starts N processes, one after the other.
func exits(_ settings, args []string) (func() (report, error), error) {
	return processes(args, "wl-exits", "wl-exits", exitWord)
}

// processes is work that runs N processes, one after the other: this program as first, with a word and a number below
// 256, with which each is to end.
func processes(args []string, comm, first, word string) (func() (report, error), error) {
	n, err := numbers(args, 1, 1)
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return func() (report, error) {
		done := report{Comm: comm, Calls: n[0]}
		for i := range n[0] {
			process, err := os.StartProcess(self, []string{first, word, strconv.Itoa(i % 256)}, &os.ProcAttr{})
			if err != nil {
				return done, err
			}
			state, err := process.Wait()
			if err != nil {
				return done, err
			}
			if state.ExitCode() != i%256 {
				return done, fmt.Errorf("process %d ended with %v", process.Pid, state)
			}
			done.TIDs = append(done.TIDs, process.Pid)
		}
		return done, nil
	}, nil
}

// exitAs is what such a process does: it takes its name and ends.
func exitAs(status string) {
	code, err := strconv.Atoi(status)
	if err != nil || prepare(0, "wl-exits", false) != nil {
		os.Exit(255)
	}
	os.Exit(code)
}
