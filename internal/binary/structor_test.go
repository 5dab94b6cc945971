package binary

import "testing"

// A constructor has the name of its class, which can be a template's, and a destructor one with ~ in front of it.
func TestIsStructor(t *testing.T) {
	for name, want := range map[string]bool{
		"a::a": true, "a::~a": true, "n::a::a": true, "n::a::~a": true, "box<int>::box": true, "a<b::c>::~a": true,
		"n<int>::box<a<b>, c::d>::box": true, "a": false, "a::b": false, "a::~b": false, "ba::a": false,
		"a<b>::b": false, "n::a<a>::n": false, "a<a>::b": false,
	} {
		if isStructor(name) != want {
			t.Errorf("%s is one: %v", name, !want)
		}
	}
}
