// Package session is the run of a script: it ties the script, the compiler,
// the kernel's programs and the output together.
//
// A run goes through these steps: the script is run and declares (script.go);
// the command of -c is started but held (package target); the plan becomes a part (package parts),
// which is compiled, loaded, bound and attached (package loading);
// events and timers call the script's functions until something ends the run
// (loop.go, packages delivery and callback); what is left is delivered, printed and
// accounted for (end.go, report.go, package ending). What can get points later gets parts of
// its own (package changes).
//
// At the prompt (package prompt) a script is written while it runs: a Live
// session (live.go) compiles, loads and attaches what each chunk declares
// between two turns of the same loop.
//
// The script and all its callbacks run on one goroutine, that of Run. The
// others wait for signals and the command (signals.go, package target). They only set flags,
// and wake that one.
//
// Files build on each other in one direction: what a part, a target, a delivery
// or a loader is knows nothing of the session, which new.go puts together.
package session
