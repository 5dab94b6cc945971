// Package persistent has maps of which a copy costs nothing.
//
// A compiler keeps the variables as they are at each branch, and looks
// afterwards for those that the two branches have changed. With copies a
// program of n branches would take n² steps for that.
//
// A Map is a hash array mapped trie (Bagwell, 2001). Nothing in it ever changes.
// A change makes the nodes on the path to its entry anew, and shares the others.
// So an assignment of a Map copies it, and Diff passes by what two maps share.
package persistent

import (
	"hash/maphash"
	"math/bits"
)

// Maps of which a copy costs nothing, for variables at branches.

// A Map has values by keys. The zero Map is empty; assigning one copies it. Maps
// that were copied can be changed at the same time.
type Map[K comparable, V any] struct {
	root slot[K, V]
	n    int
}

// A slot is nothing, an entry or a node with further slots.
type slot[K comparable, V any] struct {
	entry *entry[K, V]
	node  *node[K, V]
}

type entry[K comparable, V any] struct {
	hash uint64
	key  K
	v    V
	next *entry[K, V] // has the same hash
}

// A node has a slot for each bit of used, in their order. Which bit it is say
// fanBits bits of the hash.
type node[K comparable, V any] struct {
	used  uint32
	slots []slot[K, V]
}

const fanBits = 5

var seed = maphash.MakeSeed()

// Len is the number of entries.
func (m Map[K, V]) Len() int { return m.n }

// Get gives the value of k, and whether there is one.
func (m Map[K, V]) Get(k K) (V, bool) {
	h := maphash.Comparable(seed, k)
	s := m.root
	for shift := 0; s.node != nil; shift += fanBits {
		s, _ = s.node.at(h, shift)
	}
	for e := s.entry; e != nil; e = e.next {
		if e.key == k {
			return e.v, true
		}
	}
	var none V
	return none, false
}

// At gives the value of k, or no value.
func (m Map[K, V]) At(k K) V {
	v, _ := m.Get(k)
	return v
}

// at gives the slot for a hash, and its number in slots.
func (n *node[K, V]) at(hash uint64, shift int) (slot[K, V], int) {
	bit := uint32(1) << (hash >> shift & (1<<fanBits - 1))
	i := bits.OnesCount32(n.used & (bit - 1))
	if n.used&bit == 0 {
		return slot[K, V]{}, i
	}
	return n.slots[i], i
}

// Set gives k the value v.
func (m *Map[K, V]) Set(k K, v V) {
	e := &entry[K, V]{hash: maphash.Comparable(seed, k), key: k, v: v}
	root, added := m.root.with(e, 0)
	m.root = root
	if added {
		m.n++
	}
}

// with is s with an entry, and whether its key is new.
func (s slot[K, V]) with(e *entry[K, V], shift int) (out slot[K, V], added bool) {
	switch {
	case s.node != nil:
		old, i := s.node.at(e.hash, shift)
		sub, added := old.with(e, shift+fanBits)
		return slot[K, V]{node: s.node.replaced(i, old, sub, e.hash, shift)}, added
	case s.entry == nil:
		return slot[K, V]{entry: e}, true
	case s.entry.hash == e.hash:
		rest, found := s.entry.without(e.key)
		e.next = rest
		return slot[K, V]{entry: e}, !found
	}
	parted := slot[K, V]{node: &node[K, V]{}}
	parted.node = parted.node.replaced(0, slot[K, V]{}, s, s.entry.hash, shift)
	return parted.with(e, shift)
}

// replaced is n with another slot in the place of old, number i.
func (n *node[K, V]) replaced(i int, old, sub slot[K, V], hash uint64, shift int) *node[K, V] {
	bit := uint32(1) << (hash >> shift & (1<<fanBits - 1))
	if n.used&bit != 0 {
		out := &node[K, V]{n.used, append([]slot[K, V](nil), n.slots...)}
		out.slots[i] = sub
		return out
	}
	out := &node[K, V]{n.used | bit, make([]slot[K, V], len(n.slots)+1)}
	copy(out.slots, n.slots[:i])
	copy(out.slots[i+1:], n.slots[i:])
	out.slots[i] = sub
	return out
}

// without is the list e but for a key, and whether that was there.
func (e *entry[K, V]) without(k K) (out *entry[K, V], found bool) {
	if e == nil {
		return nil, false
	}
	if e.key == k {
		return e.next, true
	}
	rest, found := e.next.without(k)
	if !found {
		return e, false
	}
	return &entry[K, V]{e.hash, e.key, e.v, rest}, true
}

// Delete takes k out.
func (m *Map[K, V]) Delete(k K) {
	if root, found := m.root.without(k, maphash.Comparable(seed, k), 0); found {
		m.root = root
		m.n--
	}
}

func (s slot[K, V]) without(k K, hash uint64, shift int) (out slot[K, V], found bool) {
	if s.node == nil {
		rest, found := s.entry.without(k)
		return slot[K, V]{entry: rest}, found
	}
	old, i := s.node.at(hash, shift)
	sub, found := old.without(k, hash, shift+fanBits)
	if !found {
		return s, false
	}
	return slot[K, V]{node: s.node.replaced(i, old, sub, hash, shift)}, true
}

// All calls f for each entry, in no order that anything could rely on.
func (m Map[K, V]) All(f func(K, V)) { m.root.all(func(e *entry[K, V]) { f(e.key, e.v) }) }

func (s slot[K, V]) all(f func(*entry[K, V])) {
	if s.node != nil {
		for _, sub := range s.node.slots {
			sub.all(f)
		}
	}
	for e := s.entry; e != nil; e = e.next {
		f(e)
	}
}

// Diff calls f for each key that was set in one of two maps since they were
// copies of each other, or deleted; nil stands for a value that is not there. It
// takes as long as those changes did. The order is none that anything could rely on.
func Diff[K comparable, V any](x, y Map[K, V], f func(k K, x, y *V)) { diff(x.root, y.root, f) }

func diff[K comparable, V any](x, y slot[K, V], f func(k K, x, y *V)) {
	switch {
	case x == y:
	case x.node != nil && y.node != nil:
		diffNodes(x.node, y.node, f)
	default:
		diffEntries(x, y, f)
	}
}

func diffNodes[K comparable, V any](x, y *node[K, V], f func(k K, x, y *V)) {
	i, k := 0, 0
	for rest := x.used | y.used; rest != 0; rest &= rest - 1 {
		bit := rest & -rest
		var a, b slot[K, V]
		if x.used&bit != 0 {
			a = x.slots[i]
			i++
		}
		if y.used&bit != 0 {
			b = y.slots[k]
			k++
		}
		diff(a, b, f)
	}
}

// diffEntries is diff where one of both has a few entries at most.
func diffEntries[K comparable, V any](x, y slot[K, V], f func(k K, x, y *V)) {
	find := func(s slot[K, V], k K) (found *entry[K, V]) {
		s.all(func(e *entry[K, V]) {
			if e.key == k {
				found = e
			}
		})
		return found
	}
	x.all(func(e *entry[K, V]) {
		switch other := find(y, e.key); {
		case other == nil:
			f(e.key, &e.v, nil)
		case other != e:
			f(e.key, &e.v, &other.v)
		}
	})
	y.all(func(e *entry[K, V]) {
		if find(x, e.key) == nil {
			f(e.key, nil, &e.v)
		}
	})
}
