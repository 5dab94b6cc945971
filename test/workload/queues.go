package main

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// The work queues: message queues and pipes.

// queues makes N message queues, which stay when it has ended, and N pipes, which do not.
func queues(s settings, args []string) (func() (report, error), error) {
	n, err := numbers(args, 1, 1)
	if err != nil {
		return nil, err
	}
	return func() (report, error) {
		done := report{Comm: "wl-queues", Calls: n[0]}
		done.TIDs, err = onThreads(1, done.Comm, s.pin, func(int) error { return makeQueues(n[0]) })
		return done, err
	}, nil
}

func makeQueues(n int) error {
	for range n {
		if _, _, errno := unix.Syscall(unix.SYS_MSGGET, 0, 0o600, 0); errno != 0 { // IPC_PRIVATE
			return fmt.Errorf("msgget: %w", errno)
		}
		var pipe [2]int
		if err := unix.Pipe2(pipe[:], 0); err != nil {
			return err
		}
		if err := errors.Join(unix.Close(pipe[0]), unix.Close(pipe[1])); err != nil {
			return err
		}
	}
	return nil
}
