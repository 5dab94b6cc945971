package accept

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/golden"
)

// kernelTypes is where make types writes the BTF of the supported kernels.
const kernelTypes = "../../bin/types"

// What verify says of each tool by the types of each supported kernel is what stands in testdata/verify: a tool that no
// longer works on one of them shows before anybody boots it. docs/reliability.md has the sums.
func TestVerifyKernels(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(kernelTypes, "*.btf"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Skip("needs the types of the supported kernels: make types")
	}
	document, err := os.ReadFile("../../docs/reliability.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		version := strings.TrimSuffix(filepath.Base(file), ".btf")
		t.Run(version, func(t *testing.T) {
			var lines []string
			for name, v := range verdicts(t, "--btf", file) {
				v.wellWritten(t)
				lines = append(lines, fmt.Sprintf("%-15s %s\n", name, v.Verdict))
			}
			slices.Sort(lines)
			got := strings.Join(lines, "")
			golden.Equal(t, filepath.Join("testdata", "verify", version+".txt"), got)
			if row := sums(version, got); !strings.Contains(string(document), row) {
				t.Errorf("docs/reliability.md has another row than %s", row)
			}
		})
	}
}

// sums is the row of a kernel in docs/reliability.md.
func sums(version, verdicts string) string {
	row := "| " + version
	for _, v := range []string{"works", "falls back", "asks", "not told", "lacks"} {
		row += fmt.Sprintf(" | %d", strings.Count(verdicts, v+"\n"))
	}
	return row + " |\n"
}
