package main

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// sleeps makes N threads wait for the same moment, so that N calls of clock_nanosleep are open then.
func sleeps(s settings, args []string) (func() (report, error), error) {
	if len(args) != 2 {
		return nil, fmt.Errorf("sleeps takes a number of threads and a duration")
	}
	n, err := numbers(args[:1], 1, 1)
	if err != nil {
		return nil, err
	}
	long, err := time.ParseDuration(args[1])
	if err != nil {
		return nil, err
	}
	const comm = "wl-sleeps"
	return func() (report, error) {
		var now unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
			return report{}, err
		}
		until := unix.NsecToTimespec(now.Nano() + long.Nanoseconds())
		tids, err := onThreads(n[0], comm, s.pin, func(int) error {
			for { // not raw: Go's runtime interrupts what holds one of its processors for long
				if err := unix.ClockNanosleep(unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, &until, nil); err != unix.EINTR {
					return err
				}
			}
		})
		return report{Comm: comm, Calls: n[0], TIDs: tids}, err
	}, nil
}
