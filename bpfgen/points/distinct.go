package points

import (
	"fmt"
	"slices"
	"strings"
)

// A point that several patterns of a list match happens once.
//
// A list of points is a set: a point that several of its patterns match happens once for each event. Functions are told
// apart by where they are, for several can have one name, and one can have several; copies that were inlined by what
// debug information says of them, for one can begin where the one around it does. Points of events with functions of
// their own, and spans of the script, are what they are written.

// once reports whether a key was not there yet, and puts it there.
func once(seen map[string]bool, key string) bool {
	known := seen[key]
	seen[key] = true
	return !known
}

func (onePoint) first(t *Target, seen map[string]bool) bool { return once(seen, t.Text) }

func (fs *Functions) first(t *Target, seen map[string]bool) bool {
	if len(fs.Funcs) == 0 {
		return fs.onePoint.first(t, seen)
	}
	key := func(f *Function) string {
		provider, _, _ := strings.Cut(f.Text, ":")
		name := f.Text + " " + f.Place.Module
		if f.User && f.Site == nil {
			name = fs.Binary
		}
		return fmt.Sprintf("%s %s %#x %#x %#x", provider, name, f.Place.Address, f.Place.Offset, f.copied)
	}
	fs.Funcs = slices.DeleteFunc(fs.Funcs, func(f *Function) bool { return seen[key(f)] })
	for _, f := range fs.Funcs {
		seen[key(f)] = true
	}
	return len(fs.Funcs) > 0
}

// otherCalls is in the set of points that all system calls (syscall:*) belong to: it has all others.
const otherCalls = "system calls"
