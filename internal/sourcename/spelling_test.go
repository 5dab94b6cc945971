package sourcename

import "testing"

// Names of g++ are spelled as those of the linker are shown.
func TestSpelled(t *testing.T) {
	for name, want := range map[string]string{
		"plain":                                  "plain",
		"twice<long int>":                        "twice<long>",
		"f<long unsigned int>":                   "f<unsigned long>",
		"f<short unsigned int>":                  "f<unsigned short>",
		"f<const char*, 3>":                      "f<char const*, 3>",
		"f<const box<int>&>":                     "f<box<int> const&>",
		"f<box<const long long unsigned int*> >": "f<box<unsigned long long const*> >",
		"f<int, const char>":                     "f<int, char const>",
		"operator<":                              "operator<",
		"operator<< <char>":                      "operator<< <char>",
	} {
		if got := spelled(name); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}
