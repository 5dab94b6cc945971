package infer

import (
	"fmt"
	"slices"
	"strings"
)

// A list of points is a set: a point that several of its patterns match happens once for each event. Functions are told
// apart by where they are, for several can have one name, and one can have several. Points of events with functions of
// their own, and spans of the script, are what they are written.

// once reports whether a key was not there yet, and puts it there.
func once(seen map[string]bool, key string) bool {
	known := seen[key]
	seen[key] = true
	return !known
}

func (onePoint) first(t *target, seen map[string]bool) bool { return once(seen, t.text) }

func (fs *functions) first(t *target, seen map[string]bool) bool {
	if len(fs.funcs) == 0 {
		return fs.onePoint.first(t, seen)
	}
	key := func(f *funcPoint) string {
		provider, _, _ := strings.Cut(f.text, ":")
		name := f.text + " " + f.place.Module
		if f.user && f.site == nil {
			name = fs.binary
		}
		return fmt.Sprintf("%s %s %#x %#x", provider, name, f.place.Address, f.place.Offset)
	}
	fs.funcs = slices.DeleteFunc(fs.funcs, func(f *funcPoint) bool { return seen[key(f)] })
	for _, f := range fs.funcs {
		seen[key(f)] = true
	}
	return len(fs.funcs) > 0
}

// otherCalls is in the set of points that syscall:* belongs to: it has all others.
const otherCalls = "syscall:*"
