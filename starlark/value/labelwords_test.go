package value

import "testing"

// Messages name an enum that scripts cannot name by the call alone, and another family by its name.
func TestLabelWords(t *testing.T) {
	for label, want := range map[string]string{
		"names:#126700": "names(…)", "names:O_": `names(…, "O_")`, "names:tcp_state": `names(…, "tcp_state")`,
		"errno": "errno(…)", "syscall_name": "the name of a system call",
	} {
		if got := labelWords(label); got != want {
			t.Errorf("%s: got %s, want %s", label, got, want)
		}
	}
}

// Who wants the text of an entry asks for it by the call that gives it, or by what it is where events have it.
func TestTextThere(t *testing.T) {
	for label, want := range map[string]string{
		"inet4": "what inet(…) gives, of an entry that is there", "strlist": "a list of strings that an entry has",
		"syscall_name": "the name of a system call that an entry has",
		"func:1":       "the name of a function or point that an entry has",
	} {
		if got := textThere(label); got != want {
			t.Errorf("%s: got %s, want %s", label, got, want)
		}
	}
}
