// Package script runs scripts and gives the compiler what they declared.
//
// The interpreter of go.starlark.net is used, but files are parsed here: the
// syntax trees are kept, because functions are compiled for the kernel from
// them. A function value is found in its tree by the line and column of its
// position, and its captured variables are read from the value. The globals
// of a script are not frozen: callbacks may change what they refer to.
//
// The order of things: New, RunFile or RunCode, which run the script once
// from one goroutine; Plan, which completes the plan; the compiler; then
// Specialise for each user half that the compiler made, which gives functions
// that read the event's captured fields; the session calls these.
package script
