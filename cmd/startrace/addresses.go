package main

// addressLimit is the limit of the address space of this process (`ulimit -v`), and
// behind it the greatest that it could be set to. startrace_entry asks for it before
// Go's runtime begins, which reserves addresses first of all, and ends with a dump
// where there are too few: it takes 512 MB, then 512 MB if it can have them, then 100 MB.
// It is below leastAddresses in entry_amd64.s and entry_arm64.s then.
var addressLimit [2]uint64

// fewAddresses is what the user is told instead.
var fewAddresses = "startrace: the limit of addresses (ulimit -v) is below 1400000 KB, which a program of Go needs " +
	"before it begins; raise it: ulimit -v unlimited\n"

// dataLimit is the limit of what this process can write that no other has (`ulimit -d`, RLIMIT_DATA), and behind it the
// greatest that it could be set to. The runtime begins with 64 MB of heap, and takes 64 MB more when these are full.
var dataLimit [2]uint64

// littleData is what the user is told if it is below what entry_amd64.s and entry_arm64.s have.
var littleData = "startrace: the limit of data (ulimit -d) is below 200000 KB, which a program of Go needs; raise " +
	"it: ulimit -d unlimited\n"

// The linker keeps them for the entry alone.
var _, _, _, _ = addressLimit, fewAddresses, dataLimit, littleData
