package main

// What is said where a user may have too few processes.

// processError is the error, below 0, of the try to have as many processes at once as a run has threads where there are
// few CPUs. Threads count as processes. Go's runtime ends with a dump where it cannot start one, at any time. So
// startrace_entry tries before the runtime begins whether the kernel makes so many. Both the limit of a user
// (`ulimit -u`, from which root is free) and that of the control group and of those above it (pids.max) say no by
// EAGAIN, and only a try tells what they leave: a container does not see the groups above its own.
//
// One child is made, which has fifteen threads that wait for nothing. All end with it, and have ended when it has been
// waited for. A chain of sixteen processes would do as well, but takes a third longer, and where CPUs are busy each of
// them waits for its turn; every start pays for that.
var processError int64

// fewProcesses is what the user is told if it is EAGAIN.
var fewProcesses = "startrace: the limit of processes and threads (ulimit -u, or pids.max of the control group) " +
	"leaves fewer than 16, which a program of Go needs; raise it: ulimit -u unlimited, TasksMax= of a unit, " +
	"--pids-limit of a container; or end other processes\n"

// The linker keeps them for the entry alone.
var _, _ = processError, fewProcesses
