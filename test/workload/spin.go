package main

import (
	"sync/atomic"
	"time"
)

// The work spin: a CPU that is busy.

// spin keeps one CPU busy with several threads, so that each waits for the others, until together they have had it for
// a while. Time that the CPU is away, for other programs or with the whole machine, does not count: else a loaded
// machine could end it before it has run at all.
func spin(_ settings, args []string) (func() (report, error), error) {
	n, length, err := threadsFor(args)
	if err != nil {
		return nil, err
	}
	const comm = "wl-spin"
	return func() (report, error) {
		var had atomic.Int64 // nanoseconds
		tids, err := onThreads(n, comm, false, func(int) error {
			if err := pinTo(0); err != nil {
				return err
			}
			last := time.Now()
			for had.Load() < int64(length) {
				now := time.Now() // the clock is read in user space: no system call
				if gap := now.Sub(last); gap < away {
					had.Add(int64(gap))
				}
				last = now
			}
			return nil
		})
		return report{Comm: comm, TIDs: tids}, err
	}, nil
}

// away is the time between two looks at the clock from which a thread has not had the CPU. The turn of another thread
// is longer: 0.7 ms at least (sysctl_sched_base_slice, kernel/sched/fair.c).
const away = 200 * time.Microsecond
