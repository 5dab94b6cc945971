// Package repl is what the prompt is made of, apart from the terminal and the
// tracing: keys out of bytes, the line that is edited, how it is drawn and
// erased, when lines are a whole chunk, completion, history, and what of a
// session is worth saving.
//
// All of it is plain computation: the session reads and writes the terminal.
package repl
