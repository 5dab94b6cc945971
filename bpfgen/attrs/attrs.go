// Package attrs knows the names that values have behind a dot in user space: methods, and the members of containers.
// Both halves ask it, so that hasattr means the same in both, and what is certain to fail is said when a script is
// compiled.
package attrs

import (
	"slices"

	"github.com/startrace/startrace/internal/plan"
)

// The names that values, containers and entries of aggregations have behind a dot in user space, as methods of strings
// and `count` of an aggregation.

// Of gives the names that values of a type have, by the interpreter's name for the type. known is false for types whose
// names depend on the value, as a record's.
func Of(typ string) (names []string, known bool) {
	names, known = ofTypes[typ]
	return names, known
}

// Any reports whether values of some type have a name.
func Any(name string) bool {
	for _, names := range ofTypes {
		if slices.Contains(names, name) {
			return true
		}
	}
	return slices.Contains(entryNames, name) || slices.Contains(wholeNames, name)
}

// OfContainer gives what a container has behind a dot, or, of an aggregation, one of its entries.
func OfContainer(c *plan.Container, entry bool) []string {
	if names, ok := ofTypes[c.Kind.String()]; ok {
		return names
	}
	var out []string
	if !entry {
		out = append(out, wholeNames...)
	}
	switch {
	case c.Kind.HasBuckets():
		return append(out, bucketNames...)
	case c.Kind != plan.Group:
		return append(out, entryNames...)
	}
	for _, m := range c.Members {
		out = append(out, m.Name)
	}
	return out
}

// ofTypes are the names by the types of values. The tests compare them with what the interpreter has.
var ofTypes = map[string][]string{
	"int": nil, "bool": nil, "float": nil, "tuple": nil,
	"string": {
		"capitalize", "codepoint_ords", "codepoints", "count", "elem_ords", "elems", "endswith", "find", "format",
		"index", "isalnum", "isalpha",
		"isdigit", "islower", "isspace", "istitle", "isupper", "join", "lower", "lstrip", "partition", "removeprefix",
		"removesuffix", "replace",
		"rfind", "rindex", "rpartition", "rsplit", "rstrip", "split", "splitlines", "startswith", "strip", "title",
		"upper",
	},
	"bytes": {"elems"},
	"list":  {"append", "clear", "extend", "index", "insert", "pop", "remove"},
	"dict":  {"clear", "get", "items", "keys", "pop", "popitem", "setdefault", "update", "values"},
	"stack": {"folded", "merged"},
	"frame": {"addr", "file", "inlined", "line", "module", "name", "offset"},
	"table": {"add", "clear", "get", "items", "keys", "pop", "remove", "set", "values"},
	"cell":  {"add", "get", "set"},
}

// entryNames are those of one entry of an aggregation, bucketNames of one of a histogram, wholeNames of all of it.
var (
	entryNames  = []string{"add", "value"}
	bucketNames = []string{"add", "buckets", "quantile", "value"}
	wholeNames  = []string{"clear", "get", "items", "take"}
)
