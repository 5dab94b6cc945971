package render

import (
	"fmt"
	"slices"
)

// The words of --format (`formatNames`), the message about another one, and whether lines of print belong into each.

// Format is an output format (--format).
type Format uint8

// The formats.
const (
	Text Format = iota
	JSON
	CSV
	Folded // stacks as `a;b;c 12`, the input of flame graphs
)

var formatNames = [...]string{"text", "json", "csv", "folded"}

// FormatNames are the words of --format.
func FormatNames() []string { return slices.Clone(formatNames[:]) }

// String gives the word of --format.
func (f Format) String() string { return formatNames[f] }

// ParseFormat reads the word of --format.
func ParseFormat(s string) (Format, error) {
	for i, name := range formatNames {
		if s == name {
			return Format(i), nil
		}
	}
	return Text, fmt.Errorf("--format: unknown format %q (text, json, csv or folded)", s)
}

// TakesLines reports whether print and printf belong into the output.
func (f Format) TakesLines() bool { return f == Text || f == JSON }
