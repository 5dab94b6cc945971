// Package repl is what the prompt is made of, apart from the terminal and the
// tracing: when lines are a whole chunk, completion, and what of a session is
// worth saving.
//
// All of it is plain computation on text.
package repl
