// Package session is the run of a script: it ties the script, the compiler,
// the kernel's programs and the output together.
//
// A run goes through these steps, each in a file: the script is run and
// declares (script.go); the command of -c is started but held; the plan is
// compiled, loaded, bound and attached (load.go); events and timers call the
// script's functions until something ends the run (loop.go, dispatch.go);
// what is left is delivered, printed and accounted for (end.go).
//
// At the prompt (package prompt) a script is written while it runs: a Live
// session (live.go) compiles, loads and attaches what each chunk declares
// between two turns of the same loop.
//
// The script and all its callbacks run on one goroutine, that of Run. The
// others wait for signals and the command (outside.go). They only set flags,
// and wake that one.
package session
