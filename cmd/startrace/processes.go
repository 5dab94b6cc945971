package main

// processLimit is the limit of the processes of a user (`ulimit -u`), and behind it the greatest that it could be set
// to. Threads count as processes. Go's runtime ends with a dump where it cannot start one, at any time. So where the
// limit is low, startrace_entry tries before the runtime begins whether the kernel makes as many processes as a run has
// threads where there are few CPUs. It does so for root whatever the limit says.
var processLimit [2]uint64

// processError is the last error of these tries, below 0.
var processError int64

// fewProcesses is what the user is told if it is EAGAIN.
var fewProcesses = "startrace: the limit of processes and threads (ulimit -u) leaves fewer than 16 for this user, " +
	"which a program of Go needs; raise it: ulimit -u unlimited, or end other processes of this user\n"

// The linker keeps them for the entry alone.
var _, _, _ = processLimit, processError, fewProcesses
