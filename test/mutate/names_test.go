package mutate

import (
	"testing"

	"github.com/startrace/startrace/internal/kernel"
)

// TestOwnFamilies: names() knows the families that the compiler takes for known.
func TestOwnFamilies(t *testing.T) {
	facts := smallKernel(t)
	for _, family := range append([]string{"O_", "AF_"}, kernel.OwnFamilies...) {
		if err := facts.NameFamily(family); err != nil {
			t.Error(err)
		}
		if res := Compile("t.star", `print(names(1, "`+family+`"))`, facts); res.Err != nil {
			t.Error(res.Err)
		}
	}
}
