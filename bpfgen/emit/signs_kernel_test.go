package emit

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/startrace/startrace/bpfgen/ir/irtest"
)

// Reads through one pointer ask for each member whether its address is one of the kernel. The verifier must follow the
// program once, not once for each answer. Without that it follows 1,165 instructions here, on Linux 6.18.
func TestSignsOfSums(t *testing.T) {
	needSyscallPrograms(t)
	const questions = 16
	var text strings.Builder
	text.WriteString("func \"f\" {\nb0:\n v1 = ctx\n v2 = load64 v1 +0\n jump b1\n")
	for i := range questions {
		at, sum := 1+3*i, 3+i
		fmt.Fprintf(&text, "b%d:\n v%d = add v2, %d\n", at, sum, 8*(questions-i))
		fmt.Fprintf(&text, " br slt v%d, 0 -> b%d, b%d\n", sum, at+1, at+2)
		fmt.Fprintf(&text, "b%d:\n store64 v1, v%d +%d\n jump b%d\n", at+1, sum, irtest.Inputs, at+3)
		fmt.Fprintf(&text, "b%d:\n store64 v1, v%d +%d\n jump b%d\n", at+2, sum, irtest.Inputs+8, at+3)
	}
	fmt.Fprintf(&text, "b%d:\n ret v2\n}\n", 1+3*questions)
	f := parse(t, text.String())
	p, m, err := load(f)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	defer m.Close()
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		if err := compareOne(p, m, f, input(rng)); err != nil {
			t.Error(err)
		}
	}
	info, err := p.Info()
	if err != nil {
		t.Fatal(err)
	}
	verified, known := info.VerifiedInstructions()
	if most := uint32(8 * questions * 2); known && verified > most {
		t.Errorf("the verifier followed %d instructions, want %d at most", verified, most)
	}
}
