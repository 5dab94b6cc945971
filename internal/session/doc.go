// Package session is the run of a script: it ties the script, the compiler,
// the kernel's programs and the output together.
//
// A run goes through these steps, each in a file: the script is run and
// declares (script.go); the command of -c is started but held; the plan is
// compiled, loaded, bound and attached (load.go); events and timers call the
// script's functions until something ends the run (loop.go, dispatch.go);
// what is left is delivered, printed and accounted for (end.go).
//
// At the prompt (prompt.go) a script is typed while it runs: each chunk is run,
// compiled, loaded and attached between two turns of the same loop.
//
// The script and all its callbacks run on one goroutine, that of Run. The
// others wait for signals and the command (outside.go), at the prompt for keys
// (package line) and what the command prints (promptcommand.go). They only set
// flags, or fill a buffer behind a lock, and wake that one.
package session
