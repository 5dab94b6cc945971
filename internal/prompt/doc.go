// Package prompt is the prompt: a script that is typed while it runs.
//
// Each chunk that was typed is run, and its probes are compiled, loaded and
// attached (chunk.go), between two turns of the loop in which events are
// delivered (prompt.go). A name that is set anew is set for what uses it, too
// (redefine.go). The command of -c waits for go() (command.go).
//
// The prompt talks to the run by the interface Session, and to the terminal by
// package line.
package prompt
