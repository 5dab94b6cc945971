package point

import "github.com/startrace/startrace/internal/kernel"

// The row of iter: in the table of kinds: form, examples, what its events have, what the kernel must have.

var byIterator = &Way{Name: kernel.WayIterator, Use: "iter:", Since: "5.8"}

// Iterators go over lists of the kernel's.
var Iterators = &Family{Name: "iterators", Kinds: []*Kind{{
	Name: "iter", Short: "it",
	Form: "KIND", Wanted: "NAME",
	What:     "iterators of the kernel: one event for each object that it has",
	Examples: []string{"iter:task"},
	Gives:    []string{"args"},
	Set:      "iterators", Bare: true, Few: true,
	ListedBy: BTF, Ways: []*Way{byIterator},
}}}
