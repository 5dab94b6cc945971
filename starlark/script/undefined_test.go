package script

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// All undefined names are told, each at its first use and in the order of the text, also where there are more than the
// resolver seeks something like.
func TestManyUndefined(t *testing.T) {
	const n = 3 * mostSought
	src := "begun = 1\nprint(begin, missing0)\ndef f(e):\n"
	for i := range n {
		src += fmt.Sprintf("    x%d(x%[1]d)\n", i)
	}
	h := New(Options{})
	err := h.ParseText("many.star", []byte(src))
	if err == nil {
		err = h.Run(nil)
	}
	var found Errors
	if !errors.As(err, &found) || len(found) != n+2 {
		t.Fatalf("%d mistakes, want %d: %.500v", len(found), n+2, err)
	}
	if want := "many.star:2:7: undefined: begin (did you mean begun?)"; found[0].Error() != want {
		t.Errorf("%s, want %s", found[0], want)
	}
	for i, e := range found[2:] {
		if want := fmt.Sprintf("many.star:%d:5: undefined: x%d", i+4, i); !strings.HasPrefix(e.Error(), want) {
			t.Errorf("%s, want %s", e, want)
		}
	}
}
