package format

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// Numbers are formatted as C does it, with all flags, widths and precisions together.
func TestLikeC(t *testing.T) {
	var specs []string
	values := []int64{0, 1, 7, 8, 9, 255, 511, 4096, 1<<63 - 1, -1, -300}
	for _, flags := range []string{"", "-", "0", "+", " ", "#", "-#", "0#", "+0", "-0", "+ ", "-+#0"} {
		for _, width := range []string{"", "1", "3", "12"} {
			for _, precision := range []string{"", ".", ".0", ".1", ".2", ".3", ".9"} {
				for _, verb := range "dxXou" {
					specs = append(specs, "%"+flags+width+precision+string(verb))
				}
			}
		}
	}
	var source strings.Builder
	source.WriteString("#include <stdio.h>\nint main(void) {\n")
	for _, spec := range specs {
		for _, v := range values {
			wide := spec[:len(spec)-1] + "ll" + spec[len(spec)-1:]
			fmt.Fprintf(&source, "printf(\"%s\\n\", %dLL);\n", wide, v)
		}
	}
	source.WriteString("}\n")
	out, err := exec.Command(need.Built(t, "gcc -w", "formats.c", source.String())).Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(out), "\n")
	for i, spec := range specs {
		for j, v := range values {
			compare(t, spec, IntArg(v), lines[i*len(values)+j])
		}
	}
}
