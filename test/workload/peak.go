package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// The work peak: how much memory a command had.

// peakWord is the work of running another command and saying how much memory it had. It has no line of JSON.
const peakWord = "peak"

// peakOf runs a command and writes to a file how many bytes of it were resident at most.
//
// The kernel starts that number at what the process had that forked it. A test has tens of MB, and this process few.
func peakOf(file string, command []string) {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := cmd.Run()
	if cmd.ProcessState == nil {
		fmt.Fprintln(os.Stderr, "workload:", err)
		os.Exit(1)
	}
	usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	err = os.WriteFile(file, fmt.Append(nil, usage.Maxrss<<10), 0o666)
	if !cmd.ProcessState.Exited() {
		err = errors.Join(err, errors.New("a signal ended the command"))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "workload:", err)
		os.Exit(1)
	}
	os.Exit(cmd.ProcessState.ExitCode())
}
