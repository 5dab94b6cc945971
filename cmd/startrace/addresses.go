package main

import "golang.org/x/sys/unix"

// What is said where limits of addresses are too small for Go's runtime.

// A limit is one of this process for which startrace_entry asks before Go's runtime begins: with less the runtime ends
// with a dump, and the user is told what to do instead.
type limit struct {
	// resource is the kernel's number for it (RLIMIT_…).
	resource uint64
	// least is how many bytes a program of Go begins with at least.
	least uint64
	// refusal is what the user is told below that.
	refusal string
}

// limitCount is how many there are, for the entry.
const limitCount = 2

// limits are those that are asked for. The runtime reserves addresses first of all: it takes 512 MB, then 512 MB if it
// can have them, then 100 MB. What this process can write that no other has is its data: the runtime begins with 64 MB
// of heap, and takes 64 MB more when these are full.
var limits = [limitCount]limit{
	{unix.RLIMIT_AS, 1400000 << 10, "startrace: the limit of addresses (ulimit -v) is below 1400000 KB, which a " +
		"program of Go needs before it begins; raise it: ulimit -v unlimited\n"},
	{unix.RLIMIT_DATA, 200000 << 10, "startrace: the limit of data (ulimit -d) is below 200000 KB, which a program " +
		"of Go needs; raise it: ulimit -d unlimited\n"},
}

// limitNow is the limit that was asked for last, and behind it the greatest that it could be set to.
var limitNow [2]uint64

// The linker keeps them for the entry alone.
var _, _ = limits, limitNow
