package value

import "testing"

// Messages name an enum that scripts cannot name by the call alone, and another family by its name.
func TestLabelWords(t *testing.T) {
	for label, want := range map[string]string{
		"names:#126700": "names(…)", "names:O_": `names(…, "O_")`, "names:tcp_state": `names(…, "tcp_state")`,
		"errno": "errno(…)",
	} {
		if got := labelWords(label); got != want {
			t.Errorf("%s: got %s, want %s", label, got, want)
		}
	}
}
