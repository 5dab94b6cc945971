// Package attach turns a compiled unit into running programs: it creates the
// maps, loads the programs, attaches them to their points, and tells what was
// lost while they ran.
//
// A Loaded owns all descriptors that it hands out. Its methods are called from one goroutine. What is detached is
// closed in the background, because the kernel waits for grace periods when it releases a perf tracepoint. That can go
// on from the first call of Disable, DetachProbe or CPUWent until Close returns.
//
// Nothing here reads the kernel's BTF. What the kernel refuses is explained after the refusal. What it can do is tried
// only for those who ask (Features, Try).
//
// Where to begin to read: load.go makes the maps and loads the programs, attach.go attaches them and says in which
// order, loss.go says what is counted as lost.
package attach
