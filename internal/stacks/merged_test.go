package stacks

import (
	"fmt"
	"testing"

	"github.com/startrace/startrace/starlark/value"
)

// Stacks are merged by the functions of their frames, with --addresses also by the offsets.
//
// > A function is its name and its file, or its kernel module.
// > A stack that does not reach its beginning stays apart from one that does.
func TestMerged(t *testing.T) {
	const user = true
	leaf := value.Frame{Name: "leaf", Offset: 1, Module: "app", Addr: 0x101, User: user}
	main := value.Frame{Name: "main", Offset: 7, Module: "app", Addr: 0x207, User: user}
	// behind is a stack of the program from main on, with a leaf that was changed.
	behind := func(change func(*value.Frame)) *namedStack {
		f := leaf
		change(&f)
		return &namedStack{frames: []value.Frame{f, main}}
	}
	whole := behind(func(*value.Frame) {})
	for name, test := range map[string]struct {
		other              *namedStack
		same, sameByOffset bool
	}{
		"the same":                     {whole, true, true},
		"another offset in a function": {behind(func(f *value.Frame) { f.Offset, f.Addr = 9, 0x109 }), true, false},
		"of another process":           {behind(func(f *value.Frame) { f.Addr = 0x901 }), true, true},
		"another function":             {behind(func(f *value.Frame) { f.Name = "other" }), false, false},
		"of that name in another file": {behind(func(f *value.Frame) { f.Module = "lib" }), false, false},
		"of a file in another folder":  {behind(func(f *value.Frame) { f.Path = "/opt/app" }), false, false},
		"of that name in the kernel":   {behind(func(f *value.Frame) { f.User = false }), false, false},
		"a frame more":                 {&namedStack{frames: []value.Frame{leaf, main, main}}, false, false},
		"a frame fewer":                {&namedStack{frames: []value.Frame{leaf}}, false, false},
		"the other way around":         {&namedStack{frames: []value.Frame{main, leaf}}, false, false},
		"without its callers": {&namedStack{whole.frames, ending{"not followed further", true}},
			false, false},
		"cut": {&namedStack{whole.frames, ending{short: "cut at 2 frames"}}, false, false},
	} {
		for _, addresses := range []bool{false, true} {
			n := New(nil, nil)
			n.Addresses = addresses
			a, b := n.merged.add(whole, n.MergedFrame), n.merged.add(test.other, n.MergedFrame)
			want := test.same
			if addresses {
				want = test.sameByOffset
			}
			if (a == b) != want {
				t.Errorf("%s, by addresses %v: ids %d and %d, want one id %v", name, addresses, a, b, want)
			}
			if got := n.ending(b); got.short != test.other.short || got.unfinished != test.other.unfinished {
				t.Errorf("%s: ends with %q", name, got.short)
			}
			for i, f := range n.Frames(b) {
				if f.Name != test.other.frames[i].Name || f.Addr != 0 || addresses != (f.Offset != 0) {
					t.Errorf("%s, by addresses %v: frame %s at %#x", name, addresses, f.Label(), f.Addr)
				}
			}
		}
	}
}

// A frame without a name is known by its place in the file: its name says it.
//
// > A frame without a name is its place in the file.
func TestMergedWithoutNames(t *testing.T) {
	n := New(nil, nil)
	at := func(place, addr uint64) uint64 {
		f := value.Frame{Name: fmt.Sprintf("app+%#x", place), Module: "app", Addr: addr, User: true}
		return n.merged.add(&namedStack{frames: []value.Frame{f}}, n.MergedFrame)
	}
	if a, b, c := at(0x10, 0x5010), at(0x10, 0x9010), at(0x18, 0x5018); a != b || a == c {
		t.Errorf("ids %d and %d of one place, %d of another", a, b, c)
	}
}

// Of a table a stack is merged once, and what is no stack stays what it is.
func TestMergedOfTable(t *testing.T) {
	n, _, _ := namesOf(t, nil, taken{id: 7, mark: 8, addrs: []uint64{inRead, inEntry}},
		taken{id: 9, mark: 8, addrs: []uint64{inRead + 1, inEntry}}, taken{id: 11, mark: 8, addrs: []uint64{inEntry}})
	same, other := n.Merged(7), n.Merged(11)
	if n.Merged(9) != same || other == same || n.Merged(same) != same || n.Merged(7) != same {
		t.Errorf("merged %d, %d and %d, want 2 alike", same, n.Merged(9), other)
	}
	if got := n.Frames(same); got[0].Label() != "vfs_read" {
		t.Errorf("the leaf is %s", got[0].Label())
	}
	for _, id := range []uint64{0, 2, 4} {
		if n.Merged(id) != id {
			t.Errorf("no stack %d is merged as %d", id, n.Merged(id))
		}
	}
}
