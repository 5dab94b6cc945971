package script

import (
	"strings"
	"testing"
)

// A file whose name would make a line of a message is not loaded.
func TestLoadOfSpecialName(t *testing.T) {
	for _, name := range []string{"./a\nb.star", "./a\x1b[2J.star", "std/a\u202eb.star", "/a\r.star"} {
		_, err := resolvePath("main.star", name)
		if err == nil || !strings.Contains(err.Error(), "special characters") {
			t.Errorf("load(%q): %v", name, err)
		}
	}
}
