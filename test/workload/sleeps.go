package main

import "golang.org/x/sys/unix"

// The work sleeps: many threads that sleep at once.

// sleeps makes threads wait for the same moment, so that as many calls of clock_nanosleep are open then.
func sleeps(s settings, args []string) (func() (report, error), error) {
	n, long, err := threadsFor(args)
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
		tids, err := onThreads(n, comm, s.pin, func(int) error {
			for { // not raw: Go's runtime interrupts what holds one of its processors for long
				if err := unix.ClockNanosleep(unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, &until,
					nil); err != unix.EINTR {
					return err
				}
			}
		})
		return report{Comm: comm, Calls: n, TIDs: tids}, err
	}, nil
}
