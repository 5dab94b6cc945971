package main

import (
	"bytes"
	"errors"
	"io"

	"github.com/startrace/startrace/internal/session"
)

// A text of a command is printed, and what a full disk means for the exit code.

// printed puts what fill writes on standard output, and gives the exit code: a
// text of which not all could be written, as on a full disk, is a failure.
func printed(o session.Options, fill func(io.Writer) error) int {
	var text bytes.Buffer
	err := fill(&text)
	_, unwritten := o.Stdout.Write(text.Bytes())
	return report(session.Done, errors.Join(err, unwritten))
}

// always is a text that there always is.
func always(fill func(io.Writer)) func(io.Writer) error {
	return func(w io.Writer) error {
		fill(w)
		return nil
	}
}
