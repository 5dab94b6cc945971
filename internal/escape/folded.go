package escape

import "strings"

// Names as elements of folded stacks.

// foldedSeparators are what separates names, and the count from them, in a line of folded
// stacks.
var foldedSeparators = strings.NewReplacer(";", ":", " ", "_")

// Unfinished stands, where a stack is one line or a list, for the callers of a stack that nobody could find.
const Unfinished = "…"

// Folded gives a name as an element of folded stacks: without what separates elements
// and the count from them, and escaped as in other output.
func Folded(name string) string { return foldedSeparators.Replace(Line(name)) }
