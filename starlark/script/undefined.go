package script

import (
	"errors"

	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// Names that nothing defines are found without a search among all names.
//
// The resolver looks for a name that is like an undefined one among all names of the
// file, which it sorts each time. That is done for the first undefined names only; the
// others count as known, and are found in the tree afterwards.

// mostSought bounds the names that the resolver seeks something like.
const mostSought = 20

// A nameCheck stands between the resolver and the names that are known.
type nameCheck struct {
	known  func(string) bool
	sought int
	missed map[string]bool // what the resolver was told is there
}

func newNameCheck(known func(string) bool) *nameCheck {
	return &nameCheck{known: known, missed: map[string]bool{}}
}

// has is what the resolver asks.
func (c *nameCheck) has(name string) bool {
	switch {
	case c.missed[name] || c.known(name):
		return true
	case starlark.Universe.Has(name):
		return false
	case c.sought < mostSought:
		c.sought++
		return false
	}
	c.missed[name] = true
	return true
}

// errors adds the places of the names that were missed to what the resolver found.
func (c *nameCheck) errors(tree *syntax.File, err error) error {
	var list resolve.ErrorList
	if len(c.missed) == 0 || err != nil && !errors.As(err, &list) {
		return err
	}
	told := map[string]bool{} // the resolver, too, tells of the first use
	syntax.Walk(tree, func(n syntax.Node) bool {
		id, ok := n.(*syntax.Ident)
		if !ok || !c.missed[id.Name] || told[id.Name] {
			return true
		}
		if b, ok := id.Binding.(*resolve.Binding); ok && b.Scope == resolve.Predeclared {
			told[id.Name] = true
			list = append(list, resolve.Error{Pos: id.NamePos, Msg: "undefined: " + id.Name})
		}
		return true
	})
	return list
}
