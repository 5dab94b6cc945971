package points

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// A point that several patterns of a list match happens once.
//
// A list of points is a set: a point that several of its patterns match happens once for each event. Functions are told
// apart by where they are, for several can have one name, and one can have several, as a file can have several paths. A
// line is none with the function that begins there, nor with another line. Copies that were inlined are told apart by
// what debug information says of them, for one can begin where the one around it does. Points of events with functions
// of their own, and spans of the script, are what they are written.

// A pointSet are the points of a list so far.
type pointSet struct {
	// names has, by the key of a point, the name of its function, "" where it is none.
	names map[string]string
	// aliases is told the functions of a target that the list has already under other names.
	aliases func(t *Target, same []alias)
}

// An alias is a function that a list has under two names: name is the one that e.func gives, and other is left out.
type alias struct{ name, other string }

// has reports whether a key is there.
func (s *pointSet) has(key string) bool {
	_, known := s.names[key]
	return known
}

// once reports whether a key was not there yet, and puts it there.
func (s *pointSet) once(key string) bool {
	known := s.has(key)
	s.names[key] = ""
	return !known
}

func (onePoint) first(t *Target, seen *pointSet) bool { return seen.once(t.Text) }

func (fs *Functions) first(t *Target, seen *pointSet) bool {
	if len(fs.Funcs) == 0 {
		return fs.onePoint.first(t, seen)
	}
	key := func(f *Function) string {
		provider, _, _ := strings.Cut(f.Text, ":")
		name := f.Text + " " + f.Place.Module
		switch {
		case f.Site != nil:
			name = fs.Same + " " + f.Place.Func
		case f.User:
			name = fs.Same
		}
		if f.HasVariables() { // a line or another place, which is none that begins the function
			name += " at " + path.Base(f.Source)
		}
		return fmt.Sprintf("%s %s %#x %#x %#x", provider, name, f.Place.Address, f.Place.Offset, f.copied)
	}
	var same []alias
	fs.Funcs = slices.DeleteFunc(fs.Funcs, func(f *Function) bool {
		k := key(f)
		known, name := seen.has(k), seen.names[k]
		if known && name != f.Name {
			same = append(same, alias{name, f.Name})
		}
		return known
	})
	for _, f := range fs.Funcs {
		seen.names[key(f)] = f.Name
	}
	if len(same) > 0 {
		seen.aliases(t, same)
	}
	return len(fs.Funcs) > 0
}

// otherCalls is in the set of points that all system calls (syscall:*) belong to: it has all others.
const otherCalls = "system calls"

// oneFunction says that a function has other names.
func oneFunction(name, others string) string {
	return fmt.Sprintf("%s and %s are one function: e.func is %s", name, others, name)
}
