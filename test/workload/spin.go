package main

import (
	"fmt"
	"time"
)

// spin keeps one CPU busy with several threads, so that each waits for the others.
func spin(_ settings, args []string) (func() (report, error), error) {
	if len(args) != 2 {
		return nil, fmt.Errorf("spin takes a number of threads and a duration")
	}
	n, err := numbers(args[:1], 1, 1)
	if err != nil {
		return nil, err
	}
	length, err := time.ParseDuration(args[1])
	if err != nil {
		return nil, err
	}
	const comm = "wl-spin"
	return func() (report, error) {
		end := time.Now().Add(length)
		tids, err := onThreads(n[0], comm, false, func(int) error {
			if err := pinTo(0); err != nil {
				return err
			}
			for time.Now().Before(end) { // the clock is read in user space: no system call
			}
			return nil
		})
		return report{Comm: comm, TIDs: tids}, err
	}, nil
}
