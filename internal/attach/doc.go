// Package attach turns a compiled unit into running programs: it creates the
// maps, loads the programs, attaches them to their points, and tells what was
// lost while they ran.
//
// A Loaded owns all descriptors that it hands out. Its methods are called
// from one goroutine; closing goes on in the background between Disable and
// the end of Close, because the kernel waits for grace periods when it releases
// a perf tracepoint.
//
// Nothing here reads the kernel's BTF, and what the kernel refuses is explained
// after the refusal; what it can do is tried only for those who ask (Features, Try).
package attach
