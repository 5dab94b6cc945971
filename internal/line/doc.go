// Package line reads lines from a terminal or a pipe, while output goes above
// the line that is being edited.
//
// The editor is github.com/peterh/liner. It believes that the terminal is its
// own: it reads os.Stdin, prints to os.Stdout, and asks descriptors 0 and 1
// for modes and the width. Here other output comes at any moment, so liner
// gets a terminal of its own, a pseudo terminal with a single row of 65,535
// columns:
//
//	terminal ── keyboard ──> pipe ──> liner ──> pseudo terminal ──> row
//	    ^                                                            │
//	    └──────────── terminal.draw, terminal.Write <────────────────┘
//
// A line never wraps in a row so long. What liner prints is therefore easy to
// follow (row): the characters of one row, and the column of the cursor. The
// line is drawn from that, wrapped for the real width, by the same code that
// takes it away for what is printed above it and draws it again below.
// Nothing has to be guessed, and liner is never asked to draw: neither how
// fast events come nor when the window changes makes a difference to it.
//
// Keys come to liner one line at a time, and only while it waits for a line:
// what is typed ahead can still be taken back by Ctrl-C. On the way they are
// translated (keys.go), since terminals have sequences that liner does not
// know, and pastes.
//
// A block of several lines is one line for liner. Its newlines and tabs are
// two blanks that nobody types (U+1680, U+205F), one column wide like any
// other character there, and shown as what they stand for.
//
// Goroutines: one reads the terminal, one gives keys to liner, one runs liner,
// one reads what liner prints. All methods of a Console are for one goroutine,
// which is told by Wake that there is something to take; liner's question how
// to complete is answered there, too.
package line
