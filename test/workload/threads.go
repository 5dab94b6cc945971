package main

import (
	"errors"
	"fmt"
	"runtime"
	"sync"

	"golang.org/x/sys/unix"
)

// Work on several threads of known names.

// onThreads runs do on n threads of the kernel's, which bear the name comm while they do, and returns their ids by
// index. All of them are ready before the first begins. do must make its system calls raw.
func onThreads(n int, comm string, pin bool, do func(thread int) error) ([]int, error) {
	// A raw system call keeps its processor of Go's; with one for each thread the kernel alone decides who runs.
	runtime.GOMAXPROCS(max(n+1, runtime.GOMAXPROCS(0)))
	tids, errs := make([]int, n), make([]error, n)
	var ready, done sync.WaitGroup
	ready.Add(n)
	start := make(chan struct{})
	for i := range n {
		done.Go(func() {
			runtime.LockOSThread() // never unlocked: the thread, with its name, ends with the goroutine
			tids[i] = unix.Gettid()
			errs[i] = prepare(i, comm, pin)
			ready.Done()
			<-start
			if errs[i] == nil {
				errs[i] = do(i)
			}
		})
	}
	ready.Wait()
	close(start)
	done.Wait()
	return tids, errors.Join(errs...)
}

// prepare names the calling thread and, with pin, binds it to a CPU.
func prepare(thread int, comm string, pin bool) error {
	name, err := unix.BytePtrFromString(comm)
	if err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_NAME, uintptr(pointer(name)), 0, 0, 0); err != nil {
		return fmt.Errorf("name a thread: %w", err)
	}
	if !pin {
		return nil
	}
	return pinTo(thread % runtime.NumCPU())
}

// pinTo binds the calling thread to one CPU.
func pinTo(cpu int) error {
	var set unix.CPUSet
	set.Set(cpu)
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("bind a thread to CPU %d: %w", cpu, err)
	}
	return nil
}

// share is the part of n that falls to one of several threads; the first ones take what is left over.
func share(n, threads, thread int) int {
	part := n / threads
	if thread < n%threads {
		part++
	}
	return part
}
