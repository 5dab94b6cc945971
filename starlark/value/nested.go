package value

import (
	"fmt"
	"sync"
	"unsafe"
	"weak"

	"go.starlark.net/starlark"
)

// Tuples that stand in others several times: how many elements they have in all.
//
// A tuple can stand in another one twice, that one in a third one twice, and so on:
//
//	a = ()
//	for i in range(60):
//	    a = (a, a)
//
// takes no memory, and whoever goes over all of it (the interpreter for a hash or a comparison, what freezes, writes
// or converts a value) never ends. So a tuple or a record is refused where it is made, if it has more than
// mostTogether elements, each counted as often as it stands there. The interpreter writes all of a key that is in no
// dict, and nobody can stop it there: of so many that takes a tenth of a second. Lists and dicts count as one element:
// the interpreter makes no key of them. A tuple without tuples in it can have as many as any list, MostElements.

// CheckNested is an error if v is a tuple or a record with too many elements.
func CheckNested(v starlark.Value) error {
	list := nestedIn(v)
	if len(list) == 0 {
		return nil
	}
	if n := nested.size(list); n > mostTogether && n > len(list) {
		return fmt.Errorf("this would be a %s of more than %d elements, each counted as often as it stands in it, and "+
			"so many are the most: want a list of its parts, which is no part of a key", v.Type(), mostTogether)
	}
	return nil
}

// nestedIn are the elements of a tuple, or the values of a record.
func nestedIn(v starlark.Value) []starlark.Value {
	switch v := v.(type) {
	case starlark.Tuple:
		return v
	case *Record:
		return v.vals
	}
	return nil
}

// largeNested is how many elements are counted anew each time. How many a larger value has is remembered, so that a
// value that grows by one level at a time is not counted over and over.
const largeNested = 1 << 10

// sizes remembers how many elements large values have, as long as they are there.
type sizes struct {
	mu   sync.Mutex
	of   map[sharedList]int
	room int // how many may be remembered before those are dropped that are gone
}

// A sharedList is a list of elements by its place in memory: tuples can share one.
type sharedList struct {
	first weak.Pointer[starlark.Value]
	n     int
}

var nested = sizes{of: make(map[sharedList]int), room: largeNested}

// size is how many elements there are, or more than mostTogether.
func (s *sizes) size(list []starlark.Value) int {
	if left := countWithin(list, largeNested); left >= 0 {
		return largeNested - left
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.large(list)
}

// countWithin takes the elements from what is left. It stops below 0.
func countWithin(list []starlark.Value, left int) int {
	left -= len(list)
	for _, v := range list {
		if left < 0 {
			break
		}
		if parts := nestedIn(v); len(parts) > 0 {
			left = countWithin(parts, left)
		}
	}
	return left
}

func (s *sizes) large(list []starlark.Value) int {
	key := sharedList{weak.Make(unsafe.SliceData(list)), len(list)}
	if n, ok := s.of[key]; ok {
		return n
	}
	n := len(list)
	for _, v := range list {
		if n > mostTogether && n > len(list) {
			break
		}
		parts := nestedIn(v)
		if left := countWithin(parts, largeNested); left >= 0 {
			n += largeNested - left
		} else {
			n += s.large(parts)
		}
	}
	s.remember(key, n)
	return n
}

func (s *sizes) remember(key sharedList, n int) {
	if len(s.of) >= s.room {
		for k := range s.of {
			if k.first.Value() == nil {
				delete(s.of, k)
			}
		}
		s.room = max(largeNested, 2*len(s.of))
	}
	s.of[key] = n
}
